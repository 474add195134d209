// host LIBRARY: loads the library, lets its objects run, and unloads it, several times.
// host LIBRARY leave: once, and leaves it there, with its objects live, when the process ends.
// host LIBRARY cancel: once, and has it cancel a wait before.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#ifdef HOST_HAS_THE_POOL
#include <tidepool/tidepool.hpp>
#endif

namespace {

void require(bool condition, const char* what) {
  if (!condition) {
    std::fprintf(stderr, "FAIL: %s\n", what);
    std::_Exit(1);
  }
}

template <class Condition>
void wait_until(Condition condition, const char* what) {
  for (int i = 0; !condition(); ++i) {
    require(i != 20'000, what);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

#ifdef _WIN32
using library = HMODULE;
library load(const char* path) { return LoadLibraryA(path); }
void unload(library which) { require(FreeLibrary(which) != FALSE, "it can not be unloaded"); }
bool is_loaded(const char* path) { return GetModuleHandleA(path) != nullptr; }
template <class F>
F* find(library in, const char* name) {
  return reinterpret_cast<F*>(reinterpret_cast<void*>(GetProcAddress(in, name)));
}
#else
using library = void*;
library load(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }
void unload(library which) { require(dlclose(which) == 0, "it can not be unloaded"); }
bool is_loaded(const char* path) { return dlopen(path, RTLD_NOW | RTLD_NOLOAD) != nullptr; }
template <class F>
F* find(library in, const char* name) {
  return reinterpret_cast<F*>(dlsym(in, name));
}

#endif

std::atomic<int> ended = 0;  // counts after main too
std::atomic<bool> unloads = false;

void note_end() {
#if !defined(_WIN32) && !defined(HOST_HAS_THE_POOL)
  // The pool's code stays: its threads run it. The library's static objects go with the process. Found here, before the code
  // has gone, and with it the threads that run it.
  require(!unloads, "its objects are destroyed under the threads of the pool");
#endif
  ++ended;
}

}  // namespace

int main(int count, char** arguments) {
  require(count == 2 || count == 3, "usage: host LIBRARY [leave]");
  for (int round = 1; round <= 10; ++round) {
    const library plugin = load(arguments[1]);
    require(plugin != nullptr, "the library can not be loaded");
    const void* const all = find<const void*(void (*)())>(plugin, "start")(&note_end);
    const auto kinds = find<int(const void*)>(plugin, "kinds");
    wait_until([&] { return kinds(all) == 4; }, "its objects do not run");
    if (count == 3 && std::strcmp(arguments[2], "leave") == 0) {
      return 0;
    }
    if (count == 3) {
      find<void()>(plugin, "cancel")();
    }
    find<void()>(plugin, "stop")();
    unloads = true;
    unload(plugin);
    unloads = false;
    if (count == 3) {
      require(is_loaded(arguments[1]), "it has been unloaded, and will be called when it is time to look at the pools");
      return 0;
    }
#ifdef _WIN32
    require(ended == round, "its objects have not been destroyed");
    // Raises an exception, and is the end of a thread, neither of which may be told to what is not there any more.
    std::thread([] { OutputDebugStringA("the library is gone"); }).join();
#elif defined(HOST_HAS_THE_POOL)
    require(ended == round, "its objects have not been destroyed");
    require(!is_loaded(arguments[1]), "it has not been unloaded");
    std::atomic<bool> ran = false;
    tidepool::work mine([&] { ran = true; });
    mine.submit();
    mine.stop_and_drain();
    require(ran, "the pool can not be used any more");
#else
    require(ended == 0, "its objects have been destroyed under the threads of the pool");
#endif
  }
  return 0;
}
