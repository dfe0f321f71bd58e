// SPDX-License-Identifier: Apache-2.0
// Software's side of the agent: registers, and the queue of invalidation descriptors.
#include <algorithm>
#include <cstring>

#include "iommu/translation_agent.h"

namespace flitwise {
namespace {

/// The same fields as in a descriptor, in CCMD. [IOM-1.8]
ContextCacheInvalidation context_command_of(std::uint64_t command) {
  ContextCacheInvalidation parsed;
  parsed.granularity =
      static_cast<ContextCacheInvalidation::Granularity>(std::max<unsigned>(1, command >> 61 & 3));
  parsed.domain = static_cast<std::uint16_t>(command);
  parsed.source = Bdf{static_cast<std::uint16_t>(command >> 16)};
  parsed.function_mask = static_cast<std::uint8_t>(command >> 32 & 3);
  return parsed;
}

/// In the IOTLB register and IVA. [IOM-1.8]
IotlbInvalidation iotlb_command_of(std::uint64_t command, std::uint64_t address) {
  IotlbInvalidation parsed;
  parsed.granularity =
      static_cast<IotlbInvalidation::Granularity>(std::max<unsigned>(1, command >> 60 & 3));
  parsed.domain = static_cast<std::uint16_t>(command >> 32);
  parsed.address_mask = static_cast<std::uint8_t>(address & 0x3f);
  parsed.leaf_only = (address >> 6 & 1) != 0;
  parsed.address = address & ~std::uint64_t{0xfff};
  return parsed;
}

}  // namespace

void TranslationAgent::write_register(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
  apply(registers_.write(offset, bytes, value));
}

void TranslationAgent::apply(const RegisterEffects& effects) {
  if (effects.sets_root_table) {
    registers_.latch_root_table();
    if (offers_.clears_caches_on_root) {
      caches_.invalidate_all();
      overtake_walks();
    }
    registers_.set_global_status(global_bit::kRootTable, true);
  }
  if (effects.changes_translation) {
    registers_.set_global_status(global_bit::kTranslation, effects.enables_translation);
  }
  if (effects.changes_queue) {
    registers_.set_queue_head(0);
    registers_.set_global_status(global_bit::kQueue, effects.enables_queue);
  }
  if (effects.invalidates_contexts) {
    const ContextCacheInvalidation command = context_command_of(registers_.context_command());
    invalidate(command);
    registers_.finish_context_command(static_cast<unsigned>(command.granularity));
  }
  if (effects.invalidates_iotlb) {
    const IotlbInvalidation command =
        iotlb_command_of(registers_.iotlb_command(), registers_.iotlb_address());
    invalidate(command);
    registers_.finish_iotlb_command(static_cast<unsigned>(command.granularity));
  }
  if (effects.moves_queue_tail) {
    tell(queue_.check_tail(registers_));
  }
  tell(effects.interrupt);
  fetch_descriptor();
}

void TranslationAgent::tell(const std::optional<IommuInterrupt>& interrupt) {
  if (interrupt && hooks_.interrupt) {
    hooks_.interrupt(*interrupt);
  }
}

// What walks under way have read may be what software has just taken back.
void TranslationAgent::overtake_walks() {
  for (Walker& walker : walkers_) {
    walker.is_overtaken = walker.is_busy;
  }
}

bool TranslationAgent::is_drained() const {
  return std::none_of(walkers_.begin(), walkers_.end(),
                      [](const Walker& walker) { return walker.is_busy && walker.is_overtaken; });
}

void TranslationAgent::fetch_descriptor() {
  const std::optional<std::uint64_t> address = queue_.fetch_address(registers_);
  if (address && queue_step_ == QueueStep::kNone) {
    queue_step_ = QueueStep::kFetch;
    read(static_cast<unsigned>(walkers_.size()), *address,
         registers_.invalidation_queue().entry_bytes);
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
    return;
  }
  const InvalidationQueue::Fetched fetched =
      queue_.fetched(descriptor_.data(), offers_, registers_);
  tell(fetched.interrupt);
  if (std::holds_alternative<DescriptorError>(fetched.command)) {
    return;
  }
  if (std::holds_alternative<InvalidationWait>(fetched.command)) {
    try_wait();
    return;
  }
  std::visit([this](const auto& command) { invalidate(command); }, fetched.command);
  queue_step_ = QueueStep::kExecute;
  queue_due_ = now() + config_.timing.invalidation;
  wakeup_.at(queue_due_);
}

// A wait ends once nothing uses what was invalidated before it. [IQU-04] [IQU-06]
void TranslationAgent::try_wait() {
  if (queue_step_ != QueueStep::kNone || !queue_.wait_is_complete(true) || !is_drained()) {
    return;
  }
  const InvalidationWait& wait = queue_.wait();
  if (!wait.writes_status) {
    finish_wait();
    return;
  }
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->tlp.type = TlpType::kMWr;
  packet->tlp.address = wait.status_address;
  packet->tlp.length_dw = 1;
  packet->tlp.first_be = 0xf;
  packet->tlp.tag = static_cast<std::uint16_t>(walkers_.size());
  packet->payload_bytes = 4;
  packet->payload.resize(4);
  for (unsigned i = 0; i < 4; ++i) {
    packet->payload[i] = static_cast<std::uint8_t>(wait.status >> 8 * i);
  }
  queue_step_ = QueueStep::kWriteStatus;
  memory_.submit(*this, std::move(packet), Time{});
}

void TranslationAgent::finish_wait() {
  tell(queue_.finish_wait(registers_));
  fetch_descriptor();
}

}  // namespace flitwise
