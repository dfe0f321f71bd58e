// SPDX-License-Identifier: Apache-2.0
// Commands in registers and in the queue.
#include "iommu/command_unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "iommu/page_requests.h"

namespace flitwise {

CommandUnit::CommandUnit(const IommuConfig& config, const IommuCapabilities& offers, Neighbours all)
    : execution_(config.timing.invalidation),
      offers_(offers),
      all_(all),
      queue_(config.reserved_tail_bit),
      devices_(config.timing.invalidate_timeout, all.events, all.counts) {}

void CommandUnit::apply(const RegisterEffects& effects) {
  if (effects.sets_root_table) {
    all_.registers.latch_root_table();
    all_.translations.invalidate_all();  // ESRTPS
    all_.registers.set_global_status(global_bit::kRootTable, true);
  }
  if (effects.changes_translation) {
    all_.registers.set_global_status(global_bit::kTranslation, effects.enables_translation);
  }
  if (effects.changes_queue && effects.enables_queue) {
    all_.registers.set_queue_head(0);
    all_.registers.set_global_status(global_bit::kQueue, true);
  } else if (effects.changes_queue) {
    is_leaving_ = true;
  }
  if (effects.invalidates_contexts) {
    all_.translations.invalidate(context_command_of(all_.registers.context_command()));
    has_context_command_ = true;
  }
  if (effects.invalidates_iotlb) {
    all_.translations.invalidate(
        iotlb_command_of(all_.registers.iotlb_command(), all_.registers.iotlb_address()));
    has_iotlb_command_ = true;
  }
  if (effects.moves_queue_tail) {
    all_.events.interrupt(queue_.check_tail(all_.registers));
  }
  all_.events.interrupt(effects.interrupt);
  settle();
  fetch();
}

// Commands in registers are done once nothing uses what they invalidated. [IOM-1.8]
void CommandUnit::finish_register_commands() {
  if (has_context_command_) {
    has_context_command_ = false;
    const ContextCacheInvalidation command = context_command_of(all_.registers.context_command());
    all_.registers.finish_context_command(static_cast<unsigned>(command.granularity));
  }
  if (has_iotlb_command_) {
    has_iotlb_command_ = false;
    const IotlbInvalidation command =
        iotlb_command_of(all_.registers.iotlb_command(), all_.registers.iotlb_address());
    all_.registers.finish_iotlb_command(static_cast<unsigned>(command.granularity));
  }
}

// The queue that software turns off ends first what it is at. [IOM-1.4]
void CommandUnit::fetch() {
  if (is_leaving_) {
    if (step_ == Step::kNone && !queue_.is_busy()) {
      is_leaving_ = false;
      all_.registers.set_queue_head(0);
      all_.registers.set_global_status(global_bit::kQueue, false);
    }
    return;
  }
  const std::optional<std::uint64_t> address = queue_.fetch_address(all_.registers);
  if (address && step_ == Step::kNone) {
    step_ = Step::kFetch;
    queue_.fetch_begins();
    asked_bytes_ = all_.registers.invalidation_queue().entry_bytes;
    all_.memory.read(agent_tag::kCommands, *address, asked_bytes_);
  }
}

void CommandUnit::memory_done(const std::uint8_t* bytes, Time when) {
  has_failed_ = bytes == nullptr;
  if (step_ == Step::kFetch && !has_failed_) {
    std::copy(bytes, bytes + asked_bytes_, descriptor_.begin());
  }
  do_at(step_, when);
}

void CommandUnit::do_at(Step step, Time when) {
  step_ = step;
  due_ = when;
  all_.events.wake_at(when);
}

// The step that was under way is over. [IOM-5.10]
void CommandUnit::work(Time now) {
  if (due_ > now) {
    return;
  }
  due_ = Time::never();
  const Step step = step_;
  step_ = Step::kNone;
  switch (step) {
    case Step::kFetch: take_descriptor(now); break;
    case Step::kExecute:
      queue_.carried_out(all_.registers);
      fetch();
      break;
    case Step::kWriteStatus: finish_wait(); break;
    case Step::kNone: break;
  }
}

void CommandUnit::take_descriptor(Time now) {
  if (has_failed_) {
    all_.events.interrupt(queue_.fetch_failed(all_.registers));
    fetch();
    return;
  }
  const InvalidationQueue::Fetched fetched =
      queue_.fetched(descriptor_.data(), offers_, all_.registers);
  all_.events.interrupt(fetched.interrupt);
  if (std::holds_alternative<DescriptorError>(fetched.command)) {
    fetch();  // no more, as long as an error stands
  } else if (std::holds_alternative<InvalidationWait>(fetched.command)) {
    settle();
  } else {
    carry_out(fetched.command, now);
  }
}

// The queue stands while the device has no room for an order. [INV-18] [INV-31]
void CommandUnit::carry_out(const InvalidationDescriptor& command, Time now) {
  if (const auto* of_tlb = std::get_if<DeviceTlbInvalidation>(&command)) {
    devices_.carry_out(*of_tlb, now);
    return sent_to_device(now);
  }
  if (const auto* handles = std::get_if<HandleInvalidation>(&command)) {
    devices_.carry_out(*handles, now);
    return sent_to_device(now);
  }
  if (const auto* group = std::get_if<PageGroupResponse>(&command)) {
    all_.events.respond({kRootComplexId, group->source, group->group, group->code, group->pasid},
                        Time{});
  } else if (!std::holds_alternative<InterruptCacheInvalidation>(command)) {
    all_.translations.invalidate(command);
  }
  do_at(Step::kExecute, now + execution_);
}

void CommandUnit::sent_to_device(Time now) {
  if (devices_.is_holding()) {
    return;
  }
  queue_.sent_to_device();
  all_.events.wake_at(devices_.next_timeout());
  do_at(Step::kExecute, now + execution_);
}

void CommandUnit::send_held(Time now) {
  if (devices_.is_holding()) {
    devices_.send_held(now);
    sent_to_device(now);
  }
}

// An answer without an order, or to another one, sets ICE. [INV-10] [INV-13]
void CommandUnit::answered(Bdf function, DeviceOrders::Answer answer, Time now) {
  if (answer.is_unexpected) {
    all_.registers.set_completion_error_source(function);
    all_.events.interrupt(all_.registers.raise_fault(fault_status::kCompletionError));
  }
  if (answer.orders == 0) {
    return;
  }
  for (unsigned i = 0; i < answer.orders; ++i) {
    ++answers_;
    queue_.device_answered();
  }
  send_held(now);
  settle();
}

// [IQU-07] [INV-20] [DHI D15]
void CommandUnit::expire(Time now) {
  bool has_expired = false;
  while (const std::optional<Bdf> function = devices_.expire(now)) {
    has_expired = true;
    all_.events.interrupt(queue_.device_timed_out(*function, all_.registers));
  }
  if (has_expired) {
    send_held(now);
    fetch();
  }
}

void CommandUnit::settle() {
  const bool has_command = has_context_command_ || has_iotlb_command_;
  const bool may_end_wait =
      step_ == Step::kNone && queue_.wait_is_complete(all_.page_requests.is_drained());
  if ((!has_command && !may_end_wait) || !all_.translations.is_drained()) {
    return;
  }
  finish_register_commands();
  if (!may_end_wait) {
    return;
  }
  const InvalidationWait& wait = queue_.wait();
  if (!wait.writes_status) {
    finish_wait();
    return;
  }
  std::array<std::uint8_t, 8> status{};
  store_u64(status.data(), wait.status);
  step_ = Step::kWriteStatus;
  all_.events.status_is_coming();
  all_.memory.write(agent_tag::kCommands, wait.status_address, status.data(), 4, Time{});
}

void CommandUnit::finish_wait() {
  all_.events.interrupt(queue_.finish_wait(all_.registers));
  fetch();
}

std::string CommandUnit::waiting(const char* at) const {
  return (queue_.is_waiting()
              ? fmt::format("{}: a wait descriptor waits for what was before it\n", at)
              : std::string()) +
         devices_.waiting(at);
}

}  // namespace flitwise
