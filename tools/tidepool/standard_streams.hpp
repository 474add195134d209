#pragma once

#include <optional>
#include <string_view>
#include <system_error>

#include "file_system.hpp"

namespace tool {

enum class output_stream { out, err };

/// To be called first in the program. A standard stream that the caller closed is occupied, so that no file opened
/// later takes its number and is mistaken for it; writing to a pipe without a reader becomes an error instead of the
/// end.
void prepare_standard_streams();

/// Writes all of the text, unchanged (no CR before LF anywhere).
std::error_code write_all(output_stream stream, std::string_view text);

bool is_terminal(output_stream stream);

/// Columns of the terminal behind standard error, 80 when it does not say.
int terminal_width();

/// What the stream writes to, when that is a regular file.
std::optional<file_identity> regular_file_behind(output_stream stream);

/// True for the error of writing to a pipe that nobody reads any more.
bool is_broken_pipe(std::error_code error);

/// Ends the process as an unhandled broken pipe ends one: silently.
[[noreturn]] void end_by_broken_pipe();

}  // namespace tool
