// Captures, read back, and what the tests of the trace have in common.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tidepool/trace.hpp>
#include <vector>

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

namespace traces {

struct line {
  std::uint64_t time;
  std::uint64_t thread;
  std::string kind;
  std::string target;
  std::string action;
  std::string values;  // as they are written
};

struct capture {
  std::string text;
  bool whole = false;
  std::map<std::string, std::string> facts;
  std::map<std::uint64_t, std::string> threads;
  std::vector<line> lines;

  [[nodiscard]] std::uint64_t number(const std::string& fact) const { return std::stoull(facts.at(fact)); }

  [[nodiscard]] std::vector<line> of(const std::string& kind, const std::string& action) const {
    std::vector<line> found;
    std::copy_if(lines.begin(), lines.end(), std::back_inserter(found),
                 [&](const line& each) { return each.kind == kind && each.action == action; });
    return found;
  }
};

/// Fails, and returns what there is, if the format is not kept.
inline capture parse(const std::string& text) {
  capture result;
  result.text = text;
  std::istringstream all(text);
  std::string each;
  std::getline(all, each);
  EXPECT_EQ(each, "tidepool capture 1");
  while (std::getline(all, each) && each != "records") {
    const std::size_t blank = each.find(' ');
    EXPECT_NE(blank, std::string::npos) << each;
    const std::string name = each.substr(0, blank);
    const std::string value = blank != std::string::npos ? each.substr(blank + 1) : "";
    if (name == "thread") {
      const std::size_t end = value.find(' ');
      result.threads[std::stoull(value)] = end != std::string::npos ? value.substr(end + 1) : "";
    } else {
      EXPECT_TRUE(result.facts.emplace(name, value).second) << "twice: " << each;
    }
  }
  while (std::getline(all, each) && each != "end") {
    line one;
    std::istringstream fields(each);
    EXPECT_TRUE(fields >> one.time >> one.thread >> one.kind >> one.target >> one.action) << "not a record: " << each;
    std::getline(fields >> std::ws, one.values);
    result.lines.push_back(one);
  }
  result.whole = each == "end" && !std::getline(all, each) && text.back() == '\n';
  return result;
}

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream from(file, std::ios::binary);
  std::ostringstream text;
  text << from.rdbuf();
  return text.str();
}

inline capture read(const std::filesystem::path& file) { return parse(content_of(file)); }

/// A name for a file that is not there, and is not there any more afterwards.
class scratch_path {
 public:
  scratch_path() {
    static std::atomic<int> count = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("tidepool-trace-" + std::to_string(getpid()) + "-" + std::to_string(++count) + ".txt");
    std::filesystem::remove(path_);
  }
  ~scratch_path() { std::filesystem::remove(path_); }
  scratch_path(const scratch_path&) = delete;
  scratch_path& operator=(const scratch_path&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(path_); }

 private:
  std::filesystem::path path_;
};

/// What is recorded now.
inline capture capture_now() {
  const scratch_path file;
  tidepool::trace::write(file.path());
  return read(file.path());
}

/// Sets an environment variable, also for the processes of death tests, which begin anew with it. Not for this process's own
/// trace, which has read its own before main.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_(name) { set(value); }
  ~variable() { set(""); }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;

 private:
  void set(const std::string& value) {
#ifdef _WIN32
    _putenv_s(name_, value.c_str());
#else
    if (value.empty()) {
      unsetenv(name_);
    } else {
      setenv(name_, value.c_str(), 1);
    }
#endif
  }

  const char* name_;
};

/// Records these categories as long as it is there.
class recording {
 public:
  explicit recording(tidepool::trace::category categories) { tidepool::trace::enable(categories); }
  ~recording() { tidepool::trace::enable(tidepool::trace::category::none); }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;
};

}  // namespace traces
