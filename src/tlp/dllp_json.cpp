// SPDX-License-Identifier: Apache-2.0
// DLLPs as JSON.
#include <array>

#include "tlp/dllp_codec.h"
#include "tlp/json_reader.h"
#include "tlp/packet_json.h"

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

template <class Field>
auto number_reader(Field& field, std::uint64_t highest) {
  return [&field, highest](const Json& value) {
    std::uint64_t number = field;
    Complaint complaint = json_value::read_number(value, 0, highest, number);
    field = static_cast<Field>(number);
    return complaint;
  };
}

std::string crc_text(const Dllp& dllp) {
  const auto bytes = encode(dllp);
  return json_value::hex_bytes(bytes.data() + 4, 2);
}

}  // namespace

Json json_of(const Dllp& dllp) {
  Json json;
  json["type"] = type_text(dllp.type, dllp.fc_class);
  if (is_ack_or_nak(dllp.type)) {
    json["seq"] = dllp.sequence;
  }
  if (is_flow_control(dllp.type)) {
    json["vc"] = dllp.vc;
    if (dllp.is_shared) {
      json["shared"] = true;
    }
    json["hdr_scale"] = dllp.hdr_scale;
    json["hdr_fc"] = dllp.hdr_fc;
    json["data_scale"] = dllp.data_scale;
    json["data_fc"] = dllp.data_fc;
  } else if (dllp.raw != 0 || !is_ack_or_nak(dllp.type)) {
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
  const auto field_if = [&](bool applies, const char* key, auto read) {
    if (applies) {
      reader.field(key, read);
    } else {
      reader.foreign(key, type);
    }
  };
  const bool is_fc = is_flow_control(dllp.type);
  field_if(is_ack_or_nak(dllp.type), "seq", number_reader(dllp.sequence, 0xfff));
  field_if(is_fc, "vc", number_reader(dllp.vc, 7));
  field_if(is_fc && is_in_flit, "shared",
           [&](const Json& value) { return json_value::read_bool(value, dllp.is_shared); });
  field_if(is_fc, "hdr_scale", number_reader(dllp.hdr_scale, 3));
  field_if(is_fc, "hdr_fc", number_reader(dllp.hdr_fc, 0xff));
  field_if(is_fc, "data_scale", number_reader(dllp.data_scale, 3));
  field_if(is_fc, "data_fc", number_reader(dllp.data_fc, 0xfff));
  field_if(!is_fc, "raw", number_reader(dllp.raw, 0xffffff));
  reader.field("crc", [&](const Json& value) {
    const bool fits = value.is_string() && value.get<std::string>() == crc_text(dllp);
    return fits ? Complaint{}
                : fmt::format("{} seen; expected \"{}\"", json_value::shown(value), crc_text(dllp));
  });
  reader.finish();
  return dllp;
}

}  // namespace flitwise
