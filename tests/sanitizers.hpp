// Whether this program runs under a sanitizer, which takes the heap and much of the address space for itself.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TIDEPOOL_TEST_UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TIDEPOOL_TEST_UNDER_SANITIZER 1
#endif
#endif
#ifndef TIDEPOOL_TEST_UNDER_SANITIZER
#define TIDEPOOL_TEST_UNDER_SANITIZER 0
#endif

namespace safe {

inline constexpr bool under_sanitizer = TIDEPOOL_TEST_UNDER_SANITIZER != 0;

}  // namespace safe
