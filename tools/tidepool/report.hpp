#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tidepool/observation.hpp"

namespace tool {

/// Facts in sections, and what to worry about, to be printed for people or for programs. Both get the same facts under
/// the same names: a label is the name with spaces for underscores, and a unit at the end of a name (_bytes, _ms, _us, _ns)
/// comes after the number.
class report {
 public:
  using json = nlohmann::ordered_json;

  struct warning {
    std::string name;     // for programs
    std::string message;  // what is wrong, and what comes of it
    std::string remedy;   // what can be done
  };

  /// The facts that follow belong to it.
  void begin_section(std::string name) { sections_.push_back({std::move(name), {}}); }

  template <class T>
  void add(std::string name, const T& value) {
    add_fact({std::move(name), to_json(value), why_not(value)});
  }

  void add(warning what) { warnings_.push_back(std::move(what)); }

  [[nodiscard]] std::string as_text() const;
  [[nodiscard]] std::string as_json() const;

 private:
  struct fact {
    std::string name;
    json value;
    std::string why_not;  // not empty: there is no value
  };

  struct section {
    std::string name;
    std::vector<fact> facts;
  };

  template <class T>
  static json to_json(const T& value) {
    return value;
  }
  /// No limit is said in words: a number that stands for infinity would be calculated with.
  template <class T>
  static json to_json(const std::optional<T>& most) {
    return most ? json(*most) : json("unlimited");
  }
  template <class T>
  static json to_json(const tidepool::observation<T>& seen) {
    return seen ? to_json(*seen) : json();
  }

  template <class T>
  static std::string why_not(const T&) {
    return {};
  }
  template <class T>
  static std::string why_not(const tidepool::observation<T>& seen) {
    return seen.why_not();
  }

  void add_fact(fact what) { sections_.back().facts.push_back(std::move(what)); }

  std::vector<section> sections_;
  std::vector<warning> warnings_;
};

}  // namespace tool
