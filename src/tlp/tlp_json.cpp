// SPDX-License-Identifier: Apache-2.0
// TLPs as JSON.
#include <algorithm>
#include <array>

#include "tlp/flit_tlp_encoder.h"
#include "tlp/flit_tlp_layout.h"
#include "tlp/header_layout.h"
#include "tlp/json_reader.h"
#include "tlp/ohc.h"
#include "tlp/packet_json.h"
#include "tlp/tlp_check.h"

namespace flitwise {
namespace {

using json_value::Complaint;
using json_value::Json;

const std::vector<std::string> kAddressTypes = {"untranslated", "translation_request", "translated",
                                                "reserved"};
const std::vector<std::string> kStatuses = {"SC", "UR",         "RRS",        "reserved_3",
                                            "CA", "reserved_5", "reserved_6", "reserved_7"};
const std::vector<std::string> kRoutingNames = {"to_root_complex", "by_address", "by_id",
                                                "broadcast",       "local",      "gathered"};

bool is_request(const Tlp& tlp) {
  return !is_completion(tlp.type) && !is_message(tlp.type);
}
bool has_address(const Tlp& tlp) {
  return is_memory_request(tlp.type) || is_io(tlp.type);
}

/// The fields of one TLP, read from its JSON group by group.
class TlpReader {
 public:
  TlpReader(const Json& object, const JsonSource& source, TlpForm form) : reader_(object, source) {
    document_.form = form;
  }

  TlpDocument run() {
    read_type();
    read_common();
    read_request();
    read_completion();
    read_message();
    read_prefixes();
    read_payload();
    fill_defaults();
    if (is_flit_mode()) {
      read_flit_mode();
    }
    reader_.field("reserved", [this](const Json& value) {
      return json_value::read_dws(value, whole_dws(), document_.reserved);
    });
    reader_.finish();
    return std::move(document_);
  }

 private:
  template <class Field>
  void number(const char* key, Field& field, std::uint64_t lowest, std::uint64_t highest,
              bool applies = true) {
    read_if(applies, key, [&](const Json& value) {
      std::uint64_t out = static_cast<std::uint64_t>(field);
      Complaint complaint = json_value::read_number(value, lowest, highest, out);
      field = static_cast<Field>(out);
      return complaint;
    });
  }
  template <class Field>
  void word(const char* key, Field& field, const std::vector<std::string>& words,
            bool applies = true) {
    read_if(applies, key, [&](const Json& value) {
      std::size_t out = static_cast<std::size_t>(field);
      Complaint complaint = json_value::read_word(value, words, out);
      field = static_cast<Field>(out);
      return complaint;
    });
  }
  void flag(const char* key, bool& field, bool applies = true) {
    read_if(applies, key, [&](const Json& value) { return json_value::read_bool(value, field); });
  }
  void bdf(const char* key, Bdf& field, bool applies = true) {
    read_if(applies, key, [&](const Json& value) { return json_value::read_bdf(value, field); });
  }
  template <class Read>
  void read_if(bool applies, const char* key, Read read) {
    if (applies) {
      reader_.field(key, read);
    } else {
      reader_.foreign(key, name_of(tlp_.type));
    }
  }

  bool is_flit_mode() const { return document_.form == TlpForm::kFlit; }

  std::size_t whole_dws() const {
    if (!is_flit_mode()) {
      return tlp_bytes(tlp_) / 4;
    }
    const bool has_one_more = document_.has_spare_ohc_a && !has_ohc_a(tlp_);
    return flit_mode_tlp_bytes(tlp_) / 4 + (has_one_more ? 1U : 0U);
  }

  void read_type() {
    if (!reader_.has("type")) {
      reader_.complain("type", "missing; expected a type such as \"MWr\" or \"CplD\"");
    }
    std::vector<std::string> names;
    for (const char* suffix : {"", "32", "64"}) {
      for (int i = 0; i < kTlpTypes; ++i) {
        names.push_back(name_of(static_cast<TlpType>(i)) + std::string(suffix));
      }
    }
    reader_.field("type", [&](const Json& value) {
      std::size_t place = 0;
      Complaint complaint = json_value::read_word(value, names, place);
      tlp_.type = static_cast<TlpType>(place % kTlpTypes);
      const bool has_suffix = place >= kTlpTypes;
      if (complaint.empty() && has_suffix && !is_memory_request(tlp_.type)) {
        return fmt::format("{} has one size of header; expected \"{}\"", json_value::shown(value),
                           name_of(tlp_.type));
      }
      width_is_set_ = has_suffix;
      tlp_.is_4dw = place >= 2 * kTlpTypes;
      return complaint;
    });
    if (is_message(tlp_.type)) {
      tlp_.is_4dw = true;
    }
    reader_.field("fmt", [this](const Json& value) { return read_fmt(value); });
  }

