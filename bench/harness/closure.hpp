// One-off closures for libraries whose unit of work is a pointer.
#pragma once

#include <utility>

namespace bench {

// What such a library is handed: a function and, behind it, whatever the function knows how to find.
struct runnable {
  void (*run)(runnable*);
};

// A closure on the heap that runs once and frees itself.
template <class F>
struct one_off : runnable {
  explicit one_off(F callable) : runnable{&one_off::run_once}, f(std::move(callable)) {}

  static void run_once(runnable* self) {
    auto* closure = static_cast<one_off*>(self);
    closure->f();
    delete closure;
  }

  F f;
};

// A closure that its owner keeps and that may run any number of times.
template <class F>
struct kept : runnable {
  explicit kept(F callable) : runnable{&kept::run_again}, f(std::move(callable)) {}

  static void run_again(runnable* self) { static_cast<kept*>(self)->f(); }

  F f;
};

}  // namespace bench
