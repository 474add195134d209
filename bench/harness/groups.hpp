// GROUP: what it costs to make objects that end together, and to end them.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "figures.hpp"
#include "placement.hpp"

namespace bench {

struct member_count {
  const char* name;
  std::size_t members;
  int rounds;  // whose median counts
};
constexpr member_count member_counts[] = {{"1k", 1'000, 41}, {"10k", 10'000, 11}, {"100k", 100'000, 5}};

// Makes sets of a thousand to a hundred thousand members, a quarter of each kind, arms those that can be armed, for what
// does not come, and closes them. `Set` has: create_work(), create_timer(), create_periodic_timer(), create_wait(), each of
// which arms, and close().
template <class Set>
std::vector<metric> create_and_close(const plan& how, bool quick) {
  std::vector<metric> result;
  std::jthread submitter([&] {
    how.place_submitter(0);
    double first_close = 0;
    for (const member_count& of : member_counts) {
      std::vector<double> create, close;
      for (int round = 0; round < (quick ? 1 : of.rounds) + 1; ++round) {
        const clock::time_point begin = clock::now();
        Set set;
        for (std::size_t i = 0; i < of.members; i += 4) {
          set.create_work();
          set.create_timer();
          set.create_periodic_timer();
          set.create_wait();
        }
        const clock::time_point created = clock::now();
        set.close();
        const clock::time_point closed = clock::now();
        if (round > 0) {  // the first one fills the allocator's caches
          create.push_back(nanoseconds(created - begin) / static_cast<double>(of.members));
          close.push_back(nanoseconds(closed - created) / static_cast<double>(of.members));
        }
      }
      const std::string suffix = std::string("_") + of.name;
      result.push_back({"create" + suffix, "ns", median(create)});
      result.push_back({"close" + suffix, "ns", median(close)});
      if (&of == member_counts) {
        first_close = median(close);
      } else {
        result.push_back({"close" + suffix + "_to_1k", "times", median(close) / first_close});
      }
    }
  });
  submitter.join();
  return result;
}

}  // namespace bench
