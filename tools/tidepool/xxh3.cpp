#include "xxh3.hpp"

#include "xxh3_code.hpp"

namespace tool {
namespace {

const xxh3_code& best_code() noexcept {
#ifdef TIDEPOOL_XXH3_WIDE
  if (__builtin_cpu_supports("avx512f")) return xxh3_avx512;
  if (__builtin_cpu_supports("avx2")) return xxh3_avx2;
#endif
  return xxh3_baseline;
}

const xxh3_code& code = best_code();

}  // namespace

xxh3_128::xxh3_128() noexcept { code.reset(state_); }

void xxh3_128::update(const std::byte* data, std::size_t size) noexcept { code.update(state_, data, size); }

digest xxh3_128::result() const noexcept {
  digest sum;
  static_assert(sizeof sum == 16);
  code.digest(state_, reinterpret_cast<unsigned char*>(sum.data()));
  return sum;
}

}  // namespace tool
