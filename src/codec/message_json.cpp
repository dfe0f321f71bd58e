// SPDX-License-Identifier: Apache-2.0
// Named fields of messages.
#include "codec/message_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <optional>

#include "common/ranges.h"

namespace flitwise {
namespace {

constexpr unsigned kDwBits = 32;

MessageWords words_of(const TlpDocument& document) {
  const bool is_whole = document.payload.size() == kPayloadWordBytes;
  return {std::uint64_t{document.tlp.message_dw2} << kDwBits | document.tlp.message_dw3,
          is_whole ? boost::endian::load_big_u64(document.payload.data()) : 0, document.tlp.tag};
}

void put(const MessageWords& words, TlpDocument& document) {
  document.tlp.message_dw2 = static_cast<std::uint32_t>(words.header >> kDwBits);
  document.tlp.message_dw3 = static_cast<std::uint32_t>(words.header);
  document.tlp.tag = static_cast<std::uint16_t>(words.tag);
  if (document.payload.size() == kPayloadWordBytes) {
    boost::endian::store_big_u64(document.payload.data(), words.payload);
  }
}

/// The number that has the bits of the field as well.
const char* number_with(const MessageField& field) {
  const bool is_in_header = field.word == &MessageWords::header;
  return field.is_in_payload()              ? "payload"
         : !is_in_header                    ? "tag"
         : (field.mask >> kDwBits) == 0     ? "message_dw3"
         : (field.mask & 0xffff'ffffU) == 0 ? "message_dw2"
                                            : "message_dw2 and message_dw3";
}

/// The words in a list of values, and the others as a range.
std::string words_or_numbers(const MessageField& field) {
  std::vector<std::string> words;
  std::copy_if(field.words.begin(), field.words.end(), std::back_inserter(words),
               [](const std::string& word) { return !word.empty(); });
  words.push_back(fmt::format("a number {} to {}", field.least, field.most()));
  return config::alternatives(words);
}

/// Eight bytes of payload for fields that stand there, zeros where nothing else is given.
void make_room(JsonReader& reader, const char* key, TlpDocument& document) {
  Tlp& tlp = document.tlp;
  if (!reader.has("payload") && !reader.has("length_dw")) {
    tlp.length_dw = kPayloadWordBytes / 4;
  }
  if (data_bytes(tlp) != kPayloadWordBytes) {
    return reader.complain(key, fmt::format("stands in a payload of {} bytes; expected one of {}",
                                            data_bytes(tlp), kPayloadWordBytes));
  }
  document.payload.resize(kPayloadWordBytes);
}

void read_field_of_message(JsonReader& reader, const MessageField& field, TlpDocument& document) {
  std::optional<std::uint64_t> value;
  reader.field(field.key, [&](const Json& json) {
    std::uint64_t read = 0;
    Complaint complaint = read_message_value(field, json, read);
    value = complaint.empty() ? std::optional(read) : std::nullopt;
    return complaint;
  });
  if (!value) {
    return;
  }
  if (field.is_in_payload()) {
    make_room(reader, field.key, document);
  }
  MessageWords words = words_of(document);
  const bool is_said = (words.*field.word & field.mask) != 0;
  if (is_said && field.get(words) != *value) {
    reader.complain(field.key,
                    fmt::format("{} seen, but {} says {}; expected one of them, or the same",
                                message_value_json(field, *value).dump(), number_with(field),
                                message_value_json(field, field.get(words)).dump()));
  }
  field.set(words, *value);
  put(words, document);
}

/// A field of other messages.
void refuse_foreign(JsonReader& reader, const char* key, const Tlp& tlp) {
  if (!is_message(tlp.type)) {
    return reader.foreign(key, name_of(tlp.type));
  }
  reader.foreign(key, fmt::format("{} with message_code {}", name_of(tlp.type), tlp.message_code),
                 expected_in_place_of(key, {tlp.message_code}));
}

std::optional<std::uint64_t> number_of(const Json& packet, const char* key) {
  std::uint64_t number = 0;
  const auto found = packet.find(key);
  return found != packet.end() &&
                 json_value::read_number(*found, 0, ~std::uint64_t{0}, number).empty()
             ? std::optional(number)
             : std::nullopt;
}

}  // namespace

Complaint read_message_value(const MessageField& field, const Json& value, std::uint64_t& out) {
  if (field.format == TlpField::Format::kFlag) {
    bool flag = false;
    Complaint complaint = json_value::read_bool(value, flag);
    out = flag ? 1 : 0;
    return complaint;
  }
  if (field.format == TlpField::Format::kBdf) {
    Bdf bdf;
    Complaint complaint = json_value::read_bdf(value, bdf);
    out = bdf.value;
    return complaint;
  }
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  const auto word = std::find(field.words.begin(), field.words.end(), text);
  if (!text.empty() && word != field.words.end()) {
    out = static_cast<std::uint64_t>(word - field.words.begin());
    return {};
  }
  Complaint complaint = json_value::read_number(value, field.least, field.most(), out);
  if (!complaint.empty() && !field.words.empty()) {
    return fmt::format("{} seen; expected {}{}", json_value::shown(value), words_or_numbers(field),
                       config::nearest_hint(text, field.words, "value"));
  }
  if (complaint.empty() && field.goes_beyond(out)) {
    return fmt::format("{} seen; expected no bits outside of {:#x}", json_value::shown(value),
                       field.most());
  }
  return complaint;
}

Json message_value_json(const MessageField& field, std::uint64_t value) {
  switch (field.format) {
    case TlpField::Format::kFlag: return value != 0;
    case TlpField::Format::kBdf:
      return json_value::bdf_text(Bdf{static_cast<std::uint16_t>(value)});
    case TlpField::Format::kHex: return json_value::hex_number(value);
    default: return value;
  }
}

void read_message_fields(JsonReader& reader, TlpDocument& document) {
  for (const MessageField& field : message_fields()) {
    if (field.is_of(document.tlp)) {
      read_field_of_message(reader, field, document);
    }
  }
  for (const MessageField& field : message_fields()) {
    if (reader.has(field.key) && !reader.knows(field.key)) {
      refuse_foreign(reader, field.key, document.tlp);
    }
  }
}

std::string expected_in_place_of(const std::string& key, const std::vector<std::uint64_t>& codes) {
  std::vector<std::string> own;
  for (const std::uint64_t code : codes) {
    const std::vector<std::string> names = message_field_names(code);
    own.insert(own.end(), names.begin(), names.end());
  }
  std::vector<std::string> expected = messages_with(key);
  expected.insert(expected.end(), own.begin(), own.end());
  return config::alternatives(expected) + config::nearest_hint(key, own, "key");
}

Json message_field_of(const Json& packet, const std::string& key) {
  const auto code = number_of(packet, "message_code");
  const MessageField* const field = code ? find_message_field(key, {*code}) : nullptr;
  const auto upper = number_of(packet, "message_dw2"), lower = number_of(packet, "message_dw3");
  if (field == nullptr || !upper || !lower) {
    return nullptr;
  }
  MessageWords words{*upper << kDwBits | *lower, 0, number_of(packet, "tag").value_or(0)};
  if (field->is_in_payload()) {
    std::vector<std::uint8_t> bytes;
    const auto payload = packet.find("payload");
    if (payload == packet.end() || !json_value::read_bytes(*payload, bytes).empty() ||
        bytes.size() != kPayloadWordBytes) {
      return nullptr;
    }
    words.payload = boost::endian::load_big_u64(bytes.data());
  }
  return message_value_json(*field, field->get(words));
}

}  // namespace flitwise
