// Internal invariants, checked when the build asks for it (TIDEPOOL_ASSERTIONS).
#pragma once

#ifdef TIDEPOOL_ASSERTIONS
#include <cstdio>
#include <cstdlib>
#define TIDEPOOL_ASSERT(condition)                                                                                 \
  ((condition) ? (void)0                                                                                           \
               : (std::fprintf(stderr, "tidepool: %s:%d: invariant broken: %s\n", __FILE__, __LINE__, #condition), \
                  std::abort()))
#else
#define TIDEPOOL_ASSERT(condition) ((void)0)
#endif