  // Fmt settles the width; the rest of it has to fit the type. [LNK-1.8]
  Complaint read_fmt(const Json& value) {
    std::uint64_t fmt = 0;
    if (Complaint complaint = json_value::read_number(value, 0, 3, fmt); !complaint.empty()) {
      return complaint;
    }
    const auto type = find_type(static_cast<unsigned>(fmt), type_code(tlp_.type));
    const bool is_wide = (fmt & 1U) != 0;
    if (type != tlp_.type || (width_is_set_ && is_wide != tlp_.is_4dw)) {
      return fmt::format("{} seen; expected a Fmt that fits the type", fmt);
    }
    tlp_.is_4dw = is_wide;
    width_is_set_ = true;
    return {};
  }

  // [LNK-1.1]
  void read_common() {
    bdf("requester_id", tlp_.requester_id);
    number("tag", tlp_.tag, 0, is_flit_mode() ? (1U << kFlitModeTagBits) - 1U : 1023U);
    number("tc", tlp_.tc, 0, 7);
    word("at", tlp_.at, kAddressTypes);
    flag("ido", tlp_.id_based_ordering);
    flag("ro", tlp_.relaxed_ordering);
    flag("ns", tlp_.no_snoop);
    flag("th", tlp_.has_processing_hint);
    flag("td", tlp_.has_ecrc);
    flag("ep", tlp_.is_poisoned);
    flag("id_is_handle", tlp_.id_is_handle);
    const bool length_counts = has_data(tlp_.type) || is_request(tlp_);
    number("length_dw", tlp_.length_dw, length_counts ? 1 : 0,
           length_counts ? kMaxLengthDw : kMaxLengthDw - 1);
  }

  // [LNK-2.1] [LNK-2.4]
  void read_request() {
    number("first_be", tlp_.first_be, 0, 15, is_request(tlp_));
    number("last_be", tlp_.last_be, 0, 15, is_request(tlp_));
    const std::uint64_t highest =
        is_io(tlp_.type) || (width_is_set_ && !tlp_.is_4dw) ? 0xffff'ffffU : 0xffff'ffff'ffff'ffffU;
    number("address", tlp_.address, 0, highest, has_address(tlp_));
    if (tlp_.address % 4 != 0) {
      reader_.complain("address",
                       "not a multiple of 4; expected the address of a DW, with first_be "
                       "for the bytes in it");
    }
    const bool is_translation = is_translation_request(tlp_);
    number("ph", tlp_.processing_hint, 0, 3, is_memory_request(tlp_.type) && !is_translation);
    bool no_write = false;
    flag("no_write", no_write, is_translation);
    if (no_write) {
      tlp_.processing_hint = 1U << kNoWriteBit;
    }
    bdf("destination_id", tlp_.completer_id, is_configuration(tlp_.type));
    number("register_offset", tlp_.register_offset, 0, 4092, is_configuration(tlp_.type));
    if (tlp_.register_offset % 4 != 0) {
      reader_.complain("register_offset", "not a multiple of 4; expected the offset of a DW");
    }
  }

  // [LNK-2.5]
  void read_completion() {
    const bool applies = is_completion(tlp_.type);
    bdf("completer_id", tlp_.completer_id, applies);
    word("status", tlp_.status, kStatuses, applies);
    flag("bcm", tlp_.bcm, applies);
    number("byte_count", tlp_.byte_count, 1, kMaxByteCount, applies);
    number("lower_address", tlp_.lower_address, 0, 127, applies);
  }

