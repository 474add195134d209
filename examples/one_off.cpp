// A closure that runs once and owns what it needs; the event says when it has returned.
// prints: moved into the callback
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <tidepool/tidepool.hpp>
#include <utility>

int main() {
  auto text = std::make_unique<std::string>("moved into the callback");
  tidepool::event returned{tidepool::reset_mode::manual};
  try {
    tidepool::submit([text = std::move(text), returned](tidepool::callback_instance& instance) {
      instance.set_event_when_returns(returned);
      std::puts(text->c_str());
    });
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::not_enough_memory) {
      std::fputs("there is no memory for another callback\n", stderr);
    }
    return 1;
  }
  returned.wait();
}
