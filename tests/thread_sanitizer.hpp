// Whether this program runs under ThreadSanitizer, which replaces every atomic operation by calls of its own and knows
// nothing of locks inside the system's libraries.
#pragma once

#ifdef __SANITIZE_THREAD__
#define TIDEPOOL_TEST_UNDER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TIDEPOOL_TEST_UNDER_THREAD_SANITIZER 1
#endif
#endif

#ifdef TIDEPOOL_TEST_UNDER_THREAD_SANITIZER
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif
