// SPDX-License-Identifier: Apache-2.0
// One root port.
#include "root_complex/root_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "tlp/interrupt.h"
#include "tlp/splitter.h"

namespace flitwise {
namespace {

constexpr std::size_t kOutboxDepth = 64;
// model: answers that may wait to go down; beyond it requests keep their receive buffers, so that a
// flood of reads runs out of credits. More than all tags of a device can ask for at once.
constexpr std::size_t kMostAnswers = 16384;

TlpLimits limits_of(const Config& config) {
  TlpLimits limits;
  limits.mps = static_cast<unsigned>(config.link.mps);
  limits.has_pasid = config.host.pasid;
  limits.has_translated_pasid = config.host.translated_pasid;
  return limits;
}

bool lies_in(const Tlp& tlp, std::uint64_t address, std::uint64_t base, std::uint64_t size) {
  const std::uint64_t bytes = tlp.length_dw * 4U;
  return address >= base && address - base < size && bytes <= size - (address - base);
}

}  // namespace

RootPort::RootPort(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
                   MemoryPort& memory, HostHandles& handles, LatencyTracer& tracer)
    : ComponentModule(name),
      config_(config),
      form_{config.link.identity, config.link.dhi_form, config.device.dhi.bits},
      handle_is_requester_id_(config.link.dhi_form == DhiForm::kRidDirect ||
                              config.link.dhi_form == DhiForm::kRidFabric),
      limits_(limits_of(config)),
      sizer_(config.link, config.message, config.device.dhi.bits),
      pool_(pool),
      memory_(memory),
      tracer_(tracer),
      devices_{{{0, 255},
                &handles,
                config.device.dhi.alloc_order == AllocOrder::kAck,
                config.device.atc.stu}},
      checks_grants_(handles.checks_grants()),
      checks_windows_(config.host.dma_window.size != 0 || config.host.trusted_window.size != 0),
      posted_(kOutboxDepth),
      nonposted_(kOutboxDepth),
      completions_(kOutboxDepth),
      buffers_wakeup_("buffers", config.host.timing.clock),
      completions_to_drop_(config.faults.drop_completions),
      breaks_completion_(config.faults.breaks(BrokenRule::kCompletion)) {
  from_link.register_nb_transport_fw(this, &RootPort::receive, 0);
  to_link.register_nb_transport_bw(this, &RootPort::link_has_room, 0);
  buffers_wakeup_.wakes("release_buffers_process", [this] { release_buffers(); });
}

// A flood of reads runs out of credits, not of memory.
void RootPort::hold_behind_answers(Packet& packet) {
  holds_buffer_ = true;
  unanswered_.emplace_back(&packet);
}

void RootPort::release_answered() {
  while (!unanswered_.empty() && completions_.size() < kMostAnswers) {
    const PacketRef packet = std::move(unanswered_.front());
    unanswered_.pop_front();
    release(*packet);
  }
}

tlm::tlm_sync_enum RootPort::link_has_room(int /*id*/, Packet& /*packet*/,
                                           tlm::tlm_phase& /*phase*/, sc_core::sc_time& /*delay*/) {
  for (Outbox* const outbox : {&posted_, &nonposted_, &completions_}) {
    outbox->drain([this](const Outbox::Entry& entry) {
      return hand_over(to_link, *entry.packet, entry.ready);
    });
  }
  if (!unanswered_.empty()) {
    release_answered();
  }
  return tlm::TLM_COMPLETED;
}

// In one piece, with to_memory(): every request comes this way.
[[gnu::flatten]] tlm::tlm_sync_enum RootPort::receive(int /*id*/, Packet& packet,
                                                      tlm::tlm_phase& /*phase*/,
                                                      sc_core::sc_time& /*delay*/) {
  ++counters_.received;
  holds_buffer_ = false;
  packet_received_ = &packet;
  take(packet, now());
  packet_received_ = nullptr;
  if (completions_.size() >= kMostAnswers && !holds_buffer_ &&
      fc_class(packet.tlp.type) == FcClass::kNonPosted) {
    hold_behind_answers(packet);
  }
  return holds_buffer_ ? tlm::TLM_UPDATED : tlm::TLM_COMPLETED;
}

// Handles are looked up on arrival, so that messages about them count from then on. [DHI D8]
bool RootPort::waits_for_translations(const Tlp& tlp) {
  return is_completion(tlp.type) || (is_message(tlp.type) && !is_dhi_message(tlp));
}

void RootPort::take(Packet& packet, Time t) {
  const Tlp& tlp = packet.tlp;
  const std::optional<TlpViolation> violation =
      packet.malformed ? packet.malformed : check_tlp(tlp, limits_);
  if (violation && is_malformed(*violation)) {
    refuse_malformed(packet, *violation);
  } else if (packet.has_bad_ecrc && checks_ecrc_) {
    drop(packet, "ecrc_check_failed", "ecrc_check_failed");  // [LNK-12.7]
    report(cfg::aer::Uncorrectable::kEcrc, packet);
  } else if (stage_ && stage_->has_posted() && waits_for_translations(tlp)) {
    holds_buffer_ = true;
    TranslationStage::Entry entry;
    entry.packet = PacketRef(&packet);
    stage_->hold(std::move(entry));
  } else if (is_completion(tlp.type) || is_message(tlp.type)) {
    take_unordered(packet, t);
  } else {
    receive_request(packet, t);
  }
}

// What meets no translation, once it is its turn.
void RootPort::take_unordered(Packet& packet, Time t) {
  if (is_message(packet.tlp.type)) {
    receive_message(packet, t);
  } else if (hooks_.completion &&
             hooks_.completion(PacketRef(&packet), t + config_.host.timing.root_port)) {
    ++counters_.completions;
    if (has_poisoned_data(packet.tlp)) {  // [LNK-9.26]
      ++errors_["poisoned_tlp"];
      observe("poisoned_tlp", "poisoned_tlp", packet);
      report(cfg::aer::Uncorrectable::kPoisonedTlp, packet);
    }
  } else {
    drop(packet, "unexpected_completion", "unexpected_completion");
    report(cfg::aer::Uncorrectable::kUnexpectedCompletion, packet);
  }
}

// Why a request cannot be served, wherever it goes, or nullptr. I/O, configuration and atomics go
// down only.
const char* RootPort::refusal_of(const Packet& packet, const Standing& standing) const {
  const Tlp& tlp = packet.tlp;
  if (!is_bus_master_) {
    return "bus_master_disabled";
  }
  if (has_wrong_address_type(tlp)) {
    return "address_type";  // [ATR-03] [ATR-04] [ATR-05]
  }
  if (tlp.type != TlpType::kMRd && tlp.type != TlpType::kMWr) {
    return "unsupported_request";
  }
  if (tlp.at == AddressType::kTranslationRequest && !is_translating()) {
    return "translation_request_without_ats";
  }
  if (tlp.at == AddressType::kTranslated && config_.host.dhi.check_capabilities &&
      (standing.capabilities & kCapabilityTranslated) == 0) {
    return "capability_missing";
  }
  return nullptr;
}

// Why it cannot be served at this address of the host.
const char* RootPort::address_refusal_of(const Tlp& tlp, std::uint64_t address,
                                         const Standing& standing) const {
  if (!lies_in(tlp, address, 0, config_.host.memory.size)) {
    return "unmapped_address";
  }
  // What touches no memory is let through, so that whoever may write can flush. [DHI S3]
  return checks_windows_ && !is_zero_length_read(tlp) ? window_refusal_of(tlp, address, standing)
                                                      : nullptr;
}

const char* RootPort::window_refusal_of(const Tlp& tlp, std::uint64_t address,
                                        const Standing& standing) const {
  const auto& window = config_.host.dma_window;
  if (window.size != 0 && !lies_in(tlp, address, window.base, window.size)) {
    return "outside_dma_window";
  }
  const auto& trusted = config_.host.trusted_window;
  const bool is_inside = trusted.size != 0 && address < trusted.base + trusted.size &&
                         trusted.base < address + tlp.length_dw * 4U;
  return is_inside && !standing.is_trusted ? "untrusted_request" : nullptr;
}

// A memory request finds its domain, then its memory. [DHI D16, D17]
void RootPort::receive_request(Packet& packet, Time t) {
  counters_.nonposted += fc_class(packet.tlp.type) == FcClass::kNonPosted ? 1 : 0;
  // What is unsupported in it comes first. model: with translation, its address is not asked for.
  // [LNK-12.12]
  const bool is_poisoned = packet.tlp.is_poisoned && has_data(packet.tlp.type);
  Standing standing;
  if (!resolve(packet, t, standing)) {
    return;
  }
  packet.stamp(Hop::kResolved, t + standing.latency);
  const Time delay = config_.host.timing.root_port + standing.latency;
  if (const char* const refusal = refusal_of(packet, standing)) {
    refuse(packet, CplStatus::kUR, refusal, delay);
  } else if (is_poisoned && (is_translating() || is_interrupt(packet.tlp))) {
    refuse_poisoned(packet);
  } else if (is_translating()) {
    translate(packet, standing, delay);
  } else if (stage_ && stage_->has_posted() && !is_poisoned) {
    keep_place(packet, standing, delay);
  } else if (touches_interrupt_window(packet.tlp)) {
    interrupt(packet, delay);
  } else if (const char* const unfit =
                 address_refusal_of(packet.tlp, packet.tlp.address, standing)) {
    refuse(packet, CplStatus::kUR, unfit, delay);
  } else if (is_poisoned) {
    refuse_poisoned(packet);
  } else {
    to_memory(packet, packet.tlp.address, delay);
  }
}

void RootPort::serve_address(Packet& packet, std::uint64_t address, const Standing& standing,
                             Time delay) {
  if (const char* const refusal = address_refusal_of(packet.tlp, address, standing)) {
    refuse(packet, CplStatus::kUR, refusal, delay);
  } else {
    to_memory(packet, address, delay);
  }
}

// A request into the interrupt window.
void RootPort::interrupt(Packet& packet, Time delay) {
  if (!is_interrupt(packet.tlp)) {
    refuse(packet, CplStatus::kUR, "not_an_interrupt", delay);
    return;
  }
  settle(packet);
  ++counters_.interrupts;
  counters_.interrupt_bytes += packet.payload_bytes;
  packet.stamp(Hop::kMemory, now() + delay);
  observe("interrupt", "", packet);
  if (hooks_.interrupt) {
    hooks_.interrupt(packet, now() + delay);
  }
}

void RootPort::set_devices(std::vector<DeviceBelow> devices) {
  devices_ = std::move(devices);
  checks_grants_ = std::any_of(devices_.begin(), devices_.end(), [](const DeviceBelow& device) {
    return device.handles->checks_grants();
  });
}

// Where the Requester ID is the handle, all devices below share one table, and any of them will do.
// [DHI D2]
const RootPort::DeviceBelow& RootPort::device_of(Bdf requester) const {
  for (std::size_t i = 1; i < devices_.size(); ++i) {
    if (devices_[i].buses.contains(requester)) {
      return devices_[i];
    }
  }
  return devices_.front();
}

// Why the domain that a request names in full is not its sender's, or nullptr. Interrupts and
// flushes touch no memory: their Requester ID alone counts. [DHI S2] [DHI S3]
const char* RootPort::identity_refusal_of(const Tlp& tlp, const DeviceIdentity& identity) const {
  if (config_.host.requester_check && !buses_.contains(identity.bdf)) {
    return "foreign_requester";
  }
  if (checks_grants_ && !is_interrupt(tlp) && !is_zero_length_read(tlp) &&
      !device_of(identity.bdf).handles->is_granted(identity)) {
    return "not_granted";
  }
  return nullptr;
}

// False: a handle that names no domain, or an identity that is not the sender's; the packet has
// been dealt with. [DHI D16]
bool RootPort::resolve(Packet& packet, Time t, Standing& standing) {
  const OptionalId<Dhi> handle = handle_of(packet.tlp, form_);
  if (!handle) {
    const DeviceIdentity full = identity_of(packet.tlp, form_).full;
    const char* const refusal = identity_refusal_of(packet.tlp, full);
    if (refusal != nullptr) {
      refuse(packet, CplStatus::kUR, refusal, config_.host.timing.root_port);
    }
    if (config_.host.dhi.check_capabilities) {
      standing.capabilities = device_of(full.bdf).handles->granted_capabilities(full.bdf);
    }
    return refusal == nullptr;
  }
  const HostHandles::Lookup lookup =
      device_of(packet.tlp.requester_id).handles->resolve(packet, *handle, buses_, t, answers_);
  standing.latency = lookup.latency;
  if (lookup.resolution) {
    standing.is_trusted = lookup.resolution->is_trusted;
    standing.capabilities = lookup.resolution->capabilities;
    packet.resolved = lookup.resolution->identity;
    return true;
  }
  // CA where UR would switch the ATC off.
  const bool is_translation = packet.tlp.at == AddressType::kTranslationRequest;
  refuse(packet, is_translation ? CplStatus::kCA : CplStatus::kUR, "invalid_handle",
         config_.host.timing.root_port + lookup.latency);
  if (!device_of(packet.tlp.requester_id).handles->is_enabled(buses_)) {
    ++errors_["handle_while_disabled"];  // only the device's end is enabled [DHI D5]
    observe("handle_while_disabled", "", packet);
  }
  queue_answers(packet, lookup.latency);
  return false;
}

// In one piece: every request comes this way.
[[gnu::flatten]] void RootPort::to_memory(Packet& packet, std::uint64_t address, Time delay) {
  ++in_memory_;
  for (MemoryWatch* const watch : memory_watches_) {
    watch->accessed(packet, address);
  }
  if (!memory_.submit(*this, PacketRef(&packet), address, delay)) {
    holds_buffer_ = true;
  } else if (config_.host.memory.bandwidth_gbps > 0) {
    hold_behind(packet, now() + delay);
  }
}

// Where accesses queue up before the memory, requests queue up in the receive buffers: their
// credits stay away for as long as the queue is.
void RootPort::hold_behind(Packet& packet, Time arrival) {
  constexpr double kFsPerByteAt1Gbps = 8e6;
  const auto service = static_cast<std::int64_t>(packet.tlp.length_dw * 4 * kFsPerByteAt1Gbps /
                                                 config_.host.memory.bandwidth_gbps);
  const Time queued =
      memory_done_at_ - arrival - config_.host.memory.timing.latency - Time{service};
  if (queued <= Time{}) {
    return;
  }
  holds_buffer_ = true;
  const Time until = now() + queued;
  held_.push_back(
      {PacketRef(&packet), held_.empty() ? until : std::max(until, held_.back().until)});
  buffers_wakeup_.at(held_.front().until);
}

void RootPort::memory_took(const MemoryTransaction& transaction) {
  release(*transaction.packet);
}

void RootPort::release_buffers() {
  buffers_wakeup_.taken();
  while (!held_.empty() && held_.front().until <= now()) {
    const PacketRef packet = std::move(held_.front().packet);
    held_.pop_front();
    release(*packet);
  }
  if (!held_.empty()) {
    buffers_wakeup_.at(held_.front().until);
  }
}

void RootPort::release(Packet& packet) {
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  from_link->nb_transport_bw(packet, phase, delay);
}

[[gnu::flatten]] void RootPort::memory_done(const MemoryTransaction& transaction, Time when) {
  --in_memory_;
  memory_done_at_ = when;
  memory_end_ = std::max(memory_end_, when);
  Packet& packet = *transaction.packet;
  packet.stamp(Hop::kMemory, when);
  settle(packet);
  if (!transaction.is_response_ok()) {
    refuse(packet, CplStatus::kCA, "memory_error", when - now());
  } else if (packet.tlp.type == TlpType::kMWr) {
    ++counters_.writes;
    counters_.written_bytes += packet.payload_bytes;
    tracer_.write_committed(packet);
    observe("committed", "", packet);
  } else {
    ++counters_.reads;
    ++counters_.answered;
    answer_read(transaction, when);
  }
}

std::vector<CheckResult> RootPort::checks() const {
  const std::string at = name();
  const RootPortCounters& c = counters_;
  const std::uint64_t settled = c.writes + c.reads + c.interrupts + c.messages + c.handle_messages +
                                c.completions + c.refused;
  return {
      {at + ": every TLP was served or refused", c.received == settled,
       fmt::format("{} received, {} settled", c.received, settled)},
      {at + ": one answer for each request", c.nonposted == c.answered,
       fmt::format("{} requests, {} answers", c.nonposted, c.answered)},
  };
}

std::string RootPort::waiting() const {
  std::string text;
  const auto say = [&](const Outbox& outbox, const char* kind) {
    if (!outbox.empty()) {
      text += fmt::format("{}: {} {} wait for room in the link's queues\n", name(), outbox.size(),
                          kind);
    }
  };
  say(posted_, "posted requests");
  say(nonposted_, "non-posted requests");
  say(completions_, "completions");
  if (stage_ && stage_->is_busy()) {
    text += fmt::format("{}: {} packets wait for translations\n", name(), stage_->size());
  }
  if (in_memory_ > 0) {
    text += fmt::format("{}: {} accesses wait for host memory\n", name(), in_memory_);
  }
  return text;
}

}  // namespace flitwise
