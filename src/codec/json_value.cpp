// SPDX-License-Identifier: Apache-2.0
// Readers and writers of single values in packet JSON.
#include "codec/json_value.h"

#include <fmt/format.h>

#include <boost/algorithm/string/split.hpp>
#include <cctype>
#include <charconv>
#include <iterator>
#include <optional>

#include "common/problems.h"
#include "common/ranges.h"

namespace flitwise::json_value {
namespace {

std::optional<std::uint64_t> number_in(const std::string& text) {
  const bool is_hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const char* first = text.data() + (is_hex ? 2 : 0);
  const char* last = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(first, last, value, is_hex ? 16 : 10);
  return error == std::errc{} && end == last && first != last ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> number_in(const Json& value) {
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>();
  }
  return value.is_string() ? number_in(value.get_ref<const std::string&>()) : std::nullopt;
}

std::optional<unsigned> hex_field(const std::string& text, std::size_t from, std::size_t digits) {
  unsigned value = 0;
  const char* first = text.data() + from;
  const auto [end, error] = std::from_chars(first, first + digits, value, 16);
  return error == std::errc{} && end == first + digits ? std::optional(value) : std::nullopt;
}

// "bb:dd.f"
std::optional<Bdf> bdf_in(const std::string& text) {
  if (text.size() != 7 || text[2] != ':' || text[5] != '.') {
    return std::nullopt;
  }
  const auto bus = hex_field(text, 0, 2);
  const auto device = hex_field(text, 3, 2);
  const auto function = hex_field(text, 6, 1);
  if (!bus || !device || !function || *device > 0x1f || *function > 7) {
    return std::nullopt;
  }
  return Bdf::of(*bus, *device, *function);
}

Complaint wrong(const Json& value, const std::string& expected) {
  return fmt::format("{} seen; expected {}", shown(value), expected);
}

std::string without_blanks(const std::string& text) {
  std::string digits;
  std::remove_copy_if(text.begin(), text.end(), std::back_inserter(digits),
                      [](unsigned char c) { return std::isspace(c) != 0; });
  return digits.compare(0, 2, "0x") == 0 ? digits.substr(2) : digits;
}

}  // namespace

bool is_too_deep(const std::string& text) {
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_in_string) {
      i += c == '\\' ? 1 : 0;
      is_in_string = c != '"';
    } else if (c == '"') {
      is_in_string = true;
    } else if ((c == '[' || c == '{') && ++depth > kDeepestJson) {
      return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

Json parse(const std::string& text) {
  return is_too_deep(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

std::string flaw_of(const std::string& text) {
  if (is_too_deep(text)) {
    return fmt::format("brackets more than {} levels deep", kDeepestJson);
  }
  try {
    [[maybe_unused]] const Json none = Json::parse(text);
  } catch (const Json::parse_error& error) {
    return fmt::format("not JSON from byte {} on", error.byte);
  } catch (const Json::out_of_range&) {
    return "a number beyond 1e308";
  }
  return "not JSON";
}

Complaint read_number(const Json& value, std::uint64_t lowest, std::uint64_t highest,
                      std::uint64_t& out) {
  const auto number = number_in(value);
  if (!number || *number < lowest || *number > highest) {
    const char* const kind = value.is_number_float() ? "a whole number in digits, " : "";
    return wrong(value, kind + (highest > 0xffff ? fmt::format("{} to {:#x}", lowest, highest)
                                                 : fmt::format("{} to {}", lowest, highest)));
  }
  out = *number;
  return {};
}

Complaint read_bool(const Json& value, bool& out) {
  if (value.is_boolean()) {
    out = value.get<bool>();
    return {};
  }
  const std::string text = value.is_string() ? value.get<std::string>() : shown(value);
  if (text != "true" && text != "false" && text != "1" && text != "0") {
    return wrong(value, "true or false");
  }
  out = text == "true" || text == "1";
  return {};
}

Complaint read_bdf(const Json& value, Bdf& out) {
  if (value.is_string()) {
    if (const auto bdf = bdf_in(value.get_ref<const std::string&>())) {
      out = *bdf;
      return {};
    }
  }
  const auto number = number_in(value);
  if (!number || *number > 0xffff) {
    return wrong(value, "bus:device.function in hex, such as \"01:02.3\"");
  }
  out = Bdf{static_cast<std::uint16_t>(*number)};
  return {};
}

Complaint read_bytes(const Json& value, std::vector<std::uint8_t>& out) {
  if (!value.is_string()) {
    return wrong(value, "a text of hex digits");
  }
  const std::string digits = without_blanks(value.get_ref<const std::string&>());
  const auto wrong_digit = find_if(digits, [](unsigned char c) { return std::isxdigit(c) == 0; });
  if (wrong_digit != digits.end()) {
    // A byte of a longer character is no text by itself.
    const bool is_ascii = *wrong_digit >= ' ' && *wrong_digit <= '~';
    return fmt::format("{} at byte {}; expected hex digits",
                       is_ascii ? fmt::format("'{}'", *wrong_digit)
                                : fmt::format("{:#04x}", static_cast<unsigned char>(*wrong_digit)),
                       (wrong_digit - digits.begin()) / 2);
  }
  if (digits.size() % 2 != 0) {
    return fmt::format("{} hex digits; expected two a byte", digits.size());
  }
  out.clear();
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(*hex_field(digits, i, 2)));
  }
  return {};
}

Complaint read_dws(const Json& value, std::size_t most, std::vector<std::uint32_t>& out) {
  Json list = value;
  if (value.is_string()) {
    std::vector<std::string> texts;
    boost::split(texts, value.get_ref<const std::string&>(), [](char c) { return c == ','; });
    list = texts;
  }
  if (!list.is_array() || list.size() > most) {
    return wrong(value, fmt::format("a list of at most {} DWs", most));
  }
  out.clear();
  for (const Json& item : list) {
    std::uint64_t dw = 0;
    if (Complaint complaint = read_number(item, 0, 0xffffffffU, dw); !complaint.empty()) {
      return complaint;
    }
    out.push_back(static_cast<std::uint32_t>(dw));
  }
  return {};
}

Complaint read_word(const Json& value, const std::vector<std::string>& words, std::size_t& out) {
  if (!value.is_string()) {
    return wrong(value, config::alternatives(words));
  }
  const std::string& word = value.get_ref<const std::string&>();
  const auto found = std::find(words.begin(), words.end(), word);
  if (found != words.end()) {
    out = static_cast<std::size_t>(found - words.begin());
    return {};
  }
  return wrong(value, config::alternatives(words)) + config::nearest_hint(word, words, "value");
}

Json take_keys(Json& object, const std::vector<std::string>& keys, JsonSource& source) {
  Json own = Json::object();
  for (const std::string& key : keys) {
    if (object.is_object() && object.contains(key)) {
      own[key] = object[key];
      object.erase(key);
    }
  }
  source.other_keys = keys;
  return own;
}

std::string shown(const Json& value) {
  constexpr std::size_t kMost = 40;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

std::string bdf_text(Bdf bdf) {
  return fmt::format("{:02x}:{:02x}.{:x}", bdf.bus(), bdf.device(), bdf.function());
}
std::string hex_number(std::uint64_t value) {
  return fmt::format("{:#x}", value);
}
std::string hex_dw(std::uint32_t value) {
  return fmt::format("{:#010x}", value);
}
std::string hex_bytes(const std::uint8_t* bytes, std::size_t count) {
  return fmt::format("{:02x}", fmt::join(bytes, bytes + count, ""));
}

}  // namespace flitwise::json_value
