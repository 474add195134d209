// Nobody is there to catch what a callable's destructor throws.
// expect: the callable's destructor may throw
#include <tidepool/tidepool.hpp>

struct careless {
#ifdef CONTROL
  ~careless() = default;
#else
  ~careless() noexcept(false) {}
#endif
  void operator()() const {}
};

void submit() { tidepool::submit(careless()); }
