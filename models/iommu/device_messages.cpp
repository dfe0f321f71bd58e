// SPDX-License-Identifier: Apache-2.0
// The agent's messages with devices: invalidations of their TLBs, and answers to page requests.
#include <algorithm>

#include "ats/ats_messages.h"
#include "iommu/translation_agent.h"

namespace flitwise {
namespace {

InvalidateRequest request_of(const DeviceTlbInvalidation& command, std::uint8_t itag) {
  const DecodedRange decoded = decode_range(command.address, command.is_sized);
  InvalidateRequest request;
  request.agent = kRootComplexId;
  request.function = command.source;
  request.itag = itag;
  request.range = decoded.range;
  request.is_undefined = decoded.is_undefined;
  request.is_global = command.all_pasids;
  request.pasid = command.pasid;
  return request;
}

}  // namespace

// The ITag is what limits them: the queue stands until the function has room. [INV-18] [INV-31]
void TranslationAgent::carry_out(const DeviceTlbInvalidation& command) {
  std::optional<unsigned> function = device_tlbs_.index_of(command.source);
  if (!function) {
    function = device_tlbs_.add_function(command.source, command.queue_depth);
  }
  device_tlbs_.set_depth(*function, command.queue_depth);
  if (!device_tlbs_.can_send(*function)) {
    if (!held_) {
      ++counts_.held_back;
      device_tlbs_.note_held_back(*function);
    }
    held_ = command;
    return;
  }
  held_.reset();
  ++counts_.invalidations;
  ++counts_.device_invalidations;
  const std::uint8_t itag = device_tlbs_.send(*function, 0, now());
  wakeup_.at(*device_tlbs_.next_deadline());
  queue_.sent_to_device();
  std::array<std::uint8_t, kInvalidateBodyBytes> body{};
  send(invalidate_request_tlp(request_of(command, itag), body.data()), body.data(), body.size(),
       Time{});
}

void TranslationAgent::send_held_invalidation() {
  if (!held_) {
    return;
  }
  const auto command = *held_;
  std::visit([this](const auto& one) { carry_out(one); }, command);
  if (!held_) {
    queue_step_ = QueueStep::kExecute;
    queue_due_ = now() + config_.timing.invalidation;
    wakeup_.at(queue_due_);
  }
}

// A function that cannot be reached gets no message. [IQU-13]
void TranslationAgent::carry_out(const PageGroupResponse& command) {
  PrgResponse response;
  response.agent = kRootComplexId;
  response.function = command.source;
  response.prg_index = command.group;
  response.code = command.code;
  response.pasid = command.pasid;
  respond(response, Time{});
}

void TranslationAgent::send(const Tlp& message, const std::uint8_t* body, std::size_t bytes,
                            Time delay) {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->tlp = message;
  packet->counts = false;
  packet->payload.assign(body, body + bytes);
  if (send_) {
    send_(std::move(packet), delay);
  }
}

void TranslationAgent::receive(const Packet& message) {
  const Tlp& tlp = message.tlp;
  if (tlp.type != TlpType::kMsg) {
    return;
  }
  if (tlp.message_code == msg::kInvalidateCompletion) {
    complete_invalidation(invalidate_completion_of(tlp));
  } else if (tlp.message_code == msg::kPageRequest) {
    page_requests_.receive(page_request_of(tlp), message.request);
  }
}

// An answer without a request, or to another one, sets ICE. [INV-10] [INV-13]
void TranslationAgent::complete_invalidation(const InvalidateCompletion& completion) {
  const CompletionReport report = device_tlbs_.complete(completion);
  if ((report.unexpected | report.mismatched) != 0) {
    complaint_about(completion.function);
  }
  for (std::uint32_t left = report.retired; left != 0; left &= left - 1) {
    device_answered();
  }
  if (report.retired != 0) {
    send_held_invalidation();
    settle();
  }
}

void TranslationAgent::complaint_about(Bdf function) {
  registers_.set_completion_error_source(function);
  tell(registers_.raise_fault(fault_status::kCompletionError));
}

void TranslationAgent::device_answered() {
  ++invalidations_answered_;
  queue_.device_answered();
}

Time TranslationAgent::next_timeout() const {
  return std::min(device_tlbs_.next_deadline().value_or(Time::never()),
                  handle_orders_.next_deadline().value_or(Time::never()));
}

// [IQU-07] [INV-20] [DHI D15]
void TranslationAgent::expire_invalidations() {
  bool has_expired = false;
  while (const std::optional<InvalidationSender::Expired> expired = device_tlbs_.expire(now())) {
    has_expired = true;
    tell(queue_.device_timed_out(device_tlbs_.id_of(expired->function), registers_));
  }
  while (const std::optional<DeallocSender::Order> expired = handle_orders_.expire(now())) {
    has_expired = true;
    tell(queue_.device_timed_out(expired->function, registers_));
  }
  if (has_expired) {
    send_held_invalidation();
    fetch_descriptor();
  }
}

void TranslationAgent::check_context(TranslationClient& client, std::uint64_t ticket,
                                     const WalkRequest& request, std::uint32_t token) {
  translate(client, ticket, request, token, Time{});
}

// Of a PASID whose entry is not known here, no domain is known either: then the page goes for all.
void TranslationAgent::forget_page(const PageRequest& request, Pasid pasid) {
  if (const PasidEntry* const entry = caches_.find_pasid(request.function, pasid)) {
    caches_.invalidate_page(entry->domain, pasid, request.page);
  } else {
    caches_.invalidate_page(request.page);
  }
}

void TranslationAgent::write_record(std::uint64_t address, const PageRequestRecord& record,
                                    Time delay) {
  write_memory(Reader::kPageRecord, address, record.data(), kPageRequestRecordBytes, delay);
}

void TranslationAgent::respond(const PrgResponse& response, Time delay) {
  send(prg_response_tlp(response), nullptr, 0, delay);
}

void TranslationAgent::interrupt(const IommuInterrupt& interrupt) {
  tell(interrupt);
}

}  // namespace flitwise
