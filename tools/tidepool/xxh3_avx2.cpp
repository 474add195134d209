// See xxh3_code.hpp.
#define TIDEPOOL_XXH3_CODE xxh3_avx2
#include "xxh3_code.inc"
