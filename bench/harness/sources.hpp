// What timers and signals of a contestant look like to cases F and G. A contestant that has none is left out of them.
//
//   class some_sources {
//    public:
//     static constexpr const char* name = "some_pool";
//     explicit some_sources(const plan&);                  // with threads that run callbacks, placed by the plan
//
//     template <class Body> void as_owner(Body body);      // body(), on a thread that may arm and cancel; returns
//                                                          //   when it has
//     class timers {                                       // a number of them, made and not armed
//      public:
//       template <class F> timers(some_sources&, std::size_t n, F f);  // f(index) when one fires
//       void arm_after(std::size_t index, clock::duration);  // about so long after now; by the owner
//       void arm_at(std::size_t index, clock::time_point);   // by the owner
//       void cancel(std::size_t index);                      // by the owner
//       void settle();                                       // until the library has done with those cancelled
//     };                                                   // one that takes part in F_late only has neither
//                                                          //   arm_after(), cancel() nor settle()
//     template <signal_kind Kind, class F> class watch {   // one object that a callback waits for
//      public:
//       watch(some_sources&, F f);                         // f(fired) for each signal while it is armed, where
//                                                          //   fired.consume() takes the signal,
//                                                          //   fired.rearm() lets the next one count,
//                                                          //   fired.signal() is what signal() is
//       void arm();                                        // once, by the owner
//       void signal();                                     // by any thread
//     };
//   };
#pragma once

namespace bench {

// For a program without one of the parts.
struct none {};

template <class Sources>
concept cancels_timers = requires(typename Sources::timers& set) { set.cancel(0); };

}  // namespace bench