  // [LNK-2.6]
  void read_message() {
    const bool applies = is_message(tlp_.type);
    word("routing", tlp_.routing, kRoutingNames, applies);
    number("message_code", tlp_.message_code, 0, 255, applies);
    number("message_dw2", tlp_.message_dw2, 0, 0xffffffffU, applies);
    number("message_dw3", tlp_.message_dw3, 0, 0xffffffffU, applies);
  }

  // [LNK-3.1] [LNK-3.4]
  void read_prefixes() {
    tlp_.has_pasid = reader_.has("pasid");
    number("pasid", tlp_.pasid, 0, (1U << kPasidBits) - 1);
    read_pasid_flags();
    reader_.field("prefixes", [this](const Json& value) {
      std::vector<std::uint32_t> dws;
      Complaint complaint = json_value::read_dws(value, tlp_.other_prefixes.size(), dws);
      if (complaint.empty() && !are_prefixes_in_order(dws, is_flit_mode())) {
        complaint = "prefixes expected: known first bytes other than the PASID's, local ones first";
      }
      std::copy(dws.begin(), dws.end(), tlp_.other_prefixes.begin());
      tlp_.other_prefix_count = static_cast<std::uint8_t>(dws.size());
      return complaint;
    });
    if (tlp_.has_pasid) {
      number("prefixes_before_pasid", tlp_.prefixes_before_pasid, 0, tlp_.other_prefix_count);
    }
  }

  void read_pasid_flags() {
    for (const char* key : {"privileged_mode_requested", "execute_requested"}) {
      if (reader_.has(key) && !tlp_.has_pasid) {
        reader_.complain(key, "needs a pasid");
      }
    }
    flag("privileged_mode_requested", tlp_.privileged_mode_requested);
    flag("execute_requested", tlp_.execute_requested);
  }

  static bool are_prefixes_in_order(const std::vector<std::uint32_t>& dws, bool is_flit_mode) {
    return std::all_of(dws.begin(), dws.end(),
                       [&](std::uint32_t dw) {
                         return (is_known_prefix(dw) && prefix_type(dw) != prefix::kPasid) ||
                                (is_flit_mode && prefix_type(dw) == prefix::kFlitModeLocal);
                       }) &&
           std::is_partitioned(dws.begin(), dws.end(),
                               [](std::uint32_t dw) { return !is_end_end_prefix(dw); });
  }

  void read_payload() {
    read_if(has_data(tlp_.type), "payload", [this](const Json& value) {
      Complaint complaint = json_value::read_bytes(value, document_.payload);
      const std::size_t bytes = document_.payload.size();
      if (!complaint.empty()) {
        return complaint;
      }
      if (reader_.has("length_dw")) {
        return bytes == data_bytes(tlp_) ? Complaint{}
                                         : fmt::format("{} bytes seen; expected {}: 4 x length_dw",
                                                       bytes, data_bytes(tlp_));
      }
      if (bytes == 0 || bytes % 4 != 0 || bytes > 4 * kMaxLengthDw) {
        return fmt::format("{} bytes seen; expected whole DWs, 4 to 4096 bytes", bytes);
      }
      tlp_.length_dw = static_cast<std::uint16_t>(bytes / 4);
      return Complaint{};
    });
  }

  void fill_defaults() {
    if (tlp_.length_dw == 0 && (has_data(tlp_.type) || is_request(tlp_))) {
      tlp_.length_dw = 1;
    }
    if (is_request(tlp_)) {
      tlp_.first_be = reader_.has("first_be") ? tlp_.first_be : std::uint8_t{0xf};
      if (!reader_.has("last_be")) {
        tlp_.last_be = tlp_.length_dw > 1 ? 0xf : 0;
      }
    }
    if (is_completion(tlp_.type) && !reader_.has("byte_count")) {
      tlp_.byte_count = static_cast<std::uint16_t>(has_data(tlp_.type) ? 4U * tlp_.length_dw : 4U);
    }
    if (!width_is_set_ && is_memory_request(tlp_.type)) {
      tlp_.is_4dw = tlp_.address >> 32 != 0;  // [LNK-2.2]
    }
    document_.payload.resize(data_bytes(tlp_));
  }

  // [LNK-11.13] to [LNK-11.18]
  void read_flit_mode() {
    flag("ohc_a", document_.has_spare_ohc_a);
    if (const auto gap = find_flit_mode_gap(tlp_)) {
      reader_.complain(gap->field, gap->why);
    }
  }

