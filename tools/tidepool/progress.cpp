#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "progress_bar.hpp"
#include "walker.hpp"

namespace tool {
namespace {

double part_done(const progress_figures& figures) {
  const bool by_bytes = figures.bytes_found > 0;
  const auto done = static_cast<double>(by_bytes ? figures.bytes_done : figures.files_done);
  const auto found = static_cast<double>(by_bytes ? figures.bytes_found : figures.files_found);
  return found > 0 ? std::min(done / found, 1.0) : 1.0;  // files can grow after they were counted
}

}  // namespace

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < units.size()) {  // what would round to 1024.0 belongs to the next unit
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string progress_line(const progress_figures& figures, int width) {
  const std::string_view more = figures.all_found ? "" : "+";
  std::string text = fmt::format("{}/{}{} files  {}/{}{}", grouped(figures.files_done), grouped(figures.files_found),
                                 more, size_text(figures.bytes_done), size_text(figures.bytes_found), more);
  if (figures.seconds >= 0.5) {
    const double rate = static_cast<double>(figures.bytes_done) / figures.seconds;
    text += fmt::format("  {}/s", size_text(static_cast<std::uint64_t>(rate)));
  }
  return with_bar(figures.all_found ? std::optional{part_done(figures)} : std::nullopt, std::move(text), width);
}

progress::progress(console& on, const walk_plan& plan, const file_count& done)
    : console_{on},
      plan_{plan},
      done_{done},
      begun_{std::chrono::steady_clock::now()},
      next_draw_{begun_},
      counting_{[this] { count_plan(); }} {
  counting_.submit();
}

progress::~progress() {
  given_up_.store(true, std::memory_order_relaxed);
  counting_.stop_and_drain();
}

void progress::tick() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + interval;
  progress_figures figures;
  figures.all_found = all_found_.load(std::memory_order_acquire);
  figures.files_done = done_.files();
  figures.bytes_done = done_.bytes();
  // The count can lag behind the work while it runs; a figure of "5 of 3" would only confuse.
  figures.files_found = std::max(found_.files(), figures.files_done);
  figures.bytes_found = std::max(found_.bytes(), figures.bytes_done);
  figures.seconds = std::chrono::duration<double>(now - begun_).count();
  console_.draw(progress_line(figures, terminal_width() - 1));  // the last column would make some terminals wrap
}

void progress::count_plan() {
  for (const std::string& root : plan_.roots) {
    if (root == "-") {
      found_.add_file();
      continue;
    }
    walker walk{root, plan_.excluded, plan_.follow_folder_links};
    while (const auto step = walk.next()) {
      if (given_up_.load(std::memory_order_relaxed)) return;
      if (step->what != walk_step::kind::file) continue;
      std::error_code error;
      const file_status status = status_of(step->path, error);
      found_.add_file();
      if (!error) found_.add_bytes(status.size);
    }
  }
  all_found_.store(true, std::memory_order_release);
}

}  // namespace tool
