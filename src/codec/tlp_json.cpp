// SPDX-License-Identifier: Apache-2.0
// TLPs as JSON.
#include <algorithm>
#include <optional>
#include <string_view>

#include "codec/json_reader.h"
#include "codec/message_json.h"
#include "codec/packet_json.h"
#include "tlp/flit_tlp_codec.h"
#include "tlp/header_layout.h"
#include "tlp/ohc.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_fields.h"

namespace flitwise {
namespace {

Json value_json(const TlpField& field, std::uint64_t value) {
  switch (field.format) {
    case TlpField::Format::kFlag: return value != 0;
    case TlpField::Format::kWord: return field.words[value];
    case TlpField::Format::kBdf:
      return json_value::bdf_text(Bdf{static_cast<std::uint16_t>(value)});
    case TlpField::Format::kHex: return json_value::hex_number(value);
    case TlpField::Format::kHexDw: return json_value::hex_dw(static_cast<std::uint32_t>(value));
    case TlpField::Format::kNumber: break;
  }
  return value;
}

/// The fields of one TLP, read from its JSON group by group.
class TlpReader {
 public:
  TlpReader(const Json& object, const JsonSource& source, TlpForm form) : reader_(object, source) {
    document_.form = form;
  }

  TlpDocument run() {
    read_type();
    for (const TlpField& field : tlp_fields()) {
      read_field(field);
    }
    read_prefixes();
    read_payload();
    read_message_fields(reader_, document_);
    fill_defaults();
    if (is_flit_mode()) {  // [LNK-11.13] to [LNK-11.18]
      reader_.flag("ohc_a", document_.has_spare_ohc_a);
      if (const auto gap = find_flit_mode_gap(tlp_)) {
        reader_.complain(gap->field, gap->why);
      }
    }
    reader_.field("reserved", [this](const Json& value) {
      return json_value::read_dws(value, whole_dws(), document_.reserved);
    });
    reader_.finish();
    return std::move(document_);
  }

 private:
  void read_field(const TlpField& field) {
    if (!field.is_of(tlp_) && find_message_field(field.key) != nullptr) {
      return;  // read with the fields of messages
    }
    if (!field.is_of(tlp_)) {
      reader_.foreign(field.key, name_of(tlp_.type));
    } else {
      std::optional<std::uint64_t> value;
      read_value(field, value);
      if (value) {
        field.value.set(tlp_, *value);
      }
    }
    const std::string_view key = field.key;
    const bool is_of_dw = key == "address" || key == "register_offset";
    if (is_of_dw && field.value.get(tlp_) % 4 != 0) {
      reader_.complain(
          field.key,
          fmt::format("not a multiple of 4; expected {}",
                      key == "address" ? "the address of a DW, with first_be for the bytes in it"
                                       : "the offset of a DW"));
    }
  }

  void read_value(const TlpField& field, std::optional<std::uint64_t>& value) {
    switch (field.format) {
      case TlpField::Format::kFlag: return reader_.flag(field.key, value);
      case TlpField::Format::kWord: return reader_.word(field.key, field.words, value);
      case TlpField::Format::kBdf: {
        std::optional<Bdf> bdf;
        reader_.bdf(field.key, bdf);
        value = bdf ? std::optional<std::uint64_t>(bdf->value) : std::nullopt;
        return;
      }
      case TlpField::Format::kNumber:
      case TlpField::Format::kHex:
      case TlpField::Format::kHexDw: return read_number(field, value);
    }
  }

  bool has_length() const { return has_data(tlp_.type) || is_plain_request(tlp_); }
  void read_number(const TlpField& field, std::optional<std::uint64_t>& value) {
    const std::string_view key = field.key;
    const bool counts_dws = key == "length_dw" && has_length();
    const bool is_narrow = is_io(tlp_.type) || (width_is_set_ && !tlp_.is_4dw);
    const std::uint64_t most = counts_dws                       ? kMaxLengthDw
                               : key == "tag" && is_flit_mode() ? (1U << kFlitModeTagBits) - 1U
                               : key == "address" && is_narrow  ? 0xffff'ffffU
                                                                : field.most;
    reader_.number(field.key, counts_dws || key == "byte_count" ? 1 : 0, most, value);
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
    tlp_.is_4dw = tlp_.is_4dw || is_message(tlp_.type);
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

  // [LNK-3.1] [LNK-3.4]
  void read_prefixes() {
    tlp_.has_pasid = reader_.has("pasid");
    reader_.number("pasid", 0, (1U << kPasidBits) - 1, tlp_.pasid);
    for (const char* key : {"privileged_mode_requested", "execute_requested"}) {
      if (reader_.has(key) && !tlp_.has_pasid) {
        reader_.complain(key, "needs a pasid");
      }
    }
    reader_.flag("privileged_mode_requested", tlp_.privileged_mode_requested);
    reader_.flag("execute_requested", tlp_.execute_requested);
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
      reader_.number("prefixes_before_pasid", 0, tlp_.other_prefix_count,
                     tlp_.prefixes_before_pasid);
    }
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
    if (!has_data(tlp_.type)) {
      return reader_.foreign("payload", name_of(tlp_.type));
    }
    reader_.field("payload", [this](const Json& value) {
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
    if (tlp_.length_dw == 0 && has_length()) {
      tlp_.length_dw = 1;
    }
    if (is_plain_request(tlp_)) {
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

  JsonReader reader_;
  TlpDocument document_;
  Tlp& tlp_ = document_.tlp;
  bool width_is_set_ = false;
};

template <class Iterator>
Json dws_json(Iterator first, Iterator last) {
  Json list = Json::array();
  std::transform(first, last, std::back_inserter(list), json_value::hex_dw);
  return list;
}

void write_prefixes(const Tlp& tlp, Json& json) {
  if (tlp.has_pasid) {
    json["pasid"] = to_int(tlp.pasid);
    json["privileged_mode_requested"] = tlp.privileged_mode_requested;
    json["execute_requested"] = tlp.execute_requested;
  }
  if (tlp.other_prefix_count > 0) {
    const auto* const first = tlp.other_prefixes.begin();
    json["prefixes"] = dws_json(first, first + tlp.other_prefix_count);
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
  for (const TlpField& field : tlp_fields()) {
    if (field.is_of(tlp)) {
      json[field.key] = value_json(field, field.value.get(tlp));
    }
  }
  write_prefixes(tlp, json);
  if (document.has_spare_ohc_a) {
    json["ohc_a"] = true;
  }
  if (has_data(tlp.type)) {
    json["payload"] = json_value::hex_bytes(document.payload);
  }
  if (!document.reserved.empty()) {
    json["reserved"] = dws_json(document.reserved.begin(), document.reserved.end());
  }
  return json;
}

TlpDocument tlp_from_json(const Json& object, const JsonSource& source, TlpForm form) {
  return TlpReader(object, source, form).run();
}

void check_rules(const Tlp& tlp, const JsonSource& source) {
  if (const auto violation = check_format(tlp)) {
    refuse(source, name_of(*violation),
           fmt::format("{}; check=false encodes it all the same", sentence_of(*violation)));
  }
}

}  // namespace flitwise