  JsonReader reader_;
  TlpDocument document_;
  Tlp& tlp_ = document_.tlp;
  bool width_is_set_ = false;
};

void write_by_kind(const Tlp& tlp, Json& json) {
  if (is_request(tlp)) {
    json["first_be"] = tlp.first_be;
    json["last_be"] = tlp.last_be;
  }
  if (has_address(tlp)) {
    json["address"] = json_value::hex_number(tlp.address);
  }
  if (is_translation_request(tlp)) {
    json["no_write"] = is_no_write(tlp);
  } else if (is_memory_request(tlp.type)) {
    json["ph"] = tlp.processing_hint;
  }
  if (is_configuration(tlp.type)) {
    json["destination_id"] = json_value::bdf_text(tlp.completer_id);
    json["register_offset"] = tlp.register_offset;
  }
  if (is_completion(tlp.type)) {
    json["completer_id"] = json_value::bdf_text(tlp.completer_id);
    json["status"] = kStatuses[static_cast<std::size_t>(tlp.status)];
    json["bcm"] = tlp.bcm;
    json["byte_count"] = tlp.byte_count;
    json["lower_address"] = tlp.lower_address;
  }
  if (is_message(tlp.type)) {
    json["routing"] = kRoutingNames[static_cast<std::size_t>(tlp.routing)];
    json["message_code"] = tlp.message_code;
    json["message_dw2"] = json_value::hex_dw(tlp.message_dw2);
    json["message_dw3"] = json_value::hex_dw(tlp.message_dw3);
  }
}

void write_prefixes(const Tlp& tlp, Json& json) {
  if (tlp.has_pasid) {
    json["pasid"] = to_int(tlp.pasid);
    json["privileged_mode_requested"] = tlp.privileged_mode_requested;
    json["execute_requested"] = tlp.execute_requested;
  }
  if (tlp.other_prefix_count > 0) {
    Json list = Json::array();
    for (unsigned i = 0; i < tlp.other_prefix_count; ++i) {
      list.push_back(json_value::hex_dw(tlp.other_prefixes[i]));
    }
    json["prefixes"] = list;
    if (tlp.has_pasid) {
      json["prefixes_before_pasid"] = tlp.prefixes_before_pasid;
    }
  }
}

}  // namespace

Json json_of(const TlpDocument& document) {
  const Tlp& tlp = document.tlp;
  Json json;
  json["type"] = name_of(tlp.type);
  json["fmt"] = fmt_of(tlp);
  json["requester_id"] = json_value::bdf_text(tlp.requester_id);
  json["tag"] = tlp.tag;
  json["tc"] = tlp.tc;
  json["at"] = kAddressTypes[static_cast<std::size_t>(tlp.at)];
  json["ido"] = tlp.id_based_ordering;
  json["ro"] = tlp.relaxed_ordering;
  json["ns"] = tlp.no_snoop;
  json["th"] = tlp.has_processing_hint;
  json["td"] = tlp.has_ecrc;
  json["ep"] = tlp.is_poisoned;
  json["id_is_handle"] = tlp.id_is_handle;
  json["length_dw"] = tlp.length_dw;
  write_by_kind(tlp, json);
  write_prefixes(tlp, json);
  if (document.has_spare_ohc_a) {
    json["ohc_a"] = true;
  }
  if (has_data(tlp.type)) {
    json["payload"] = json_value::hex_bytes(document.payload.data(), document.payload.size());
  }
  if (!document.reserved.empty()) {
    Json list = Json::array();
    for (const std::uint32_t dw : document.reserved) {
      list.push_back(json_value::hex_dw(dw));
    }
    json["reserved"] = list;
  }
  return json;
}

TlpDocument tlp_from_json(const Json& object, const JsonSource& source, TlpForm form) {
  return TlpReader(object, source, form).run();
}

void check_rules(const Tlp& tlp, const JsonSource& source) {
  if (const auto violation = check_format(tlp)) {
    throw ConfigError(
        {{source.file, source.line, source.line > 0 ? 1 : 0, name_of(*violation),
          fmt::format("{}; check=false encodes it all the same", sentence_of(*violation))}});
  }
}

}  // namespace flitwise
