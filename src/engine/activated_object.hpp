// Callback objects that are submitted by what happens, not by their users.
#pragma once

#include "engine/callback_object.hpp"
#include "engine/dispatcher_object.hpp"
#include "engine/pool.hpp"

namespace tidepool::engine {

struct activated_object : callback_object {
  using callback_object::callback_object;

 protected:
  /// Submits the object, unless its user has closed it. May be called with locks held: what follows is deferred. The
  /// submission counts from now on, so that the object stays until it has run, or is dropped.
  void activate(deferred_actions& later) noexcept {
    // While a deferred queueing is under way something is pending, or its phantom is: no second one comes about.
    if (state.submit_unless_closed()) {
      later.add(queueing_);
    }
  }

 private:
  struct queueing : deferred_action {
    explicit queueing(activated_object& of) noexcept : deferred_action(&run_it), object(of) {}
    static void run_it(deferred_action& action) noexcept {
      activated_object& which = static_cast<queueing&>(action).object;
      which.settings.pool->arrive(which);
    }
    activated_object& object;
  };

  queueing queueing_{*this};
};

}  // namespace tidepool::engine
