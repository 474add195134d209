#include "tidepool/trace.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "trace/recorder.hpp"
#ifdef TIDEPOOL_TRACE
#include "trace/capture.hpp"
#include "trace/session.hpp"
#endif

namespace tidepool::trace {

#ifdef TIDEPOOL_TRACE

namespace {

static_assert(static_cast<std::uint32_t>(category::all) == recorder::every_category);
static_assert(static_cast<std::uint32_t>(category::report) == recorder::report_category);

[[noreturn]] void throw_not_written(const std::filesystem::path& file) {
  const int error = errno != 0 ? errno : EIO;
  throw std::system_error(error, std::generic_category(), "the capture " + file.string());
}

std::FILE* open(const std::filesystem::path& file) noexcept {
#ifdef _WIN32
  return _wfopen(file.c_str(), L"wb");
#else
  return std::fopen(file.c_str(), "wbe");
#endif
}

}  // namespace

bool is_available() noexcept { return true; }

void enable(category categories) { recorder::enable(static_cast<std::uint32_t>(categories & category::all)); }

category enabled() noexcept { return static_cast<category>(recorder::enabled.load(std::memory_order_relaxed)); }

void write(const std::filesystem::path& file) {
  struct closing {
    void operator()(std::FILE* owned) const noexcept { std::fclose(owned); }
  };
  std::unique_ptr<std::FILE, closing> to(open(file));
  if (to == nullptr) {
    throw_not_written(file);
  }
  recorder::write_capture(to.get());
  const bool written = std::ferror(to.get()) == 0;
  if (std::fclose(to.release()) != 0 || !written) {
    throw_not_written(file);
  }
}

#else

bool is_available() noexcept { return false; }

void enable(category) {}

category enabled() noexcept { return category::none; }

void write(const std::filesystem::path& file) {
  throw std::system_error(std::make_error_code(std::errc::not_supported),
                          "the capture " + file.string() + " (tidepool was built without its trace)");
}

#endif

}  // namespace tidepool::trace
