// Objects that owe nothing. In a build that fails fast a destructor that finds a drain owed ends the process. There the tests drain by name what
// they destroy; everywhere else the destructors do it, and are tested by everything.
#pragma once

#include <tidepool/tidepool.hpp>
#include <tidepool/unsafe.hpp>
#include <utility>

namespace safe {

#ifdef TIDEPOOL_FAIL_FAST

template <class Object>
class owing_nothing : public Object {
 public:
  using Object::Object;
  owing_nothing(owing_nothing&&) noexcept = default;
  owing_nothing& operator=(owing_nothing&& other) noexcept {
    if (this != &other) {
      settle();
      Object::operator=(std::move(other));
    }
    return *this;
  }
  ~owing_nothing() { settle(); }

 private:
  void settle() {
    if (tidepool::unsafe::native_handle(static_cast<const Object&>(*this)) == nullptr) {
      return;  // moved from
    }
    this->stop_and_drain();
  }
};

using work = owing_nothing<tidepool::work>;
using timer = owing_nothing<tidepool::timer>;
using periodic_timer = owing_nothing<tidepool::periodic_timer>;
using wait = owing_nothing<tidepool::wait>;
using io = owing_nothing<tidepool::io>;

#else

using tidepool::io;
using tidepool::periodic_timer;
using tidepool::timer;
using tidepool::wait;
using tidepool::work;

#endif

}  // namespace safe
