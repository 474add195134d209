// What a capture says about the process.
#pragma once

#include <cstdint>
#include <string>

namespace tidepool::recorder {

[[nodiscard]] std::uint32_t process_number() noexcept;
[[nodiscard]] std::string program_name();

/// Empty if it has none, or is not there any more.
[[nodiscard]] std::string thread_name(std::uint32_t thread);

/// The text at an address of this process, up to its end or some thousand bytes. "?" if there is nothing: the library that it
/// belonged to may have been unloaded.
[[nodiscard]] std::string text_at(std::uint64_t address);

/// The type's name as it is written, if it is in the form that the compiler gives it.
[[nodiscard]] std::string readable_type(const char* name);

/// An environment variable; null if it is not set, or if the process runs for somebody else than who set it.
[[nodiscard]] const char* environment_variable(const char* name) noexcept;

}  // namespace tidepool::recorder
