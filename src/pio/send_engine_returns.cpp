// SPDX-License-Identifier: Apache-2.0
// Errors and credit returns of the send engine.
#include "pio/send_engine.h"

namespace flitwise {

// An SDMA engine has no credits to give back, and goes on. [PIO-12.34]
void SendEngine::drop(const LaunchedPacket& packet) {
  if (packet.source >= kSendContexts) {
    ++lost_sdma_packets_;
    dropping_engines_ |= 1U << (packet.source - kSendContexts);
    sdma_[packet.source - kSendContexts].note_error();
    if (is_of_ring(packet)) {
      rings_[packet.source - kSendContexts].clear(packet.place);
    }
    return;
  }
  contexts_[packet.source].note_out(true);
  dropped_blocks_ += packet.blocks;
  if (is_of_this_life(packet)) {
    const FreedBlocks freed = contexts_[packet.source].drain(packet.place);
    fail(packet.source, SendError::kDisallowedPacket, causes_of(packet.source, freed));
  }
}

// The one return that an error forces tells of all that is free by then; none follows until the
// context is initialised. [PIO-9.1, 12.8, 12.20]
void SendEngine::fail(unsigned context, SendError error, CreditBits causes) {
  SendContext& failed = contexts_[context];
  errors_[static_cast<unsigned>(error)] += failed.has_error(error) ? 0 : 1;
  if (failed.is_halted()) {
    failed.note_error(error);
    return;
  }
  failed.halt(error);
  note_ready(context);
  return_credits(context, causes | kCreditStatus | kDueToError);
}

void SendEngine::force(unsigned context, bool is_on) {
  SendContext& forced = contexts_[context];
  const bool is_edge = is_on && !forced.is_forced();
  forced.set_force(is_on);
  if (is_edge) {
    return_credits(context,
                   kDueToForce | (forced.meets_threshold() ? kDueToThreshold : CreditBits{0}));
  }
}

// Only what moves the free counter is held against the threshold. [PIO-7.3, 12.6, 12.17]
CreditBits SendEngine::causes_of(unsigned context, const FreedBlocks& freed) const {
  const bool is_enough = freed.blocks > 0 && contexts_[context].meets_threshold();
  return static_cast<CreditBits>((is_enough ? kDueToThreshold : 0U) |
                                 (freed.asks_for_return ? kDueToPbc : 0U));
}

void SendEngine::count_return(CreditBits causes, bool is_early, bool is_write) {
  const auto has = [causes](CreditBits bit) { return (causes & bit) != 0 ? 1U : 0U; };
  const unsigned early = is_early ? has(kDueToThreshold | kDueToPbc) : 0;
  const unsigned threshold = is_early ? 0 : has(kDueToThreshold);
  const unsigned pbc = is_early ? 0 : has(kDueToPbc);
  return_counts_.early += early;
  return_counts_.threshold += threshold;
  return_counts_.pbc += pbc;
  return_counts_.force += has(kDueToForce);
  return_counts_.error += has(kDueToError);
  const unsigned asked = early + threshold + pbc + has(kDueToForce) + has(kDueToError);
  return_counts_.writes += is_write ? 1 : 0;
  return_counts_.coalesced += asked - (is_write ? 1 : 0);
}

void SendEngine::return_credits(unsigned context, CreditBits causes, bool is_early) {
  const SendContext& trigger = contexts_[context];
  const bool may_return =
      (causes & kDueToError) != 0 || (trigger.is_enabled() && !trigger.is_halted());
  const ReturnGroup group = group_of(context, groups_[context / kContextsPerSet]);
  CreditReturn* entry = coalesces_ ? returns_.waiting_for(group.first) : nullptr;
  if (!may_return || (causes == 0 && entry == nullptr)) {
    return;
  }
  unaddressed_returns_ += has_address_[group.first] ? 0 : 1;
  count_return(causes, is_early, entry == nullptr);
  if (entry == nullptr) {
    entry = &returns_.push(group.first);
    entry->context = static_cast<std::uint16_t>(context);
  }
  entry->address = addresses_[group.first];
  write_group(group, context, causes, *entry);
}

// Each member has its place by the low bits of its number, and returns all that it has. A member in
// error keeps the word of its error, others that are disabled have none. [PIO-8.2, 12.10, 12.19]
void SendEngine::write_group(const ReturnGroup& group, unsigned trigger, CreditBits causes,
                             CreditReturn& entry) {
  bool has_other_address = false;
  for (unsigned member = group.first; member < group.first + group.size; ++member) {
    SendContext& context = contexts_[member];
    std::uint64_t& qw = entry.qws[member % kContextsPerSet];
    if (!context.is_enabled() && !context.is_halted()) {
      qw = 0;
      continue;
    }
    const bool has_moved = context.pending() > 0 && !context.is_halted();
    const bool is_trigger = member == trigger;
    qw = context.shown_counter() | (qw & kCreditCauses) | (is_trigger ? causes : 0U) |
         (context.is_halted() ? kCreditStatus | kDueToError : 0U);
    if (context.setup().credit_interrupt && (is_trigger || has_moved)) {
      entry.interrupts |= static_cast<std::uint8_t>(1U << member % kContextsPerSet);
    }
    context.note_return();
    has_other_address |= addresses_[member] != entry.address;
  }
  mixed_address_returns_ += has_other_address ? 1 : 0;
}

}  // namespace flitwise
