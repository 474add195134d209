// Shared libraries: loading, freeing, looking up.
#include <string>

#include "contract/objects.hpp"
#include "thread_sanitizer.hpp"

namespace contract {
namespace {

// A library that every system has and no test program needs by itself.
#ifdef _WIN32
constexpr const char* spare_library = "avicap32.dll";
constexpr const wchar_t* wide_spare_library = L"avicap32.dll";
constexpr const char* spare_function = "capCreateCaptureWindowA";
constexpr const wchar_t* wide_no_library = L"tidepool-has-no-such-library.dll";
#else
constexpr const char* spare_library = "libresolv.so.2";
constexpr const char16_t* wide_spare_library = u"libresolv.so.2";
constexpr const char* spare_function = "ns_parserr";
constexpr const char16_t* wide_no_library = u"tidepool-has-no-such-library-\u00fc\u20ac\U0001F40B.so";
#endif
constexpr const char* no_library = "tidepool-has-no-such-library.so";

class libraries : public contract_test {
 protected:
  static bool is_loaded(const char* name) {
    HMODULE module = nullptr;
    return GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, name, &module) != FALSE;
  }

  static const char* address(void (*function)()) { return reinterpret_cast<const char*>(function); }
};

void in_this_program() {}

TEST_F(libraries, stay_loaded_until_they_are_freed_as_often_as_they_were_loaded) {
  ASSERT_FALSE(is_loaded(spare_library));
  const HMODULE module = LoadLibraryA(spare_library);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(LoadLibraryW(wide_spare_library), module);
  EXPECT_TRUE(FreeLibrary(module));
  EXPECT_TRUE(is_loaded(spare_library));
  EXPECT_TRUE(FreeLibrary(module));
  EXPECT_FALSE(is_loaded(spare_library));
}

TEST_F(libraries, that_do_not_exist_can_not_be_loaded) {
  EXPECT_FAILS_WITH(ERROR_MOD_NOT_FOUND, LoadLibraryA(no_library));
  EXPECT_FAILS_WITH(ERROR_MOD_NOT_FOUND, LoadLibraryW(wide_no_library));
  HMODULE module = reinterpret_cast<HMODULE>(this);
  EXPECT_FAILS_WITH(ERROR_MOD_NOT_FOUND, GetModuleHandleExA(0, no_library, &module));
  EXPECT_EQ(module, nullptr);
  EXPECT_FAILS_WITH(ERROR_MOD_NOT_FOUND, GetModuleHandleExW(0, wide_no_library, &module));
}

TEST_F(libraries, get_one_more_reference_when_they_are_looked_up) {
  const HMODULE loaded = LoadLibraryA(spare_library);
  ASSERT_NE(loaded, nullptr);
  HMODULE module = nullptr;
  EXPECT_TRUE(GetModuleHandleExW(0, wide_spare_library, &module));
  EXPECT_EQ(module, loaded);
  EXPECT_TRUE(FreeLibrary(loaded));
  EXPECT_TRUE(is_loaded(spare_library));
  EXPECT_TRUE(FreeLibrary(module));
  EXPECT_FALSE(is_loaded(spare_library));
}

TEST_F(libraries, are_found_by_an_address_inside) {
  const HMODULE loaded = LoadLibraryA(spare_library);
  ASSERT_NE(loaded, nullptr);
  const FARPROC function = GetProcAddress(loaded, spare_function);
  ASSERT_NE(function, nullptr);

  HMODULE module = nullptr;
  const auto inside = reinterpret_cast<const char*>(reinterpret_cast<void*>(function));
  EXPECT_TRUE(GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                                 inside, &module));
  EXPECT_EQ(module, loaded);
  EXPECT_TRUE(GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, inside, &module));
  EXPECT_EQ(module, loaded);
  EXPECT_TRUE(FreeLibrary(loaded));
  EXPECT_TRUE(is_loaded(spare_library));
  EXPECT_TRUE(FreeLibrary(module));
  EXPECT_FALSE(is_loaded(spare_library));
}

TEST_F(libraries, and_the_program_are_told_apart_by_address) {
  HMODULE by_address = nullptr;
  HMODULE by_default = nullptr;
  EXPECT_TRUE(GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, address(in_this_program), &by_address));
  EXPECT_TRUE(GetModuleHandleExA(0, nullptr, &by_default));
  EXPECT_NE(by_address, nullptr);
  EXPECT_EQ(by_address, by_default);
  EXPECT_TRUE(FreeLibrary(by_address));
  EXPECT_TRUE(FreeLibrary(by_default));

  const int on_the_stack = 0;
  EXPECT_FAILS_WITH(ERROR_MOD_NOT_FOUND, GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                                                            reinterpret_cast<const char*>(&on_the_stack), &by_address));
}

TEST_F(libraries, refuse_flags_that_contradict_each_other) {
  HMODULE module = nullptr;
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, GetModuleHandleExA(0, nullptr, nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER,
                    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                                       nullptr, &module));
}

TEST_F(libraries, do_not_have_functions_they_do_not_have) {
  const HMODULE module = LoadLibraryA(spare_library);
  ASSERT_NE(module, nullptr);
  EXPECT_FAILS_WITH(ERROR_PROC_NOT_FOUND, GetProcAddress(module, "tidepool_has_no_such_function"));
  EXPECT_TRUE(FreeLibrary(module));
}

#ifndef _WIN32
TEST_F(libraries, refuse_null_where_the_loader_would_take_it_for_the_program) {
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, LoadLibraryA(nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, LoadLibraryW(nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, LoadLibraryA(""));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, FreeLibrary(nullptr));
  EXPECT_FAILS_WITH(ERROR_INVALID_HANDLE, GetProcAddress(nullptr, "malloc"));
  const char16_t half_a_pair[] = {0xD800, 'x', 0};
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, LoadLibraryW(half_a_pair));
  EXPECT_FAILS_WITH(ERROR_INVALID_PARAMETER, LoadLibraryW(std::u16string(10'000, 'x').c_str()));
}
#endif

TEST_F(libraries, are_loaded_and_freed_by_many_threads) {
  // ThreadSanitizer does not see the loader's lock. For it, the library stays loaded, and only the count changes.
  const HMODULE kept = under_thread_sanitizer ? LoadLibraryA(spare_library) : nullptr;
  together(4, [&](unsigned) {
    for (int round = 0; round != repetitions / 4; ++round) {
      const HMODULE module = LoadLibraryA(spare_library);
      ASSERT_NE(module, nullptr);
      ASSERT_NE(GetProcAddress(module, spare_function), nullptr);
      ASSERT_TRUE(FreeLibrary(module));
    }
  });
  if (kept != nullptr) {
    EXPECT_TRUE(FreeLibrary(kept));
  }
  EXPECT_FALSE(is_loaded(spare_library));
}

}  // namespace
}  // namespace contract
