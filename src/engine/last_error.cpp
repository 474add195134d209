#include "engine/last_error.hpp"

namespace {

// Initial-exec: reached without a call also from a shared library.
thread_local DWORD last_error __attribute__((tls_model("initial-exec"))) = ERROR_SUCCESS;

}  // namespace

DWORD GetLastError() noexcept { return last_error; }

VOID SetLastError(DWORD code) noexcept { last_error = code; }
