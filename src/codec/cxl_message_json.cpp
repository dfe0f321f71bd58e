// SPDX-License-Identifier: Apache-2.0
// Messages between JSON and fields.
#include "codec/cxl_flit_json.h"

#include <algorithm>
#include <string>

#include "codec/json_reader.h"

namespace flitwise {
namespace {

/// What a message may have beside the fields of its channel.
enum class CxlMessageUse : std::uint8_t {
  kInSlot,  ///< as it stands in a slot
  kToSend,  ///< with its line and byte enables
};

std::vector<std::string> names_of_channels(CxlFlitForm form) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    const auto channel = static_cast<CxlChannel>(i);
    if (fields_of(form, channel).count > 0) {
      names.emplace_back(info_of(channel).name);
    }
  }
  return names;
}

std::uint64_t most_of(std::uint32_t bits) {
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

Complaint read_opcode(const Json& value, CxlChannel channel, std::uint32_t bits,
                      std::uint64_t& out) {
  if (value.is_string()) {
    if (const auto code = find_cxl_opcode(channel, value.get_ref<const std::string&>())) {
      out = *code;
      return {};
    }
  }
  if (json_value::read_number(value, 0, most_of(bits), out).empty()) {
    return {};
  }
  std::vector<std::string> names;
  for (const CxlOpcodeName& opcode : info_of(channel).opcodes) {
    names.emplace_back(opcode.name);
  }
  return fmt::format("{} seen; expected {} or a number from 0 to {}", json_value::shown(value),
                     config::alternatives(names), most_of(bits));
}

Complaint read_address(const Json& value, std::uint32_t bits, std::uint64_t& out) {
  const std::uint32_t lowest = lowest_address_bit(bits);
  std::uint64_t address = 0;
  Complaint complaint = json_value::read_number(value, 0, most_of(bits) << lowest, address);
  if (complaint.empty() && (address & most_of(lowest)) != 0) {
    complaint = fmt::format("{} seen; expected a multiple of {}", json_value::shown(value),
                            std::uint64_t{1} << lowest);
  }
  out = address >> lowest;
  return complaint;
}

Complaint read_field(const Json& value, CxlChannel channel, CxlFieldSpec spec, std::uint64_t& out) {
  if (spec.field == CxlField::kOpcode) {
    return read_opcode(value, channel, spec.bits, out);
  }
  if (spec.field == CxlField::kAddress) {
    return read_address(value, spec.bits, out);
  }
  if (spec.bits == 1) {
    bool flag = false;
    Complaint complaint = json_value::read_bool(value, flag);
    out = flag ? 1 : 0;
    return complaint;
  }
  return json_value::read_number(value, 0, most_of(spec.bits), out);
}

CxlChannel read_channel(JsonReader& reader, CxlFlitForm form) {
  if (!reader.has("channel")) {
    reader.complain("channel", "missing; expected a channel such as \"M2S Req\"");
  }
  CxlChannel channel{};
  reader.field("channel", [&](const Json& value) {
    const std::vector<std::string> names = names_of_channels(form);
    std::size_t place = 0;
    Complaint complaint = json_value::read_word(value, names, place);
    if (complaint.empty()) {
      channel = *find_cxl_channel(names[place]);
    }
    return complaint;
  });
  return channel;
}

/// The fields of the channel; of those that a line has, only in a slot.
void read_fields(JsonReader& reader, const CxlWidths& widths, CxlMessageUse use,
                 CxlWireMessage& wire) {
  const CxlChannel channel = wire.message.channel;
  for (const CxlFieldSpec& spec : fields_of(widths.form, channel)) {
    const char* key = name_of(spec.field, channel);
    if (key == nullptr || (spec.field == CxlField::kByteEnables && use == CxlMessageUse::kToSend)) {
      continue;
    }
    reader.field(key, [&](const Json& value) {
      std::uint64_t number = 0;
      Complaint complaint = read_field(value, channel, spec, number);
      if (complaint.empty()) {
        set_value(wire, spec, number);
      }
      return complaint;
    });
  }
  if (channel == CxlChannel::kD2hReq && widths.identity_bits > 0) {
    reader.number("identity", 0, most_of(widths.identity_bits), wire.message.identity);
  }
}

// The name of a channel is a message of which nothing else is said.
Json object_of(const Json& message) {
  return message.is_string() ? Json{{"channel", message}} : message;
}

Complaint read_line(const Json& value, std::array<std::uint8_t, kCxlLineBytes>& line) {
  std::vector<std::uint8_t> bytes;
  Complaint complaint = json_value::read_bytes(value, bytes);
  if (!complaint.empty()) {
    return complaint;
  }
  if (bytes.size() != line.size()) {
    return fmt::format("{} bytes seen; expected a line of {}", bytes.size(), line.size());
  }
  std::copy(bytes.begin(), bytes.end(), line.begin());
  return {};
}

}  // namespace

Json json_of(const CxlWireMessage& wire, const CxlWidths& widths) {
  const CxlChannel channel = wire.message.channel;
  Json json;
  json["channel"] = info_of(channel).name;
  for (const CxlFieldSpec& spec : fields_of(widths.form, channel)) {
    const char* key = name_of(spec.field, channel);
    if (key == nullptr) {
      continue;
    }
    const std::uint64_t value = value_of(wire, spec);
    if (spec.field == CxlField::kOpcode) {
      const char* name = cxl_opcode_name(channel, wire.message.opcode);
      json[key] = name != nullptr ? Json(name) : Json(value);
    } else if (spec.field == CxlField::kAddress) {
      json[key] = json_value::hex_number(value << lowest_address_bit(spec.bits));
    } else if (spec.bits == 1) {
      json[key] = value != 0;
    } else {
      json[key] = value;
    }
  }
  if (channel == CxlChannel::kD2hReq && widths.identity_bits > 0) {
    json["identity"] = json_value::hex_number(wire.message.identity);
  }
  return json;
}

CxlWireMessage wire_message_from_json(const Json& given, const CxlWidths& widths,
                                      const JsonSource& source) {
  const Json object = object_of(given);
  CxlWireMessage wire;
  JsonReader reader(object, source);
  wire.message.channel = read_channel(reader, widths.form);
  read_fields(reader, widths, CxlMessageUse::kInSlot, wire);
  reader.finish();
  return wire;
}

CxlSend send_from_json(const Json& given, const CxlWidths& widths, const JsonSource& source) {
  const Json object = object_of(given);
  CxlWireMessage wire;
  CxlSend send;
  JsonReader reader(object, source);
  wire.message.channel = read_channel(reader, widths.form);
  const CxlChannelInfo& info = info_of(wire.message.channel);
  read_fields(reader, widths, CxlMessageUse::kToSend, wire);
  send.message = wire.message;
  if (info.has_data) {
    reader.field("data", [&](const Json& value) { return read_line(value, send.line); });
  } else {
    reader.foreign("data", info.name);
  }
  if (info.may_have_byte_enables) {
    reader.number("byte_enables", 0, ~std::uint64_t{0}, send.message.byte_enables);
  } else {
    reader.foreign("byte_enables", info.name);
  }
  reader.finish();
  return send;
}

}  // namespace flitwise
