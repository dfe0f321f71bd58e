// SPDX-License-Identifier: Apache-2.0
// Flits as JSON, and streams of them.
#include "codec/cxl_flit_json.h"

#include "codec/json_reader.h"
#include "common/ranges.h"
#include "cxl/message_fields.h"

namespace flitwise {
namespace {

const std::vector<std::string> kForms = {"68", "256", "256_lopt"};
const std::vector<std::string> kDirections = {"down", "up"};

// ---- to JSON

Json credits_json(const CxlFlit& flit, CxlFlitForm form) {
  const bool is_68 = form == CxlFlitForm::k68;
  Json json = Json::object();
  for (std::size_t i = 0; i < kCxlCredits; ++i) {
    const CxlCreditField& field = flit.header.credits[i];
    const unsigned count = is_68 ? cxl_credits_of_code(field.code) : flit.credits.counts[i];
    if (count > 0) {
      json[cxl_credit_key(is_68 ? field.protocol : flit.credits.protocol, i)] = count;
    }
  }
  return json;
}

Json slot_json(const CxlSlotContents& slot, const CxlWidths& widths) {
  Json json;
  switch (slot.kind) {
    case CxlSlot::Kind::kData: json["data"] = json_value::hex_bytes(slot.chunk); return json;
    case CxlSlot::Kind::kByteEnables:
      json["byte_enables"] = json_value::hex_number(bits_at(slot.chunk.data(), 0, 64));
      return json;
    case CxlSlot::Kind::kMessages:
    case CxlSlot::Kind::kEmpty: break;
  }
  json["format"] = slot.format;
  // Places behind the last message stay out.
  std::size_t count = slot.messages.size();
  while (count > 0 && !slot.messages[count - 1].is_valid) {
    --count;
  }
  json["messages"] = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    json["messages"].push_back(slot.messages[i].is_valid ? json_of(slot.messages[i], widths)
                                                         : Json(nullptr));
  }
  return json;
}

void add_control(const CxlControl& control, Json& json) {
  const CxlControlInfo& info = *find_cxl_control(control.type, control.subtype);
  json["control"] = info.name;
  for (const CxlControlField& field : info.fields) {
    const std::uint64_t number =
        control.payload >> field.at & (~std::uint64_t{0} >> (64U - field.bits));
    json[field.name] = field.bits == 64 ? Json(json_value::hex_number(number)) : Json(number);
  }
}

Json flit_json(const CxlFlitKind& kind, const CxlFlitCodec::Decoded& decoded,
               const CxlWidths& widths, const ByteVector& bytes) {
  const CxlFlit& flit = decoded.flit;
  Json json;
  json["flit"] = kForms[static_cast<std::size_t>(kind.form)];
  json["direction"] = kDirections[static_cast<std::size_t>(kind.direction)];
  if (kind.identity_bits > 0) {
    json["identity_bits"] = kind.identity_bits;
  }
  if (kind.form == CxlFlitForm::k68) {
    if (decoded.is_all_data) {
      json["all_data"] = true;
    } else {
      json["ak"] = flit.header.is_ack;
      json["credits"] = credits_json(flit, kind.form);
    }
    if (flit.control) {
      add_control(*flit.control, json);
    } else if (!decoded.is_all_data) {
      json["be"] = flit.header.has_byte_enables;
    }
  } else {
    json["header"] = json_value::hex_number(flit.header_256);
    json["credits"] = credits_json(flit, kind.form);
  }
  if (!flit.control) {
    json["slots"] = Json::array();
    for (const CxlSlotContents& slot : flit.slots) {
      json["slots"].push_back(slot_json(slot, widths));
    }
  }
  json["crc"] = json_value::hex_bytes(crc_bytes_of(kind.form, bytes));
  if (kind.form != CxlFlitForm::k68) {
    json["fec"] = json_value::hex_bytes(flit.fec);
  }
  return json;
}

// ---- messages to send

std::vector<CxlSend> read_sends(const Json& list, const CxlFlitKind& kind,
                                const CxlSlotFormats& formats, const JsonSource& source) {
  if (!list.is_array()) {
    refuse(source, "messages",
           fmt::format("{} seen; expected a list of messages", json_value::shown(list)));
  }
  std::vector<CxlSend> sends;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string path = fmt::format("messages[{}]", i);
    sends.push_back(
        nested(path, [&] { return send_from_json(list[i], formats.widths(), source); }));
    const CxlChannel channel = sends.back().message.channel;
    if (info_of(channel).direction != kind.direction) {
      refuse(source, path + ".channel",
             fmt::format("{} seen; expected a channel that goes {}", info_of(channel).name,
                         kDirections[static_cast<std::size_t>(kind.direction)]));
    }
    if (!formats.has_place_for(channel)) {
      refuse(source, "identity_bits",
             fmt::format("{} of {} bits fits no slot", info_of(channel).name,
                         formats.widths().of(channel)));
    }
  }
  return sends;
}

