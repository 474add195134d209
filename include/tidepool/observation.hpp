// A figure, or why it is not known.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace tidepool {

/// What was seen of something, or the reason why that could not be done here: a refusal of the system is never a zero.
/// A value: copies are independent. Thread safety: as for int.
template <class T>
class observation {
 public:
  using value_type = T;

  /// Nothing was looked at.
  observation() : seen_(std::in_place_index<1>, "not looked at") {}

  /// What was seen.
  explicit(false) observation(T value) : seen_(std::in_place_index<0>, std::move(value)) {}

  /// Nothing was seen. `why` is for people: "Windows does not tell".
  [[nodiscard]] static observation unavailable(std::string why) {
    observation none;
    none.seen_.template emplace<1>(std::move(why));
    return none;
  }

  [[nodiscard]] bool has_value() const noexcept { return seen_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Throws std::bad_variant_access when there is none.
  [[nodiscard]] const T& value() const { return std::get<0>(seen_); }
  [[nodiscard]] T value_or(T other) const { return has_value() ? value() : std::move(other); }

  /// The same for who has looked at has_value().
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }

  /// Empty when there is a value.
  [[nodiscard]] std::string why_not() const { return has_value() ? std::string() : std::get<1>(seen_); }

  friend bool operator==(const observation&, const observation&) = default;
  /// Equal when it was seen and is that.
  friend bool operator==(const observation& seen, const T& value) { return seen.has_value() && *seen == value; }

 private:
  std::variant<T, std::string> seen_;
};

}  // namespace tidepool
