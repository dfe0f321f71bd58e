// SPDX-License-Identifier: Apache-2.0
// Lines of a script's answer, and units on a wire as events.
#include "script/script_output.h"

#include <fmt/format.h>

#include <iterator>
#include <variant>

#include "codec/packet_json.h"
#include "cxl/channels.h"
#include "dhi/context_text.h"
#include "dhi/dhi_message.h"
#include "flitwise/flit.h"
#include "scenario/verdict.h"
#include "tlp/message_use.h"
#include "trace/packet_note.h"

namespace flitwise {
namespace {

using json_value::bdf_text;
using json_value::hex_bytes;
using json_value::hex_number;

// A reserved code is taken as UR. [LNK-2.13]
const char* name_of(CplStatus status) {
  return status == CplStatus::kSC    ? "SC"
         : status == CplStatus::kRRS ? "RRS"
         : status == CplStatus::kCA  ? "CA"
                                     : "UR";
}

constexpr const char* kDhiMessages[] = {  // by what stands at that place of DhiMessage
    "dhi_alloc", "dhi_dealloc", "dhi_alloc_ack", "dhi_error",
    "dhi_order", "dhi_done",    "dhi_unreadable"};
static_assert(std::size(kDhiMessages) == std::variant_size_v<DhiMessage>);

std::string name_of_message(const Packet& packet) {
  const Tlp& tlp = packet.tlp;
  if (is_dhi_message(tlp)) {
    return kDhiMessages[parse_dhi_message(tlp, packet.payload.data(), packet.payload.size())
                            .index()];
  }
  const char* const name = message_rule(tlp.message_code).name;
  return name != nullptr ? name : "code_" + hex_number(tlp.message_code);
}

const char* kind_of_flit(const Flit& flit) {
  if (flit.cxl.control != CxlFlitHeader::Control::kNone) {
    return name_of(flit.cxl.control);
  }
  return flit.has_payload ? "Flit" : "NOP_Flit";
}

Json message_fields(const CxlMessage& message) {
  Json fields = {{"type", info_of(message.channel).name}};
  if (const char* opcode = cxl_opcode_name(message.channel, message.opcode)) {
    fields["opcode"] = opcode;
  }
  fields["id"] = message.id;
  fields["address"] = hex_number(message.address);
  if (message.channel == CxlChannel::kH2dRsp) {
    fields["rsp_data"] = message.rsp_data;
  } else if (message.channel == CxlChannel::kD2hReq) {
    fields["identity"] = message.identity;
  } else if (message.channel == CxlChannel::kD2hData) {
    fields["bogus"] = message.bogus;
  } else if (message.channel == CxlChannel::kM2sReq || message.channel == CxlChannel::kM2sRwd) {
    fields["snp_type"] = message.snp_type;
    fields["meta_field"] = message.meta_field;
    fields["meta_value"] = message.meta_value;
  }
  return fields;
}

// The payload of a malformed packet holds its header.
TlpDocument document_of(const Packet& packet) {
  return {packet.tlp, packet.malformed ? std::vector<std::uint8_t>() : packet.payload, {}};
}

}  // namespace

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
  write(token, "memory", {{"addr", hex_number(address)}, {"hex", hex_bytes(bytes)}});
}

void ScriptOutput::data(std::uint32_t token, const std::vector<std::uint8_t>& bytes) {
  write(token, "data", {{"hex", hex_bytes(bytes)}});
}

void ScriptOutput::completion(std::uint32_t token, std::optional<std::uint16_t> tag,
                              CplStatus status, const std::vector<std::uint8_t>& bytes,
                              bool is_poisoned) {
  Json fields = tag ? Json{{"tag", *tag}} : Json::object();
  fields["status"] = name_of(status);
  if (is_poisoned) {
    fields["ep"] = true;
  }
  fields["hex"] = hex_bytes(bytes);
  write(token, "completion", fields);
}

void ScriptOutput::error(std::uint32_t token, const std::string& kind, const std::string& detail) {
  Json fields = {{"kind", kind}};
  if (!detail.empty()) {
    fields["detail"] = detail;
  }
  write(token, "error", fields);
}

void ScriptOutput::bad_value(std::uint32_t token, const std::string& message) {
  write(token, "error", {{"kind", "bad_line"}, {"line", line_of(token)}, {"detail", message}});
}

void ScriptOutput::write(std::uint32_t token, const char* name, const Json& fields) {
  Json line = event(token, name);
  line.update(fields);
  write(line);
}

