// What cost.py counts the instructions of: one work object, submitted again and again, by one thread to one other.
#include <tidepool/tidepool.hpp>

int main() {
  constexpr int submissions = 10'000;  // cost.py has the same number
  tidepool::pool pool;
  pool.set_max_threads(1);
  tidepool::callback_environment environment;
  environment.set_pool(pool);
  int calls = 0;
  tidepool::work object([&calls] { ++calls; }, environment);
  for (int i = 0; i != submissions; ++i) {
    object.submit();
  }
  object.stop_and_drain();
  return calls == submissions ? 0 : 1;
}
