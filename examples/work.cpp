// One work object, several submissions: its callbacks share a count of the primes below a limit.
// prints: 9592 primes below 100000
#include <atomic>
#include <cstdio>
#include <tidepool/tidepool.hpp>

namespace {

bool is_prime(int n) {
  for (int divisor = 2; divisor * divisor <= n; ++divisor) {
    if (n % divisor == 0) {
      return false;
    }
  }
  return n > 1;
}

}  // namespace

int main() {
  constexpr int limit = 100'000;
  std::atomic<int> next = 0;
  std::atomic<int> primes = 0;

  tidepool::work count{[&] {
    for (int n = next++; n < limit; n = next++) {
      if (is_prime(n)) {
        ++primes;
      }
    }
  }};
  for (int share = 0; share != 4; ++share) {
    count.submit();
  }
  count.wait_for_callbacks();

  std::printf("%d primes below %d\n", primes.load(), limit);
}
