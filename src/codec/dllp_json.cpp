// SPDX-License-Identifier: Apache-2.0
// DLLPs as JSON.
#include <array>
#include <optional>

#include "codec/json_reader.h"
#include "codec/packet_json.h"
#include "tlp/dllp_codec.h"

namespace flitwise {
namespace {

constexpr int kDllpTypes = 12;
constexpr std::array<const char*, kFcClasses> kClasses = {"P", "NP", "Cpl"};

std::string type_text(const Dllp& dllp) {
  const std::string name = name_of(dllp.type);
  return is_flow_control(dllp.type) ? name + "-" + kClasses[static_cast<std::size_t>(dllp.fc_class)]
                                    : name;
}

Complaint read_type(const Json& value, Dllp& dllp) {
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
  std::size_t place = 0;
  Complaint complaint = json_value::read_word(value, names, place);
  if (complaint.empty()) {
    dllp = named[place];
  }
  return complaint;
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
  Dllp dllp;
  JsonReader reader(object, source);
  if (!reader.has("type")) {
    reader.complain("type", "missing; expected a type such as \"Ack\" or \"UpdateFC-P\"");
  }
  reader.field("type", [&](const Json& value) { return read_type(value, dllp); });
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
