// SPDX-License-Identifier: Apache-2.0
// Software's side of the agent: registers, and the queue of invalidation descriptors.
#include <algorithm>
#include <cstring>

#include "iommu/translation_agent.h"

namespace flitwise {
void TranslationAgent::write_register(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
  apply(registers_.write(offset, bytes, value));
}

void TranslationAgent::apply(const RegisterEffects& effects) {
  if (effects.sets_root_table) {
    registers_.latch_root_table();
    if (offers_.clears_caches_on_root) {
      caches_.invalidate_all();
      permissions_.invalidate_all();
      overtake_walks();
    }
    registers_.set_global_status(global_bit::kRootTable, true);
  }
  if (effects.changes_translation) {
    registers_.set_global_status(global_bit::kTranslation, effects.enables_translation);
  }
  if (effects.changes_queue && effects.enables_queue) {
    registers_.set_queue_head(0);
    registers_.set_global_status(global_bit::kQueue, true);
  } else if (effects.changes_queue) {
    is_queue_leaving_ = true;
  }
  if (effects.invalidates_contexts) {
    invalidate(context_command_of(registers_.context_command()));
    has_context_command_ = true;
  }
  if (effects.invalidates_iotlb) {
    invalidate(iotlb_command_of(registers_.iotlb_command(), registers_.iotlb_address()));
    has_iotlb_command_ = true;
  }
  if (effects.moves_queue_tail) {
    tell(queue_.check_tail(registers_));
  }
  tell(effects.interrupt);
  settle();
  fetch_descriptor();
}

void TranslationAgent::tell(const std::optional<IommuInterrupt>& interrupt) {
  for (const Hooks& hooks : hooks_) {
    if (interrupt && hooks.interrupt) {
      hooks.interrupt(*interrupt);
    }
  }
}

// What walks under way have read may be what software has just taken back.
void TranslationAgent::overtake_walks() {
  for (Walker& walker : walkers_) {
    walker.is_overtaken = walker.is_busy;
    walker.is_shared = false;
  }
  for (TranslationClient* const client : clients_) {
    client->invalidated();
  }
}

bool TranslationAgent::is_drained() const {
  return std::none_of(walkers_.begin(), walkers_.end(),
                      [](const Walker& walker) { return walker.is_busy && walker.is_overtaken; }) &&
         std::all_of(clients_.begin(), clients_.end(),
                     [](const TranslationClient* client) { return client->is_drained(); });
}

// Commands in registers are done once nothing uses what they invalidated. [IOM-1.8]
void TranslationAgent::finish_register_commands() {
  if (has_context_command_) {
    has_context_command_ = false;
    const ContextCacheInvalidation command = context_command_of(registers_.context_command());
    registers_.finish_context_command(static_cast<unsigned>(command.granularity));
  }
  if (has_iotlb_command_) {
    has_iotlb_command_ = false;
    const IotlbInvalidation command =
        iotlb_command_of(registers_.iotlb_command(), registers_.iotlb_address());
    registers_.finish_iotlb_command(static_cast<unsigned>(command.granularity));
  }
}

// The queue that software turns off ends first what it is at. [IOM-1.4]
void TranslationAgent::leave_queue() {
  if (queue_step_ == QueueStep::kNone && !queue_.is_busy()) {
    is_queue_leaving_ = false;
    registers_.set_queue_head(0);
    registers_.set_global_status(global_bit::kQueue, false);
  }
}

void TranslationAgent::fetch_descriptor() {
  if (is_queue_leaving_) {
    leave_queue();
    return;
  }
  const std::optional<std::uint64_t> address = queue_.fetch_address(registers_);
  if (address && queue_step_ == QueueStep::kNone) {
    queue_step_ = QueueStep::kFetch;
    queue_.fetch_begins();
    read(tag_of(Reader::kQueue), *address, registers_.invalidation_queue().entry_bytes);
  }
}

void TranslationAgent::queue_memory_done(const MemoryTransaction& transaction, Time when) {
  queue_read_failed_ = !transaction.is_response_ok();
  if (queue_step_ == QueueStep::kFetch && !queue_read_failed_) {
    std::memcpy(descriptor_.data(), transaction.data.data(), transaction.get_data_length());
  }
  queue_due_ = when;
  wakeup_.at(when);
}

// The step that was under way is over. [IOM-5.10]
void TranslationAgent::continue_queue() {
  const QueueStep step = queue_step_;
  queue_step_ = QueueStep::kNone;
  switch (step) {
    case QueueStep::kFetch:
      take_descriptor();
      break;
    case QueueStep::kExecute:
      queue_.carried_out(registers_);
      fetch_descriptor();
      break;
    case QueueStep::kWriteStatus:
      finish_wait();
      break;
    case QueueStep::kNone:
      break;
  }
}

void TranslationAgent::take_descriptor() {
  if (queue_read_failed_) {
    tell(queue_.fetch_failed(registers_));
    fetch_descriptor();
    return;
  }
  const InvalidationQueue::Fetched fetched =
      queue_.fetched(descriptor_.data(), offers_, registers_);
  tell(fetched.interrupt);
  if (std::holds_alternative<DescriptorError>(fetched.command)) {
    fetch_descriptor();  // no more, as long as an error stands
    return;
  }
  if (std::holds_alternative<InvalidationWait>(fetched.command)) {
    settle();
    return;
  }
  std::visit([this](const auto& command) { carry_out(command); }, fetched.command);
  if (held_) {
    return;
  }
  queue_step_ = QueueStep::kExecute;
  queue_due_ = now() + config_.timing.invalidation;
  wakeup_.at(queue_due_);
}

// A command in registers, or a wait, ends once nothing uses what was invalidated before it.
// [IOM-1.8] [IQU-04] [IQU-06]
void TranslationAgent::settle() {
  const bool has_command = has_context_command_ || has_iotlb_command_;
  const bool may_end_wait =
      queue_step_ == QueueStep::kNone && queue_.wait_is_complete(page_requests_.is_drained());
  if ((!has_command && !may_end_wait) || !is_drained()) {
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
  std::array<std::uint8_t, 4> status{};
  for (unsigned i = 0; i < status.size(); ++i) {
    status[i] = static_cast<std::uint8_t>(wait.status >> 8 * i);
  }
  queue_step_ = QueueStep::kWriteStatus;
  for (const Hooks& hooks : hooks_) {
    if (hooks.status) {
      hooks.status();
    }
  }
  write_memory(Reader::kQueue, wait.status_address, status.data(), 4, Time{});
}

void TranslationAgent::write_memory(Reader writer, std::uint64_t address, const std::uint8_t* bytes,
                                    unsigned count, Time delay) {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->tlp.type = TlpType::kMWr;
  packet->tlp.address = address;
  packet->tlp.length_dw = static_cast<std::uint16_t>(count / 4);
  packet->tlp.first_be = 0xf;
  packet->tlp.last_be = count > 4 ? 0xf : 0;
  packet->tlp.tag = tag_of(writer);
  packet->payload_bytes = count;
  packet->payload.assign(bytes, bytes + count);
  memory_.submit(*this, std::move(packet), delay);
}

void TranslationAgent::finish_wait() {
  tell(queue_.finish_wait(registers_));
  fetch_descriptor();
}

}  // namespace flitwise
