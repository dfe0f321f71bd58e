// SPDX-License-Identifier: Apache-2.0
// TLPs with all that their bytes hold: payload, and bits that no field owns; or what is wrong.
// DLLPs as JSON.
#include "codec/packet_json.h"

#include <array>

#include "codec/json_reader.h"
#include "common/byte_vector.h"
#include "tlp/dllp_codec.h"
#include "tlp/header_layout.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

// With the payload, and what encoding would not bring back of what stands before it.
TlpDocument completed(TlpDocument document, const ByteVector& bytes, std::size_t payload_offset) {
  const auto payload = bytes.begin() + static_cast<std::ptrdiff_t>(payload_offset);
  document.payload.assign(payload, payload + static_cast<std::ptrdiff_t>(data_bytes(document.tlp)));
  const ByteVector plain = bytes_of(document);
  for (std::size_t at = 0; at < payload_offset; at += 4) {
    document.reserved.push_back(dw_at(&bytes[at]) ^ dw_at(&plain[at]));
  }
  while (!document.reserved.empty() && document.reserved.back() == 0) {
    document.reserved.pop_back();
  }
  return document;
}

template <class Error>
PacketRead flawed(Error error, std::size_t offset) {
  return {{}, PacketFlaw{name_of(error), sentence_of(error), offset}};
}

// ---- DLLPs

constexpr std::array<const char*, kFcClasses> kClasses = {"P", "NP", "Cpl"};

std::string type_text(const Dllp& dllp) {
  const std::string name = name_of(dllp.type);
  return is_flow_control(dllp.type) ? name + "-" + kClasses[static_cast<std::size_t>(dllp.fc_class)]
                                    : name;
}

Dllp read_type(JsonReader& reader) {
  if (!reader.has("type")) {
    reader.complain("type", "missing; expected a type such as \"Ack\" or \"UpdateFC-P\"");
  }
  std::vector<std::string> names;
  std::vector<Dllp> named;  // by name
  for (int i = 0; i < kDllpTypes; ++i) {
    Dllp one;
    one.type = static_cast<DllpType>(i);
    for (int c = 0; c < (is_flow_control(one.type) ? kFcClasses : 1); ++c) {
      one.fc_class = static_cast<FcClass>(c);
      names.push_back(type_text(one));
      named.push_back(one);
    }
  }
  std::optional<std::size_t> place;
  reader.word("type", names, place);
  return place ? named[*place] : Dllp();
}

// Only flits have it, so that it stays out where it is not set. [LNK-11.24]
bool is_flag(const DllpField& field) {
  return field.width == 1;
}

std::string crc_text(const Dllp& dllp) {
  const auto bytes = encode(dllp);
  return json_value::hex_bytes(bytes.data() + 4, 2);
}

}  // namespace

TlpDocument document_of(const Tlp& tlp, const ByteVector& bytes, std::size_t payload_offset) {
  TlpDocument document;
  document.tlp = tlp;
  if (is_translation_request(tlp)) {
    document.tlp.processing_hint &= 1U << kNoWriteBit;
  }
  return completed(std::move(document), bytes, payload_offset);
}

TlpDocument document_of(const FlitTlpDecodeResult& decoded, const ByteVector& bytes) {
  return completed({decoded.tlp, {}, {}, TlpForm::kFlit, decoded.has_spare_ohc_a}, bytes,
                   decoded.payload_at());
}

ByteVector bytes_of(const TlpDocument& document) {
  const bool is_flit = document.form == TlpForm::kFlit;
  const ByteVector& payload = document.payload;
  ByteVector bytes;
  if (is_flit) {
    encode_flit_mode(document.tlp, document.has_spare_ohc_a, payload.data(), payload.size(), bytes);
  } else {
    encode(document.tlp, payload.data(), payload.size(), bytes);
  }
  for (std::size_t i = 0; i < 4 * document.reserved.size(); ++i) {
    bytes[i] ^= static_cast<std::uint8_t>(document.reserved[i / 4] >> (24 - 8 * (i % 4)));
  }
  if (is_flit) {
    write_flit_mode_ecrc(document.tlp, bytes.data(), bytes.size());
  } else {
    write_ecrc(document.tlp, bytes.data());
  }
  return bytes;
}

PacketRead read_tlp(const ByteVector& bytes, TlpForm form, bool checks) {
  // What is wrong with the bytes themselves is wrong without checks too.
  if (form == TlpForm::kNonFlit) {
    const DecodeResult result = decode_tlp(bytes.data(), bytes.size());
    if (result.error && (checks || *result.error < TlpViolation::kBadByteEnables)) {
      return flawed(*result.error, result.error_offset);
    }
    return {json_of(document_of(result.tlp, bytes, result.payload_offset)), std::nullopt};
  }
  const FlitTlpDecodeResult result = decode_flit_mode(bytes.data(), bytes.size());
  if (result.violation && checks) {
    return flawed(*result.violation, result.error_offset);
  }
  if (result.error && !result.violation) {
    return flawed(*result.error, result.error_offset);
  }
  return {json_of(document_of(result, bytes)), std::nullopt};
}

Json json_of(const Dllp& dllp) {
  Json json;
  json["type"] = type_text(dllp);
  for (const DllpField& field : dllp_fields()) {
    const std::uint64_t value = field.value.get(dllp);
    if (field.is_of(dllp.type) && (value != 0 || !is_flag(field))) {
      json[field.key] = is_flag(field) ? Json(true) : Json(value);
    }
  }
  if (!is_flow_control(dllp.type) && (dllp.raw != 0 || !is_ack_or_nak(dllp.type))) {
    json["raw"] = json_value::hex_number(dllp.raw);
  }
  if (dllp.type != DllpType::kOptimizedUpdateFc) {
    json["crc"] = crc_text(dllp);
  }
  return json;
}

Dllp dllp_from_json(const Json& object, const JsonSource& source, bool is_in_flit) {
  JsonReader reader(object, source);
  Dllp dllp = read_type(reader);
  const std::string type = type_text(dllp);
  for (const DllpField& field : dllp_fields()) {
    std::optional<std::uint64_t> value;
    if (!field.is_of(dllp.type) || (is_flag(field) && !is_in_flit)) {
      reader.foreign(field.key, type);
    } else if (is_flag(field)) {
      reader.flag(field.key, value);
    } else {
      reader.number(field.key, 0, field.mask(), value);
    }
    if (value) {
      field.value.set(dllp, *value);
    }
  }
  if (is_flow_control(dllp.type)) {
    reader.foreign("raw", type);
  } else {
    reader.number("raw", 0, 0xffffffU, dllp.raw);
  }
  reader.field("crc", [&](const Json& value) {
    const bool fits = value.is_string() && value.get<std::string>() == crc_text(dllp);
    return fits ? Complaint{}
                : fmt::format("{} seen; expected \"{}\"", json_value::shown(value), crc_text(dllp));
  });
  reader.finish();
  return dllp;
}

}  // namespace flitwise
