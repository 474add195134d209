// Callbacks may block: eight that wait for each other all get a thread, on however many processors.
// prints: 8 callbacks have met
// not under Wine: now and then a submission starts no thread, and nothing else does
#include <cstdio>
#include <latch>
#include <tidepool/tidepool.hpp>
#include <vector>

int main() {
  constexpr int size = 8;
  std::latch everybody{size};
  std::vector<tidepool::work> members;
  for (int i = 0; i != size; ++i) {
    members.emplace_back([&] { everybody.arrive_and_wait(); });
    members.back().submit();
  }
  for (tidepool::work& member : members) {
    member.wait_for_callbacks();
  }
  std::printf("%d callbacks have met\n", size);
}
