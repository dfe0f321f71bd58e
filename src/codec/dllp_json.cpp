// SPDX-License-Identifier: Apache-2.0
// DLLPs as JSON.
#include <array>
#include <optional>

#include "codec/json_reader.h"
#include "codec/packet_json.h"
#include "tlp/dllp_codec.h"

namespace flitwise {
namespace {

using json_value::Complaint;
using json_value::Json;

constexpr int kDllpTypes = 12;
constexpr std::array<const char*, kFcClasses> kClasses = {"P", "NP", "Cpl"};

std::string type_text(DllpType type, FcClass fc_class) {
  return is_flow_control(type)
             ? std::string(name_of(type)) + "-" + kClasses[static_cast<std::size_t>(fc_class)]
             : name_of(type);
}

// All names, with the type and class behind each.
struct NamedType {
  std::string name;
  DllpType type;
  FcClass fc_class;
};
std::vector<NamedType> named_types() {
  std::vector<NamedType> all;
  for (int i = 0; i < kDllpTypes; ++i) {
    const auto type = static_cast<DllpType>(i);
    for (int c = 0; c < (is_flow_control(type) ? kFcClasses : 1); ++c) {
      all.push_back({type_text(type, static_cast<FcClass>(c)), type, static_cast<FcClass>(c)});
    }
  }
  return all;
}

Complaint read_type(const Json& value, Dllp& dllp) {
  const std::vector<NamedType> all = named_types();
  std::vector<std::string> names;
  for (const NamedType& named : all) {
    names.push_back(named.name);
  }
  std::size_t place = 0;
  Complaint complaint = json_value::read_word(value, names, place);
  if (complaint.empty()) {
    dllp.type = all[place].type;
    dllp.fc_class = all[place].fc_class;
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
  json["type"] = type_text(dllp.type, dllp.fc_class);
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
  const std::string type = type_text(dllp.type, dllp.fc_class);
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