void ScriptOutput::tell(const Json& line, bool is_shown) {
  const bool ends_wait = awaited_ != nullptr && line.contains("event") && is_awaited(line);
  if (is_shown || ends_wait) {
    write_(line);
  }
}

bool ScriptOutput::is_awaited(const Json& line) {
  Json timed = line;
  timed["t_ns"] = elapsed().ns();
  if (awaited_->pattern.matches(timed)) {
    awaited_->is_seen = true;
    awaited_ = nullptr;
    sc_core::sc_pause();
    return true;
  }
  const std::size_t agreement = awaited_->pattern.agreement(timed);
  if (agreement > awaited_->agreement) {
    awaited_->agreement = agreement;
    awaited_->nearest = std::move(timed);
  }
  return false;
}

void ScriptOutput::missed_event(std::uint32_t token, const AwaitedEvent& awaited, Time waited) {
  std::string nearest = "nothing of the kind was seen";
  if (!awaited.nearest.is_null()) {
    const std::string line = scenario::line_of(awaited.nearest);
    nearest = "nearest: " + line.substr(line.find_first_not_of(' '));
  }
  write(token, "missed_event",
        {{"line", line_of(token)},
         {"detail", fmt::format("{} did not happen within {} ns; {}", awaited.pattern.text(),
                                waited.ns(), nearest)}});
}

void ScriptOutput::missed_fault(const std::string& link, const MissedFault& missed) {
  const WireFault& fault = missed.fault;
  Json fields = Json::object();
  if (fault.token > 0 && fault.token <= operations_.size()) {
    fields["line"] = operations_[fault.token - 1].line;
  }
  fields["link"] = link;
  fields["struck"] = missed.struck;
  fields["detail"] =
      fmt::format("struck {} of {} units from number {} on; may_miss: true allows that",
                  missed.struck, fault.count, fault.nth);
  write(fault.token, "missed_fault", fields);
}

void ScriptOutput::observed(const Observation& observation, std::uint32_t token) {
  const Packet& packet = *observation.packet;
  const std::string what = observation.what;
  const bool is_commit = what == "committed";
  if (is_commit && !shows_commits_ && awaited_ == nullptr) {
    return;
  }
  const bool is_violation = what == "violation" || what == "warning";
  const bool is_event = what == "message" || what == "interrupt" || is_commit || is_violation;
  Json line = event(token, is_event ? observation.what : "error");
  if (is_violation) {
    line["rule"] = observation.detail;
    line["type"] = packet.kind == PacketKind::kCxl ? info_of(packet.cxl->channel).name
                                                   : name_of(packet.tlp.type);
  } else if (what == "message") {
    line["name"] = name_of_message(packet);
  } else if (is_event) {
    line["addr"] = hex_number(packet.tlp.address);
    line["hex"] = hex_bytes(packet.payload);
  } else {
    line["kind"] = what;
    if (*observation.detail != '\0' && what != observation.detail) {
      line["detail"] = observation.detail;
    }
  }
  line["at"] = observation.place;
  line["rid"] = bdf_text(packet.tlp.requester_id);
  if (packet.resolved_context) {
    line["context"] = text_of(packet.resolved_context);
  }
  if (what == "violation") {
    line["packet"] = text_of(packet);
    line["other"] = observation.other;
  }
  tell(line, !is_commit || shows_commits_);
}

void WireWatch::record(const TraceEvent& event) {
  const Packet& packet = *event.packet;
  const bool is_flit = packet.kind == PacketKind::kFlit;
  const bool is_dllp = packet.kind == PacketKind::kDllp;
  const bool is_cxl = packet.kind == PacketKind::kCxl;
  Json line = {{"event", "wire"},
               {"at_ns", output_.since_start(event.first).ns()},
               {"link", link_},
               {"direction", event.is_up ? "up" : "down"},
               {"unit", is_flit   ? "flit"
                        : is_dllp ? "dllp"
                        : is_cxl  ? "cxl"
                                  : "tlp"}};
  if (is_flit) {
    line["type"] = kind_of_flit(*packet.flit);
  }
  if (!is_cxl && !is_dllp) {
    line["seq"] = event.sequence;
  }
  if (!is_dllp) {
    line["replay"] = event.is_replay;
  }
  if (!is_flit && !is_cxl && !is_dllp) {
    line["malformed"] = packet.malformed.has_value();
  }
  line["damaged"] = event.is_damaged;
  line["lost"] = event.is_lost;
  line.update(is_flit   ? Json::object()
              : is_cxl  ? message_fields(*packet.cxl)
              : is_dllp ? json_of(packet.dllp)
                        : json_of(document_of(packet)));
  output_.wire(line);
}

}  // namespace flitwise
