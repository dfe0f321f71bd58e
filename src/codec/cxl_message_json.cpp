// SPDX-License-Identifier: Apache-2.0
// Messages between JSON and fields, and one flit from JSON.
#include "codec/cxl_flit_json.h"

#include <algorithm>
#include <optional>
#include <string>

#include "codec/json_reader.h"
#include "common/byte_vector.h"
#include "common/ranges.h"
#include "cxl/message_fields.h"

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
  const auto names = mapped(info_of(channel).opcodes, &CxlOpcodeName::name);
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
  const std::vector<std::string> names = names_of_channels(form);
  std::optional<std::size_t> place;
  reader.word("channel", names, place);
  return place ? *find_cxl_channel(names[*place]) : CxlChannel{};
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

// ---- flits

/// One flit as JSON names it, on top of what is owed.
class CxlFlitReader {
 public:
  CxlFlitReader(const Json& object, const JsonSource& source, const CxlFlitCodec& codec)
      : source_(source), codec_(codec), reader_(object, source) {}

  CxlFlit read() {
    for (const char* key : kCxlKindKeys) {
      reader_.skip(key);
    }
    if (codec_.form() == CxlFlitForm::k68) {
      read_68();
    } else {
      read_256();
    }
    reader_.field("slots", [&](const Json& value) { return read_slots(value); });
    reader_.skip("crc");  // compared with the bytes
    reader_.finish();
    return std::move(flit_);
  }

 private:
  void read_68() {
    bool is_all_data = codec_.next_is_all_data();
    reader_.field("all_data", [&](const Json& value) {
      bool given = false;
      Complaint complaint = json_value::read_bool(value, given);
      return complaint.empty() && given != is_all_data
                 ? fmt::format("{} seen; expected {}: {} chunks are owed", given, is_all_data,
                               codec_.owed().chunks())
                 : complaint;
    });
    reader_.flag("ak", flit_.header.is_ack);
    reader_.flag("be", flit_.header.has_byte_enables);
    reader_.field("credits", [&](const Json& value) { return read_credits_68(value); });
    if (reader_.has("control") && reader_.has("slots")) {
      reader_.complain("slots", "a control flit has none");
    }
    read_control();
    for (const char* key : {"header", "fec"}) {
      reader_.foreign(key, "a 68-byte flit");
    }
    read_control_fields();
  }

  void read_256() {
    reader_.number("header", 0, 0xffff, flit_.header_256);
    reader_.field("credits", [&](const Json& value) { return read_credits_256(value); });
    reader_.hex("fec", flit_.fec);
    for (const char* key : {"all_data", "ak", "be", "control"}) {
      reader_.foreign(key, "a 256-byte flit");
    }
  }

  void read_control() {
    std::optional<std::size_t> place;
    reader_.word("control", mapped(kCxlControlFlits, &CxlControlInfo::name), place);
    if (place) {
      control_ = &kCxlControlFlits[*place];
      flit_.control = CxlControl{control_->type, control_->subtype, 0};
    }
  }
  void read_control_fields() {
    if (control_ == nullptr) {
      return;
    }
    for (const CxlControlField& field : control_->fields) {
      std::uint64_t number = 0;
      reader_.number(field.name, 0, ~std::uint64_t{0} >> (64U - field.bits), number);
      flit_.control->payload |= number << field.at;
    }
  }

