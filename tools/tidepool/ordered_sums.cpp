#include "ordered_sums.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "progress.hpp"

namespace tool {
namespace {

tidepool::pool pool_of(std::uint32_t threads) {
  tidepool::pool pool;
  pool.set_max_threads(threads);
  return pool;
}

tidepool::callback_environment reading_on(const tidepool::pool& pool) {
  tidepool::callback_environment environment;
  environment.set_pool(pool);
  environment.set_runs_long();  // a callback reads until its file ends
  return environment;
}

}  // namespace

ordered_sums::ordered_sums(file_summer& summer, std::uint32_t jobs, delivery deliver, std::function<void()> idle)
    : summer_{summer},
      deliver_{std::move(deliver)},
      idle_{std::move(idle)},
      jobs_{jobs},
      pool_{pool_of(jobs)},
      summing_{[this] { sum_one(); }, reading_on(pool_)} {
  environment_.set_pool(pool_);
}

ordered_sums::~ordered_sums() {
  summing_.stop_and_drain();
  // Their last handlers may still be returning; each waits for its own.
  std::vector<std::unique_ptr<overlapped_sum>> all;
  {
    const std::lock_guard lock{mutex_};
    all.swap(over_);
  }
}

void ordered_sums::add(sum_request request) {
  slot& added = open_slot(std::move(request));
  {
    const std::lock_guard lock{mutex_};
    not_begun_.push_back(&added);
  }
  summing_.submit();  // one submission for each entry of not_begun_: a callback never finds it empty
}

void ordered_sums::add_finished(sum_request request, sum_result result) {
  open_slot(std::move(request)).result = std::move(result);
  deliver_ready();
}

ordered_sums::slot& ordered_sums::open_slot(sum_request request) {
  deliver_ready();
  while (slots_.size() >= window) {
    wait_for_several();
    deliver_ready();
  }
  slots_.push_back({std::move(request), nullptr, std::nullopt});
  return slots_.back();
}

void ordered_sums::deliver_ready() {
  while (!slots_.empty()) {
    {
      const std::lock_guard lock{mutex_};
      if (!slots_.front().result) return;
    }
    deliver_(slots_.front().request, *slots_.front().result);
    slots_.pop_front();
  }
}

void ordered_sums::abandon() {
  const std::lock_guard lock{mutex_};
  abandoned_ = true;
}

void ordered_sums::finish() {
  deliver_ready();
  while (!slots_.empty()) {
    wait_for_several();
    deliver_ready();
  }
}

/// Until the first few have their results, since waking up for each would cost more than a small file's sum; but not for
/// long, so that what is ready is delivered.
void ordered_sums::wait_for_several() {
  constexpr std::size_t several = 128;
  idle_();
  const auto end = std::chrono::steady_clock::now() + progress::interval;
  std::unique_lock lock{mutex_};
  for (std::size_t i = std::min(several, slots_.size()); i-- != 0;) {
    const slot& each = slots_[i];
    awaited_ = &each;
    if (!awaited_finished_.wait_until(lock, end, [&] { return each.result.has_value(); })) break;
  }
  awaited_ = nullptr;
}

void ordered_sums::sum_one() {
  slot* begun = nullptr;
  bool abandoned = false;
  std::vector<std::unique_ptr<overlapped_sum>> over;  // destroyed before the next one opens a file
  {
    const std::lock_guard lock{mutex_};
    begun = not_begun_.front();
    not_begun_.pop_front();
    abandoned = abandoned_;
    over.swap(over_);
  }
  over.clear();
  input_file large;
  std::optional<sum_result> result =
      abandoned ? sum_result{} : summer_.sum_unless_large(begun->request, overlapped_sum::smallest, large);
  if (!result) {
    result = begin_large(*begun, std::move(large));
  } else {
    begin_one_put_off();
  }
  if (result) settle(*begun, std::move(*result));
}

/// Returns nothing when the result comes later.
std::optional<sum_result> ordered_sums::begin_large(slot& begun, input_file file) {
  {
    const std::lock_guard lock{mutex_};
    if (large_count_ == jobs_) {
      put_off_.push_back(&begun);  // closed again: so few files are open at a time
      return std::nullopt;
    }
    ++large_count_;
  }
  overlapped_sum* its = nullptr;
  try {
    auto made = std::make_unique<overlapped_sum>(
        file.for_overlapped_use(), file.size(), environment_, summer_.done(),
        [this, &begun](const std::error_code& error, const digest& sum) { end_large(begun, error, sum); });
    const std::lock_guard lock{mutex_};
    large_.push_back(std::move(made));
    its = large_.back().get();
    begun.large = its;
  } catch (const std::exception&) {
    sum_result result = summer_.sum_open_file(begun.request, file);  // reads on its own then
    end_large(begun, {}, {});
    return result;
  }
  its->start();
  return std::nullopt;
}

void ordered_sums::end_large(slot& of, const std::error_code& error, const digest& sum) {
  std::optional<sum_result> result;
  {
    const std::lock_guard lock{mutex_};
    --large_count_;
    const auto its =
        std::find_if(large_.begin(), large_.end(), [&](const auto& each) { return each.get() == of.large; });
    if (its != large_.end()) {
      over_.push_back(std::move(*its));
      large_.erase(its);
      result = error ? file_summer::unreadable(error) : sum_result{sum_result::kind::summed, sum, {}};
    }
  }
  begin_one_put_off();
  if (result) settle(of, std::move(*result));
}

/// Whatever became of the one before: each that does not go on to read a large file makes room for another.
void ordered_sums::begin_one_put_off() {
  {
    const std::lock_guard lock{mutex_};
    if (put_off_.empty() || large_count_ == jobs_) return;
    not_begun_.push_front(put_off_.front());
    put_off_.pop_front();
  }
  summing_.submit();
}

void ordered_sums::settle(slot& of, sum_result result) {
  const std::lock_guard lock{mutex_};
  of.result = std::move(result);
  if (&of == awaited_) awaited_finished_.notify_one();
}

}  // namespace tool
