// SPDX-License-Identifier: Apache-2.0
// Lines of a script's answer.
#include "system/script_output.h"

#include "codec/json_value.h"
#include "cxl/channels.h"
#include "dhi/dhi_message.h"
#include "flitwise/link_socket.h"
#include "monitor/packet_note.h"

namespace flitwise {
namespace {

using json_value::bdf_text;
using json_value::hex_bytes;
using json_value::hex_number;
using Json = nlohmann::ordered_json;

std::string hex(const std::vector<std::uint8_t>& bytes) {
  return hex_bytes(bytes.data(), bytes.size());
}

Json hex_numbers(const std::vector<std::uint64_t>& numbers) {
  Json texts = Json::array();
  for (const std::uint64_t number : numbers) {
    texts.push_back(hex_number(number));
  }
  return texts;
}

const char* name_of(CplStatus status) {
  switch (status) {
    case CplStatus::kSC:
      return "SC";
    case CplStatus::kUR:
      return "UR";
    case CplStatus::kRRS:
      return "RRS";
    case CplStatus::kCA:
      return "CA";
  }
  return "UR";  // a reserved code is taken as UR [LNK-2.13]
}

struct DhiMessageName {
  const char* operator()(const AllocMessage&) const { return "dhi_alloc"; }
  const char* operator()(const DeallocMessage&) const { return "dhi_dealloc"; }
  const char* operator()(const AllocAckMessage&) const { return "dhi_alloc_ack"; }
  const char* operator()(const HandleErrorMessage&) const { return "dhi_error"; }
  const char* operator()(const DeallocOrder&) const { return "dhi_order"; }
  const char* operator()(const DeallocDone&) const { return "dhi_done"; }
  const char* operator()(DhiMessageError) const { return "dhi_unreadable"; }
};

std::string name_of_message(const Packet& packet) {
  const Tlp& tlp = packet.tlp;
  if (is_dhi_message(tlp)) {
    return std::visit(DhiMessageName(),
                      parse_dhi_message(tlp, packet.payload.data(), packet.payload.size()));
  }
  switch (tlp.message_code) {
    case msg::kInvalidateRequest:
      return "invalidate_request";
    case msg::kInvalidateCompletion:
      return "invalidate_completion";
    case msg::kPageRequest:
      return "page_request";
    case msg::kPrgResponse:
      return "prg_response";
    case msg::kErrCor:
      return "err_cor";
    case msg::kErrNonFatal:
      return "err_nonfatal";
    case msg::kErrFatal:
      return "err_fatal";
    case msg::kPmPme:
      return "pm_pme";
    case msg::kPmeTurnOff:
      return "pme_turn_off";
    case msg::kPmeToAck:
      return "pme_to_ack";
    case msg::kPmActiveStateNak:
      return "pm_active_state_nak";
    case msg::kUnlock:
      return "unlock";
    case msg::kSetSlotPowerLimit:
      return "set_slot_power_limit";
    case msg::kVendorType0:
      return "vendor_type_0";
    case msg::kVendorType1:
      return "vendor_type_1";
    default:
      return "code_" + hex_number(tlp.message_code);
  }
}

}  // namespace

void ScriptOutput::start() {
  start_ = now();
}

Time ScriptOutput::elapsed() const {
  return now() - start_;
}

std::uint32_t ScriptOutput::begin(const Json& id, int line) {
  operations_.push_back({id, line});
  return static_cast<std::uint32_t>(operations_.size());
}

Json ScriptOutput::event(std::uint32_t token, const char* name) const {
  Json line = {{"event", name}};
  if (token > 0 && token <= operations_.size() && !operations_[token - 1].id.is_null()) {
    line["id"] = operations_[token - 1].id;
  }
  return line;
}

void ScriptOutput::done(std::uint32_t token) {
  write({{"done", token > 0 ? operations_[token - 1].id : Json()}, {"t_ns", elapsed().ns()}});
}

void ScriptOutput::memory(std::uint32_t token, std::uint64_t address,
                          const std::vector<std::uint8_t>& bytes) {
  Json line = event(token, "memory");
  line["addr"] = hex_number(address);
  line["hex"] = hex(bytes);
  write(line);
}

void ScriptOutput::data(std::uint32_t token, const std::vector<std::uint8_t>& bytes) {
  Json line = event(token, "data");
  line["hex"] = hex(bytes);
  write(line);
}

void ScriptOutput::completion(std::uint32_t token, std::optional<std::uint16_t> tag,
                              CplStatus status, const std::vector<std::uint8_t>& bytes,
                              bool is_poisoned) {
  Json line = event(token, "completion");
  if (tag) {
    line["tag"] = *tag;
  }
  line["status"] = name_of(status);
  if (is_poisoned) {
    line["ep"] = true;
  }
  line["hex"] = hex(bytes);
  write(line);
}

void ScriptOutput::error(std::uint32_t token, const std::string& kind, const std::string& detail) {
  Json line = event(token, "error");
  line["kind"] = kind;
  if (!detail.empty()) {
    line["detail"] = detail;
  }
  write(line);
}

void ScriptOutput::bad_value(std::uint32_t token, const std::string& message) {
  Json line = event(token, "error");
  line["kind"] = "bad_line";
  line["line"] = operations_[token - 1].line;
  line["detail"] = message;
  write(line);
}

void ScriptOutput::handle(std::uint32_t token, const HandleOp& op, const DeviceIdentity* identity) {
  Json line = event(token, "handle");
  line["end"] = op.is_host ? "host" : "device";
  line["dhi"] = op.dhi;
  line["valid"] = identity != nullptr;
  if (identity != nullptr) {
    line["bdf"] = bdf_text(identity->bdf);
    if (identity->pasid) {
      line["pasid"] = to_int(*identity->pasid);
    }
  }
  write(line);
}

void ScriptOutput::result(std::uint32_t token, const std::string& path, const Json& value) {
  Json line = event(token, "result");
  line["path"] = path;
  line["value"] = value;
  write(line);
}

void ScriptOutput::frame(std::uint32_t token, const FrameOp& op,
                         const std::vector<std::uint8_t>& bytes) {
  Json line = event(token, "frame");
  line["unit"] = op.is_dllp ? "dllp" : "tlp";
  line["hex"] = hex(bytes);
  write(line);
}

void ScriptOutput::unframed(std::uint32_t token, const UnframeOp& op, const FrameResult& result) {
  Json line = event(token, "frame");
  line["unit"] = op.is_dllp ? "dllp" : "tlp";
  if (!op.is_dllp) {
    line["seq"] = result.sequence;
    line["nullified"] = result.is_nullified;
  }
  line["hex"] = hex_bytes(op.bytes.data() + result.offset, result.bytes);
  write(line);
}

void ScriptOutput::write(std::uint32_t token, const char* name, const Json& fields) {
  Json line = event(token, name);
  line.update(fields);
  write(line);
}

void ScriptOutput::register_value(std::uint32_t token, unsigned bytes, std::uint64_t value) {
  std::vector<std::uint8_t> in_memory;
  for (unsigned i = 0; i < bytes; ++i) {
    in_memory.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  }
  Json line = event(token, "data");
  line["hex"] = hex(in_memory);
  line["value"] = hex_number(value);
  write(line);
}

void ScriptOutput::mapped(std::uint32_t token, const MappedEntries& entries) {
  Json line = event(token, "mapped");
  line["root_table"] = hex_number(entries.root_table);
  line["root_entry"] = hex_number(entries.root);
  line["context_entry"] = hex_number(entries.context);
  line["pasid_directory_entry"] = hex_number(entries.pasid_directory);
  line["pasid_entry"] = hex_number(entries.pasid);
  line["first_stage"] = hex_numbers(entries.first_stage);
  line["second_stage"] = hex_numbers(entries.second_stage);
  write(line);
}

void ScriptOutput::permitted(std::uint32_t token, const GrantedEntries& entries) {
  Json line = event(token, "permitted");
  line["pointer"] = hex_number(entries.pointer);
  line["words"] = hex_numbers(entries.words);
  write(line);
}

void ScriptOutput::fault(std::uint32_t token, const FaultRecord& record) {
  Json line = event(token, "fault");
  line["code"] = hex_number(record.code);
  line["rid"] = bdf_text(record.source);
  line["pasid"] = record.pasid ? Json(to_int(*record.pasid)) : Json();
  line["addr"] = hex_number(record.address);
  write(line);
}

void ScriptOutput::interrupt(const IommuInterrupt& interrupt) {
  std::vector<std::uint8_t> data;
  for (unsigned i = 0; i < 4; ++i) {
    data.push_back(static_cast<std::uint8_t>(interrupt.data >> 8 * i));
  }
  Json line = event(0, "interrupt");
  line["addr"] = hex_number(interrupt.address);
  line["hex"] = hex(data);
  line["at"] = "iommu0";
  write(line);
}

void ScriptOutput::missed_fault(const std::string& link, const MissedFault& missed) {
  const WireFault& fault = missed.fault;
  Json line = event(fault.token, "missed_fault");
  if (fault.token > 0 && fault.token <= operations_.size()) {
    line["line"] = operations_[fault.token - 1].line;
  }
  line["link"] = link;
  line["struck"] = missed.struck;
  line["detail"] = "struck " + std::to_string(missed.struck) + " of " +
                   std::to_string(fault.count) + " units from number " + std::to_string(fault.nth) +
                   " on; may_miss: true allows that";
  write(line);
}

void ScriptOutput::observed(const Observation& observation) {
  const Packet& packet = *observation.packet;
  const std::string what = observation.what;
  const bool is_commit = what == "committed";
  if (is_commit && !shows_commits_) {
    return;
  }
  const bool is_violation = what == "violation" || what == "warning";
  const bool is_event = what == "message" || what == "interrupt" || is_commit || is_violation;
  Json line = event(packet.request, is_event ? observation.what : "error");
  if (is_violation) {
    line["rule"] = observation.detail;
    line["type"] = packet.kind == PacketKind::kCxl ? info_of(packet.cxl->channel).name
                                                   : name_of(packet.tlp.type);
  } else if (what == "message") {
    line["name"] = name_of_message(packet);
  } else if (is_event) {
    line["addr"] = hex_number(packet.tlp.address);
    line["hex"] = hex(packet.payload);
  } else {
    line["kind"] = what;
    if (*observation.detail != '\0' && what != observation.detail) {
      line["detail"] = observation.detail;
    }
  }
  line["at"] = observation.place;
  line["rid"] = bdf_text(packet.tlp.requester_id);
  if (what == "violation") {
    line["packet"] = text_of(packet);
    line["other"] = observation.other;
  }
  write(line);
}

}  // namespace flitwise
