// What every contestant looks like to the cases.
//
//   class some_pool {
//    public:
//     static constexpr const char* name = "some_pool";
//     explicit some_pool(const setup&);
//
//     class session {                                      // one submitting thread's access to the pool
//      public:
//       template <class F> void submit(F f);               // a one-off closure, from the submitting thread
//       template <class F> void submit_inside(F f);        // a one-off closure, from a callback of this session
//       template <class F> auto repeat(F f, std::size_t n);  // submitted up to n times; a handle that has
//                                                          //   submit() and submit_inside()
//       template <class W> void wait(W for_callbacks);     // for_callbacks(), and whatever the library needs of
//     };                                                   //   the submitting thread before callbacks can end
//     template <class Body> void as_submitter(Body body);  // body(session&), on the calling thread
//   };
#pragma once

#include <cstddef>

namespace bench {

struct setup {
  std::size_t workers;     // exactly so many; 0: what the library does when nobody tells it
  std::size_t submitters;  // threads outside the pool that submit to it
};

}  // namespace bench
