// Reading and writing a file without a thread that waits for it.
// prints: 23 bytes are written
// prints: read: content of the file
// prints: that was the end of the file
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <tidepool/tidepool.hpp>

int main() {
  const auto path =
      std::filesystem::temp_directory_path() / ("tidepool-" + std::to_string(std::random_device()()) + ".txt");
  tidepool::io file{tidepool::endpoint::open_file(path, tidepool::access::read_write, tidepool::creation::create_new)};

  file.write_at(0, std::string("the content of the file"), [&](tidepool::transfer<std::string> written) {
    std::printf("%zu bytes are written\n", written.bytes);
    file.read_at(4, std::move(written.buffer), [](tidepool::transfer<std::string> read) {
      read.buffer.resize(read.bytes);
      std::printf("read: %s\n", read.buffer.c_str());
    });
  });
  file.run_down();  // the read as well, which the first handler has started

  file.read_at(23, tidepool::buffer(100), [](tidepool::transfer<> read) {
    std::puts(read.error.value() == 38 ? "that was the end of the file" : "there is more");  // ERROR_HANDLE_EOF
  });
  file.run_down();
  std::filesystem::remove(path);
}