std::vector<CxlFlit> read_messages(const Json& object, const CxlFlitKind& kind,
                                   const CxlFlitCodec& codec, const JsonSource& source) {
  JsonReader reader(object, source);
  std::vector<CxlFlit> flits;
  for (const char* key : kCxlKindKeys) {
    reader.skip(key);
  }
  if (!codec.owed().is_empty()) {
    reader.complain("messages", fmt::format("{} chunks are owed by the flits before; expected none",
                                            codec.owed().chunks()));
  }
  reader.field("messages", [&](const Json& value) {
    flits = pack_messages(codec.formats(), kind.direction,
                          read_sends(value, kind, codec.formats(), source));
    return Complaint{};
  });
  reader.finish();
  return flits;
}

}  // namespace

CxlGivenKind cxl_kind_from_json(const Json& object, const JsonSource& source) {
  CxlGivenKind kind;
  JsonReader reader(object, source);
  reader.word("flit", kForms, kind.form);
  reader.word("direction", kDirections, kind.direction);
  reader.number("identity_bits", 0, kMostIdentityBits, kind.identity_bits);
  reader.finish();
  return kind;
}

CxlFlitKind cxl_flit_kind_of(const Json& object, JsonSource source) {
  for (const auto& item : object.items()) {
    source.other_keys.push_back(item.key());
  }
  const CxlGivenKind given = cxl_kind_from_json(object, source);
  if (!given.form) {
    refuse(source, "flit", "missing; expected " + config::alternatives(kForms));
  }
  if (!given.direction && !object.contains("control")) {
    refuse(source, "direction", "missing; expected " + config::alternatives(kDirections));
  }
  return {*given.form, given.direction.value_or(CxlDirection::kDownstream), given.identity_bits};
}

std::vector<ByteVector> CxlFlitStream::bytes_of(const Json& object, const JsonSource& source) {
  const CxlFlitKind kind = cxl_flit_kind_of(object, source);
  CxlFlitCodec& codec = codec_of(kind);
  if (object.contains("messages")) {
    return mapped<ByteVector>(read_messages(object, kind, codec, source),
                              [&](const CxlFlit& flit) { return codec.encode(flit).bytes; });
  }
  const CxlFlitCodec::Encoded encoded = codec.encode(cxl_flit_from_json(object, source, codec));
  if (encoded.error) {
    refuse(source, fmt::format("slots[{}]", encoded.error_slot),
           fmt::format("{}: {}", name_of(*encoded.error), sentence_of(*encoded.error)));
  }
  const std::string crc_text = json_value::hex_bytes(crc_bytes_of(kind.form, encoded.bytes));
  if (object.contains("crc") && object["crc"] != crc_text) {
    refuse(source, "crc",
           fmt::format("{} seen; expected \"{}\"", json_value::shown(object["crc"]), crc_text));
  }
  return {encoded.bytes};
}

CxlFlitStream::Read CxlFlitStream::read(const CxlFlitKind& kind, const ByteVector& bytes) {
  CxlFlitCodec& codec = codec_of(kind);
  const CxlFlitCodec::Decoded decoded = codec.decode(bytes.data(), bytes.size());
  if (decoded.error) {
    return {{}, decoded.error, decoded.error_offset};
  }
  return {flit_json(kind, decoded, codec.formats().widths(), bytes), std::nullopt, 0};
}

CxlFlitCodec& CxlFlitStream::codec_of(const CxlFlitKind& kind) {
  return codecs_.try_emplace(kind, CxlFlitCodec(kind.form, kind.direction, kind.identity_bits))
      .first->second;
}

}  // namespace flitwise
