#include "windows_text.hpp"

#include <windows.h>

#include <algorithm>
#include <cstdint>

namespace tool {
namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr std::size_t longest_plain_path = 240;  // MAX_PATH less a short name, as CreateDirectoryW counts

bool is_continuation(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Decodes one code point and takes it off the text.
char32_t take_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if (lead < 0x80) return lead;
  const std::size_t following = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < following) return replacement;
  char32_t value = lead & (0x3Fu >> following);
  for (std::size_t i = 0; i < following; ++i) {
    if (!is_continuation(text[i])) return replacement;
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  constexpr char32_t smallest[] = {0, 0x80, 0x800, 0x10000};
  if (value < smallest[following] || value > 0x10FFFF) return replacement;
  text.remove_prefix(following);
  return value;
}

void append_utf8(std::string& text, char32_t value) {
  const auto byte = [&](char32_t bits) { text.push_back(static_cast<char>(static_cast<unsigned char>(bits))); };
  if (value < 0x80) {
    byte(value);
  } else if (value < 0x800) {
    byte(0xC0 | (value >> 6));
    byte(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    byte(0xE0 | (value >> 12));
    byte(0x80 | ((value >> 6) & 0x3F));
    byte(0x80 | (value & 0x3F));
  } else {
    byte(0xF0 | (value >> 18));
    byte(0x80 | ((value >> 12) & 0x3F));
    byte(0x80 | ((value >> 6) & 0x3F));
    byte(0x80 | (value & 0x3F));
  }
}

}  // namespace

std::wstring to_utf16(std::string_view text) {
  std::wstring wide;
  wide.reserve(text.size());
  while (!text.empty()) {
    const char32_t value = take_code_point(text);
    if (value < 0x10000) {
      wide.push_back(static_cast<wchar_t>(value));
    } else {
      wide.push_back(static_cast<wchar_t>(0xD7C0 + (value >> 10)));
      wide.push_back(static_cast<wchar_t>(0xDC00 + (value & 0x3FF)));
    }
  }
  return wide;
}

std::string to_utf8(std::wstring_view wide) {
  std::string text;
  text.reserve(wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    char32_t value = wide[i];
    if (value >= 0xD800 && value < 0xDC00 && i + 1 < wide.size() && wide[i + 1] >= 0xDC00 && wide[i + 1] < 0xE000) {
      value = 0x10000 + ((value - 0xD800) << 10) + (static_cast<char32_t>(wide[i + 1]) - 0xDC00);
      ++i;
    }
    append_utf8(text, value);
  }
  return text;
}

std::wstring native_path(std::string_view path) {
  std::wstring wide = to_utf16(path);
  std::replace(wide.begin(), wide.end(), L'/', L'\\');
  if (wide.size() < longest_plain_path || wide.starts_with(L"\\\\?\\") || wide.starts_with(L"\\\\.\\")) return wide;
  std::wstring full(GetFullPathNameW(wide.c_str(), 0, nullptr, nullptr), L'\0');
  const DWORD length = GetFullPathNameW(wide.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
  if (length == 0 || length >= full.size()) return wide;
  full.resize(length);
  return full.starts_with(L"\\\\") ? L"\\\\?\\UNC" + full.substr(1) : L"\\\\?\\" + full;
}

}  // namespace tool
