#include "trace/objects.hpp"

namespace tidepool::recorder {

void write_of(kind what, const void* object, action which, std::uint64_t first, std::uint64_t second) noexcept {
  if (is_on(categories_of(what, which))) {
    write(what, which, object, first, second);
  }
}

void write_of(const detail::callback_context& object, action which, std::uint64_t first,
              std::uint64_t second) noexcept {
  write_of(kind_of(object.kind), &object, which, first, second);
}

void write_with_site_of(const detail::callback_context& object, action which) noexcept {
  write_of(object, which, reinterpret_cast<std::uintptr_t>(object.created_at.file_name()), object.created_at.line());
}

}  // namespace tidepool::recorder
