// tidepool timeline: a capture of the trace, drawn.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "capture.hpp"
#include "chrome_trace.hpp"
#include "command_line.hpp"
#include "console.hpp"
#include "file_system.hpp"
#include "output_file.hpp"
#include "subcommand.hpp"
#include "sum_line.hpp"
#include "timeline_model.hpp"
#include "timeline_page.hpp"

namespace tool {
namespace {

constexpr std::size_t read_at_once = 256 * 1024;

struct timeline_options {
  std::string capture;
  std::string page;
  std::string chrome;
};

/// Where the page goes when nobody says: beside the capture, under its name.
std::string page_beside(std::string path) {
  constexpr std::string_view usual_ending = ".txt";
  if (path.ends_with(usual_ending)) path.resize(path.size() - usual_ending.size());
  return path + ".html";
}

class timeline_run {
 public:
  explicit timeline_run(const timeline_options& options)
      : options_{options},
        from_standard_input_{options.capture == "-"},
        output_{!options.chrome.empty() ? options.chrome
                : !options.page.empty() ? options.page
                : from_standard_input_  ? "-"
                                        : page_beside(options.capture)} {}

  int run() {
    const auto text = read();
    if (!text) return exit_failure;
    std::string refusal;
    const auto source = read_capture(std::move(*text), refusal);
    if (!source) return fail(fmt::format("{} {}", input_name(), refusal));
    for (const std::string& problem : source->problems) {
      console_.message(fmt::format("{}: {}", input_name(), printable(problem)));
    }
    const timeline lines = timeline_of(*source);
    const bool written =
        write(options_.chrome.empty() ? timeline_page(*source, lines, display_name()) : chrome_trace(*source, lines));
    if (!written) return exit_failure;
    if (output_ != "-") {
      console_.result(fmt::format("{}: {} record{}, {} callback{}, {} stall{}\n", printable(output_),
                                  source->records.size(), plural(source->records.size()), callbacks(lines),
                                  plural(callbacks(lines)), lines.stalls.size(), plural(lines.stalls.size())));
    }
    console_.flush();
    if (const std::error_code error = console_.output_error()) return unwritable("standard output", error);
    return source->problems.empty() ? exit_success : exit_failure;
  }

 private:
  int fail(const std::string& message) {
    console_.message(message);
    return exit_failure;
  }

  int unwritable(const std::string& what, std::error_code error) {
    if (is_broken_pipe(error)) end_by_broken_pipe();
    return fail(fmt::format("cannot write to {}: {}", what, error.message()));
  }

  std::string input_name() const {
    if (from_standard_input_) return "standard input";
    return options_.capture.empty() ? "''" : printable(options_.capture);
  }

  std::string display_name() const {
    return from_standard_input_ ? "standard input" : options_.capture.substr(options_.capture.find_last_of('/') + 1);
  }

  static const char* plural(std::size_t count) { return count == 1 ? "" : "s"; }

  static std::size_t callbacks(const timeline& lines) {
    return static_cast<std::size_t>(
        std::count_if(lines.spans.begin(), lines.spans.end(),
                      [](const timeline_span& span) { return span.type == span_type::callback; }));
  }

  input_file open(std::error_code& error) const {
    return from_standard_input_ ? input_file::standard_input() : input_file::open(options_.capture, error);
  }

  std::optional<std::vector<char>> read() {
    std::error_code error;
    input_file file = open(error);
    if (!error && !from_standard_input_ && file.kind() != file_kind::regular) {
      fail(fmt::format("{} is a {}, not a file{}", input_name(), name_of(file.kind()),
                       file.kind() == file_kind::fifo ? " (use - to read standard input)" : ""));
      return std::nullopt;
    }
    std::vector<char> text;
    bool looked_at = false;
    for (std::size_t size = 0; !error;) {
      text.resize(size + read_at_once);
      const std::size_t count = file.read(std::as_writable_bytes(std::span{text}.subspan(size)), error);
      text.resize(size += count);
      if (count == 0 || error) break;
      // What is not a capture may be without end.
      if (!looked_at && std::find(text.begin(), text.end(), '\n') != text.end()) {
        looked_at = true;
        if (refusal_of({text.data(), text.size()})) break;
      }
      if (!looked_at && size > read_at_once) break;
    }
    if (error) {
      fail(fmt::format("{} cannot be read: {}", input_name(), error.message()));
      return std::nullopt;
    }
    return text;
  }

  bool is_the_capture(const std::string& path) const {
    if (from_standard_input_) return false;
    std::error_code error;
    const input_file input = input_file::open(options_.capture, error);
    if (error) return false;
    const input_file output = input_file::open(path, error);
    return !error && output.kind() == file_kind::regular && output.identity() == input.identity();
  }

  bool write(const std::string& text) {
    if (output_ == "-") {
      const std::error_code error = write_all(output_stream::out, text);
      if (error) unwritable("standard output", error);
      return !error;
    }
    if (is_the_capture(output_)) {
      fail(fmt::format("{} is the capture itself, and is left as it is", printable(output_)));
      return false;
    }
    const std::error_code error = replace_file(output_, text);
    if (error) unwritable(printable(output_), error);
    return !error;
  }

  const timeline_options options_;
  const bool from_standard_input_;
  const std::string output_;
  console console_{"tidepool timeline"};
};

constexpr const char* footer = R"(Examples:
  tidepool timeline capture.txt                       writes capture.html
  tidepool timeline capture.txt -o page.html          writes page.html
  tidepool timeline capture.txt --chrome trace.json   for ui.perfetto.dev
  tidepool timeline - < capture.txt > page.html

A capture is what a program writes that was run with TIDEPOOL_TRACE=all and
TIDEPOOL_TRACE_FILE=capture.txt in its environment. The page is one file and
needs no network. An output that exists is replaced once the new one is whole.

Exit status: 0 when the output was written, 1 when the capture is damaged (what
could be read of it is drawn all the same) or nothing could be written, 2 for a
mistake on the command line.)";

void add_string(CLI::App& app, const std::string& name, std::string& string, const std::string& description,
                const std::string& type) {
  CLI::Option* option = app.add_option_function<std::string>(
      name, [&string](const std::string& given) { string = unshielded(given); }, description);
  option->type_name(type);
}

}  // namespace

void add_timeline(CLI::App& app, chosen_command& chosen) {
  CLI::App* command = app.add_subcommand("timeline", "Draw a capture of the trace: an HTML page, or JSON for Perfetto");
  auto options = std::make_shared<timeline_options>();
  add_string(*command, "CAPTURE", options->capture, "The capture; - is standard input", "");
  add_string(*command, "-o,--output", options->page, "Write the page there; - is standard output", "FILE");
  add_string(*command, "--chrome", options->chrome, "Write Chrome's trace event format there instead of a page",
             "FILE");
  command->get_option("CAPTURE")->required();
  command->get_option("--chrome")->excludes("--output");
  command->footer(footer);
  command->callback([options, &chosen] {
    chosen = [options] {
#ifdef _WIN32
      for (std::string* path : {&options->capture, &options->page, &options->chrome}) {
        std::replace(path->begin(), path->end(), '\\', '/');
      }
#endif
      return timeline_run{*options}.run();
    };
  });
}

}  // namespace tool
