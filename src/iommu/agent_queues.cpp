// SPDX-License-Identifier: Apache-2.0
// Order, waiting and errors of invalidations; records of page requests and the policy of their
// queue.
#include "iommu/agent_queues.h"

#include "iommu/entries.h"
#include "iommu/word_fields.h"

namespace flitwise {

namespace {
constexpr std::uint32_t kStopped = fault_status::kQueueError | fault_status::kTimeout;
}

std::optional<IommuInterrupt> InvalidationQueue::stop(DescriptorError error,
                                                      IommuRegisters& registers) {
  was_stopped_ = true;
  registers.set_queue_error(static_cast<unsigned>(error));
  return registers.raise_fault(fault_status::kQueueError);
}

std::optional<IommuInterrupt> InvalidationQueue::check_tail(IommuRegisters& registers) {
  const QueueView queue = registers.invalidation_queue();
  const bool is_inside = queue.tail < queue.bytes;
  const bool is_accepted =
      is_inside && (registers.queue_tail_is_valid() || tail_bit_ == ReservedTailBit::kIgnored);
  return is_accepted ? std::nullopt : stop(DescriptorError::kInvalidTail, registers);
}

std::optional<std::uint64_t> InvalidationQueue::fetch_address(
    const IommuRegisters& registers) const {
  const QueueView queue = registers.invalidation_queue();
  const bool is_stopped = (registers.fault_status() & kStopped) != 0;
  const bool is_idle = is_at_work_ || is_waiting_ || is_stopped || queue.head == queue.tail ||
                       queue.tail >= queue.bytes;
  return is_idle || !registers.queue_is_enabled()
             ? std::nullopt
             : std::optional<std::uint64_t>(queue.base + queue.head);
}

InvalidationQueue::Fetched InvalidationQueue::fetched(const std::uint8_t* bytes,
                                                      const IommuCapabilities& offers,
                                                      IommuRegisters& registers) {
  const bool is_wide = registers.invalidation_queue().entry_bytes == 32;
  Fetched result{parse_descriptor(bytes, is_wide, offers), std::nullopt};
  if (was_stopped_) {
    if (has_timed_out_ && std::holds_alternative<InvalidationWait>(result.command)) {
      advance(registers);
    }
    result.command = DescriptorError::kStopped;
    return result;
  }
  if (const auto* error = std::get_if<DescriptorError>(&result.command)) {
    result.interrupt = stop(*error, registers);
  } else if (const auto* wait = std::get_if<InvalidationWait>(&result.command)) {
    wait_ = *wait;
    is_waiting_ = true;
  } else {
    is_at_work_ = true;
  }
  return result;
}

void InvalidationQueue::advance(IommuRegisters& registers) {
  const QueueView queue = registers.invalidation_queue();
  registers.set_queue_head(queue.after(queue.head));
}

void InvalidationQueue::carried_out(IommuRegisters& registers) {
  is_at_work_ = false;
  advance(registers);
}

std::optional<IommuInterrupt> InvalidationQueue::device_timed_out(Bdf source,
                                                                  IommuRegisters& registers) {
  --outstanding_;
  was_stopped_ = has_timed_out_ = true;
  if (is_waiting_) {
    is_waiting_ = false;
    advance(registers);
  }
  registers.set_timeout_source(source);
  return registers.raise_fault(fault_status::kTimeout);
}

std::optional<IommuInterrupt> InvalidationQueue::finish_wait(IommuRegisters& registers) {
  is_waiting_ = false;
  advance(registers);
  return wait_.interrupts ? registers.raise_invalidation() : std::nullopt;
}

namespace {

constexpr std::uint64_t kRecordType = 1;  // of the lowest byte
constexpr WordField<PageRequest> kRecordFields[] = {
    {0, 16, 16, field_access<&PageRequest::function>},
    {0, 32, 20, kPasidOrNone<PageRequest>},
    {0, 8, 1, kHasPasid<PageRequest>},
    {0, 52, 1, field_access<&PageRequest::execute>},
    {0, 53, 1, field_access<&PageRequest::privileged>},
    {1, 0, 1, field_access<&PageRequest::read>},
    {1, 1, 1, field_access<&PageRequest::write>},
    {1, 2, 1, field_access<&PageRequest::is_last>},
    {1, 3, 9, field_access<&PageRequest::prg_index>},
    {1, 12, 52, kBitsAbove<PageRequest, &PageRequest::page, 12>},
};

}  // namespace

PageRequestRecord encode_page_request(const PageRequest& request) {
  const WordPair words = words_of(request, kRecordFields);
  PageRequestRecord record{};
  store_u64(record.data(), words[0] | kRecordType);
  store_u64(record.data() + 8, words[1]);
  return record;
}

std::optional<PageRequest> decode_page_request(const std::uint8_t* record) {
  const WordPair words{load_u64(record), load_u64(record + 8)};
  return (words[0] & 0xffU) == kRecordType ? std::optional(read_fields(words, kRecordFields))
                                           : std::nullopt;
}

std::optional<PrgCode> PageRequestQueue::refuse(const PageRequest& request) {
  ++dropped_;
  return overflow_ == PageRequestOverflow::kRespondSuccess ? answer_to(request, PrgCode::kSuccess)
                                                           : std::nullopt;
}

PageRequestQueue::Admission PageRequestQueue::admit(const PageRequest& request, bool is_enabled,
                                                    IommuRegisters& registers) {
  if (!is_enabled) {
    return {{}, answer_to(request, PrgCode::kResponseFailure)};
  }
  if (!request.read && !request.write && !request.is_stop_marker()) {
    return {{}, answer_to(request, PrgCode::kInvalidRequest)};
  }
  const auto status = static_cast<std::uint32_t>(registers.read(iommu_register::kPrs, 4));
  if ((status & page_request_status::kOverflow) != 0) {
    return {{}, refuse(request)};
  }
  const QueueView queue = registers.page_request_queue();
  const std::uint32_t slot = (queue.tail + in_flight_ * queue.entry_bytes) % queue.bytes;
  if (queue.after(slot) == queue.head) {
    return {{}, refuse(request), registers.raise_page_request(page_request_status::kOverflow)};
  }
  ++in_flight_;
  return {queue.base + slot};
}

void PageRequestQueue::take_slot(IommuRegisters& registers) {
  --in_flight_;
  const QueueView queue = registers.page_request_queue();
  registers.set_page_request_tail(queue.after(queue.tail));
}

std::optional<IommuInterrupt> PageRequestQueue::written(IommuRegisters& registers) {
  take_slot(registers);
  return registers.raise_page_request(page_request_status::kPending);
}

std::optional<PrgCode> PageRequestQueue::write_failed(const PageRequest& request,
                                                      IommuRegisters& registers) {
  take_slot(registers);  // spent all the same, so that those behind it keep theirs
  return answer_to(request, PrgCode::kResponseFailure);
}

bool PageRequestQueue::is_drained(const IommuRegisters& registers) const {
  const QueueView queue = registers.page_request_queue();
  return in_flight_ == 0 && queue.head == queue.tail;
}

}  // namespace flitwise
