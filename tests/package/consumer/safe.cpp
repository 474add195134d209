#include <atomic>
#include <tidepool/tidepool.hpp>

int main() {
  std::atomic<int> runs = 0;
  tidepool::work work{[&] { ++runs; }};
  work.submit();
  work.submit();
  work.stop_and_drain();
  return runs == 2 ? 0 : 1;
}
