// SPDX-License-Identifier: Apache-2.0
// Order, waiting and errors of the invalidation queue.
#include "iommu/invalidation_queue.h"

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

}  // namespace flitwise
