// What the handles of group members have in common.
#pragma once

#include <utility>

namespace tidepool::detail {

struct member_record;

/// A counted reference to what is left of a member for as long as there is a handle. Null once moved from.
class member_reference {
 public:
  /// Takes over a reference that has been counted.
  explicit member_reference(member_record& counted) noexcept : record_(&counted) {}
  member_reference(const member_reference& other) noexcept;
  member_reference(member_reference&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  member_reference& operator=(member_reference other) noexcept {
    std::swap(record_, other.record_);
    return *this;
  }
  ~member_reference();

  [[nodiscard]] member_record* record() const noexcept { return record_; }

 private:
  member_record* record_;
};

}  // namespace tidepool::detail
