#pragma once

// XXH3 as one set of instructions compiles it. No header with inline functions here or in the files that include this:
// the linker might choose their copies of them for all.

#include <stddef.h>

namespace tool {

struct xxh3_code {
  void (*reset)(void* state);
  void (*update)(void* state, const void* data, size_t size);
  void (*digest)(const void* state, unsigned char* canonical);  // 16 bytes
};

extern const xxh3_code xxh3_baseline;
extern const xxh3_code xxh3_avx2;    // where the compiler was told to make it
extern const xxh3_code xxh3_avx512;  // likewise

}  // namespace tool
