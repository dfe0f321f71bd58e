// SPDX-License-Identifier: Apache-2.0
// Escapes and cuts at the borders of UTF-8 characters.
#include "common/printable.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace flitwise {
namespace {

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

void append_escape(std::string& out, char c) {
  constexpr std::string_view kNamed = "\n\r\t", kLetters = "nrt";
  if (const std::size_t at = kNamed.find(c); at != std::string_view::npos) {
    out += {'\\', kLetters[at]};
  } else {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
  }
}

// U+0080 to U+009F: terminals take some of them as commands.
bool is_c1_control(const char* at, std::size_t length) {
  return length == 2 && static_cast<unsigned char>(at[0]) == 0xc2 &&
         static_cast<unsigned char>(at[1]) < 0xa0;
}

}  // namespace

std::size_t utf8_length(const char* text, std::size_t left) {
  const auto* at = reinterpret_cast<const unsigned char*>(text);
  const unsigned char first = at[0];
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length < 2 || length > left) {
    return length <= left ? length : 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues_character(text[i])) {
      return 0;
    }
  }
  const bool is_too_long = (first == 0xe0 && at[1] < 0xa0) || (first == 0xf0 && at[1] < 0x90);
  const bool is_no_character = (first == 0xed && at[1] > 0x9f) || (first == 0xf4 && at[1] > 0x8f);
  return is_too_long || is_no_character ? 0 : length;
}

std::string printable(const std::string& text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char* here = text.data() + at;
    const std::size_t length = utf8_length(here, text.size() - at);
    const auto byte = static_cast<unsigned char>(*here);
    if (is_c1_control(here, length)) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(here[1]));
    } else if (length > 0 && (byte >= 0x20 || (keeps_lines && byte == '\n')) && byte != 0x7f) {
      out.append(here, length);
    } else {
      append_escape(out, *here);
    }
    at += length > 0 ? length : 1;
  }
  return out;
}

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) {
    return text;
  }
  std::size_t front = most / 2;
  std::size_t back = text.size() - most / 2;
  while (front > 0 && continues_character(text[front])) {
    --front;
  }
  while (back < text.size() && continues_character(text[back])) {
    ++back;
  }
  return fmt::format("{}...({} bytes)...{}", text.substr(0, front), back - front,
                     text.substr(back));
}

}  // namespace flitwise