  /// Calls take(protocol, class, count) for each key.
  template <class Take>
  Complaint read_credits(const Json& value, std::uint64_t most, Take take) {
    return nested("credits", [&] {
      JsonReader credits(value, source_);
      for (const CxlProtocol protocol : {CxlProtocol::kCache, CxlProtocol::kMem}) {
        for (std::size_t i = 0; i < kCxlCredits; ++i) {
          credits.field(cxl_credit_key(protocol, i).c_str(), [&](const Json& count) {
            std::uint64_t number = 0;
            Complaint complaint = json_value::read_number(count, 0, most, number);
            return complaint.empty() ? take(protocol, i, static_cast<std::uint8_t>(number))
                                     : complaint;
          });
        }
      }
      credits.finish();
      return Complaint{};
    });
  }
  Complaint read_credits_68(const Json& value) {
    const auto take = [&](CxlProtocol protocol, std::size_t i, std::uint8_t count) -> Complaint {
      const std::uint8_t code = cxl_credit_code(count);
      if (cxl_credits_of_code(code) != count) {
        return fmt::format("{} seen; expected 0 or a power of two", count);
      }
      CxlCreditField& field = flit_.header.credits[i];
      if (count > 0 && field.code > 0) {
        return "a 68-byte flit returns credits of one protocol in a class";
      }
      field = count > 0 ? CxlCreditField{protocol, code} : field;
      return {};
    };
    return read_credits(value, cxl_credits_of_code(kMostCxlCreditCode), take);
  }
  Complaint read_credits_256(const Json& value) {
    bool has_any = false;
    const auto take = [&](CxlProtocol protocol, std::size_t i, std::uint8_t count) -> Complaint {
      if (count > 0 && has_any && flit_.credits.protocol != protocol) {
        return "a 256-byte flit returns credits of one protocol";
      }
      if (count > 0) {
        has_any = true;
        flit_.credits.protocol = protocol;
        flit_.credits.counts[i] = count;
      }
      return {};
    };
    return read_credits(value, kMostCxlCredits256, take);
  }

  Complaint read_slots(const Json& value) {
    if (!value.is_array() || value.size() > slots_of(codec_.form())) {
      return fmt::format("{} seen; expected a list of at most {} slots", json_value::shown(value),
                         slots_of(codec_.form()));
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      flit_.slots.push_back(
          nested(fmt::format("slots[{}]", i), [&] { return read_slot(i, value[i]); }));
    }
    return {};
  }
  CxlSlotContents read_slot(std::size_t i, const Json& object) {
    CxlSlotContents slot;
    slot.format = codec_.formats().in(place_of(codec_.form(), i)).begin()->code;
    JsonReader reader(object, source_);
    reader.number("format", 0, kCxlFormats256 - 1, slot.format);
    reader.field("messages", [&](const Json& value) { return read_messages(value, slot); });
    reader.hex("data", slot.chunk);
    std::optional<std::uint64_t> enables;
    reader.number("byte_enables", 0, ~std::uint64_t{0}, enables);
    if (reader.has("data")) {
      slot.kind = CxlSlot::Kind::kData;
    }
    if (enables) {
      slot.kind = CxlSlot::Kind::kByteEnables;
      put_bits(slot.chunk.data(), 0, 64, *enables);
    }
    const int kinds = (reader.has("format") || reader.has("messages") ? 1 : 0) +
                      (reader.has("data") ? 1 : 0) + (reader.has("byte_enables") ? 1 : 0);
    if (kinds > 1) {
      reader.complain("", "several contents seen; expected messages, data or byte_enables");
    }
    reader.finish();
    return slot;
  }
  Complaint read_messages(const Json& value, CxlSlotContents& slot) {
    if (!value.is_array()) {
      return fmt::format("{} seen; expected a list of messages", json_value::shown(value));
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      CxlWireMessage wire;
      wire.is_valid = !value[i].is_null();
      if (wire.is_valid) {
        wire = nested(fmt::format("messages[{}]", i), [&] {
          return wire_message_from_json(value[i], codec_.formats().widths(), source_);
        });
      }
      slot.messages.push_back(wire);
    }
    return {};
  }
  const JsonSource& source_;
  const CxlFlitCodec& codec_;
  JsonReader reader_;
  CxlFlit flit_;
  const CxlControlInfo* control_ = nullptr;
};

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

CxlFlit cxl_flit_from_json(const Json& object, const JsonSource& source,
                           const CxlFlitCodec& codec) {
  return CxlFlitReader(object, source, codec).read();
}

}  // namespace flitwise
