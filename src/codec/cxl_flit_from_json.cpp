// SPDX-License-Identifier: Apache-2.0
// One flit from JSON.
#include "codec/cxl_flit_json.h"

#include <algorithm>

#include "codec/json_reader.h"
#include "common/byte_vector.h"
#include "cxl/message_fields.h"

namespace flitwise {
namespace {

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
    reader_.field("control", [&](const Json& value) { return read_control(value); });
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

  Complaint read_control(const Json& value) {
    std::vector<std::string> names;
    for (const CxlControlInfo& info : kCxlControlFlits) {
      names.emplace_back(info.name);
    }
    std::size_t place = 0;
    Complaint complaint = json_value::read_word(value, names, place);
    if (complaint.empty()) {
      control_ = &kCxlControlFlits[place];
      flit_.control = CxlControl{control_->type, control_->subtype, 0};
    }
    return complaint;
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

CxlFlit cxl_flit_from_json(const Json& object, const JsonSource& source,
                           const CxlFlitCodec& codec) {
  return CxlFlitReader(object, source, codec).read();
}

}  // namespace flitwise
