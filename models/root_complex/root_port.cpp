// SPDX-License-Identifier: Apache-2.0
// One root port: what comes up, and what becomes of it.
#include "root_complex/root_port.h"

#include <fmt/format.h>

#include <algorithm>

#include "ats/translation_request.h"
#include "tlp/message_use.h"

namespace flitwise {
namespace {

TlpLimits limits_of(const RootPortConfig& config) {
  TlpLimits limits;
  limits.mps = static_cast<unsigned>(config.link.mps);
  limits.has_pasid = config.host.pasid;
  limits.has_translated_pasid = config.host.translated_pasid;
  return limits;
}

// Handles are looked up on arrival, so that messages about them count from then on. [DHI D8]
bool waits_for_translations(const Tlp& tlp) {
  return is_completion(tlp.type) || (is_message(tlp.type) && !is_dhi_message(tlp));
}

}  // namespace

RootPort::RootPort(const sc_core::sc_module_name& name, const RootPortConfig& config,
                   PacketPool& pool, MemoryPort& memory, HostHandles& handles,
                   LatencyTracer& tracer)
    : ComponentModule(name),
      latency_(config.host.timing.root_port),
      rcb_(static_cast<unsigned>(config.link.rcb)),
      limits_(limits_of(config)),
      memory_(memory),
      tracer_(tracer),
      record_(this->name()),
      output_(config, pool, *this, record_),
      buffers_(config.host, *this),
      devices_(config, handles),
      rules_(config.host),
      replies_(rcb_, config.reply_split, output_) {
  from_link.register_nb_transport_fw(this, &RootPort::receive, 0);
  to_link.register_nb_transport_bw(this, &RootPort::link_has_room, 0);
}

tlm::tlm_sync_enum RootPort::link_has_room(int /*id*/, Packet& /*packet*/,
                                           tlm::tlm_phase& /*phase*/, sc_core::sc_time& /*delay*/) {
  output_.drain();
  buffers_.release_answered([this] { return output_.takes_answers(); });
  return tlm::TLM_COMPLETED;
}

// In one piece, with to_memory() and memory_done(): every request comes this way. A flood of reads
// runs out of credits, not of memory.
[[gnu::flatten]] tlm::tlm_sync_enum RootPort::receive(int /*id*/, Packet& packet,
                                                      tlm::tlm_phase& /*phase*/,
                                                      sc_core::sc_time& /*delay*/) {
  ++record_.counters.received;
  bool is_held = take(packet, now());
  if (!is_held && !output_.takes_answers() && fc_class(packet.tlp.type) == FcClass::kNonPosted) {
    buffers_.hold_for_answers(packet);
    is_held = true;
  }
  return is_held ? tlm::TLM_UPDATED : tlm::TLM_COMPLETED;
}

bool RootPort::take(Packet& packet, Time t) {
  const Tlp& tlp = packet.tlp;
  const std::optional<TlpViolation> violation =
      packet.malformed ? packet.malformed : check_tlp(tlp, limits_);
  if (violation && is_malformed(*violation)) {
    record_.drop_malformed(packet, *violation);
  } else if (packet.has_bad_ecrc && checks_ecrc_) {
    record_.drop(packet, cfg::aer::Uncorrectable::kEcrc, "ecrc_check_failed");  // [LNK-12.7]
  } else if (stage_ && stage_->has_posted() && waits_for_translations(tlp)) {
    stage_->hold({PacketRef(&packet), {}});
    return true;
  } else if (is_completion(tlp.type) || is_message(tlp.type)) {
    take_unordered(packet, t);
  } else {
    return take_request(packet, t);
  }
  return false;
}

// What meets no translation, once it is its turn.
void RootPort::take_unordered(Packet& packet, Time t) {
  if (is_message(packet.tlp.type)) {
    take_message(packet, t);
  } else if (record_.host != nullptr && record_.host->complete(PacketRef(&packet), t + latency_)) {
    ++record_.counters.completions;
    record_.counters.raw_completions += is_sent_raw(packet) ? 1 : 0;
    if (has_poisoned_data(packet.tlp)) {  // [LNK-9.26]
      record_.note(packet, cfg::aer::Uncorrectable::kPoisonedTlp, "poisoned_tlp", "poisoned_tlp");
    }
  } else {
    record_.drop(packet, cfg::aer::Uncorrectable::kUnexpectedCompletion, "unexpected_completion");
  }
}

[[gnu::noinline]] void RootPort::take_message(const Packet& packet, Time t) {
  if (is_dhi_message(packet.tlp)) {
    ++record_.counters.handle_messages;
    record_.observe("message", "", packet);
    queue_answers(packet, devices_.receive(packet, t, answers_));
    return;
  }
  if (devices_.is_foreign(packet.tlp.requester_id)) {
    record_.drop(packet, cfg::aer::Uncorrectable::kUnsupportedRequest, "foreign_requester");
    return;
  }
  record_.observe("message", "", packet);
  const MessageUse use = use_at_root_port(packet.tlp.message_code, stage_ != nullptr);
  if (use == MessageUse::kUnsupported) {  // [LNK-12.3]
    record_.drop(packet, cfg::aer::Uncorrectable::kUnsupportedRequest, "unknown_message");
    return;
  }
  ++record_.counters.messages;
  if (use == MessageUse::kTaken && record_.host != nullptr) {
    record_.host->message(packet);
  }
}

// A memory request finds its domain, then its memory. [DHI D16, D17]
bool RootPort::take_request(Packet& packet, Time t) {
  record_.counters.nonposted += fc_class(packet.tlp.type) == FcClass::kNonPosted ? 1 : 0;
  // What is unsupported in it comes first. model: with translation, its address is not asked for.
  // [LNK-12.12]
  const bool is_poisoned = packet.tlp.is_poisoned && has_data(packet.tlp.type);
  const DevicesBelow::Verdict verdict = devices_.resolve(packet, t, answers_);
  if (verdict.refusal != nullptr) {
    refuse(packet, verdict, t);
    return false;
  }
  const DomainStanding& standing = verdict.standing;
  packet.stamp(Hop::kResolved, t + verdict.latency);
  Time delay = latency_ + verdict.latency;
  if (is_zero_length_read(packet.tlp)) {  // a flush tells that the entries before it count [DHI D8]
    delay = std::max(delay, devices_.stores_done(packet.tlp.requester_id) - t);
  }
  if (const char* const refusal = rules_.refusal_of(packet.tlp, standing, is_translating())) {
    refuse(packet, refusal, delay);
  } else if (is_poisoned && (is_translating() || is_interrupt(packet.tlp))) {
    output_.refuse_poisoned(packet, now() + latency_);
  } else if (is_translating()) {
    return translate(packet, standing, delay);
  } else if (stage_ && stage_->has_posted() && !is_poisoned) {
    return keep_place(packet, standing, delay);
  } else if (touches_interrupt_window(packet.tlp)) {
    interrupt(packet, delay);
  } else if (const char* const unfit =
                 rules_.address_refusal_of(packet.tlp, packet.tlp.address, standing)) {
    refuse(packet, unfit, delay);
  } else if (is_poisoned) {
    output_.refuse_poisoned(packet, now() + latency_);
  } else {
    return to_memory(packet, packet.tlp.address, delay);
  }
  return false;
}

// A handle that names no domain, or an identity that is not the sender's. [DHI D16]
void RootPort::refuse(const Packet& packet, const DevicesBelow::Verdict& verdict, Time t) {
  // CA where UR would switch the ATC off.
  const bool is_translation =
      verdict.is_invalid_handle && packet.tlp.at == AddressType::kTranslationRequest;
  output_.refuse(packet, is_translation ? CplStatus::kCA : CplStatus::kUR, verdict.refusal,
                 t + latency_ + verdict.latency);
  if (verdict.is_disabled) {
    ++record_.errors["handle_while_disabled"];  // only the device's end is enabled [DHI D5]
    record_.observe("handle_while_disabled", "", packet);
  }
  queue_answers(packet, verdict.latency);
}

// A request into the interrupt window.
[[gnu::noinline]] void RootPort::interrupt(Packet& packet, Time delay) {
  if (!is_interrupt(packet.tlp)) {
    refuse(packet, "not_an_interrupt", delay);
    return;
  }
  record_.settle(packet);
  ++record_.counters.interrupts;
  record_.counters.interrupt_bytes += packet.payload_bytes;
  packet.stamp(Hop::kMemory, now() + delay);
  record_.observe("interrupt", "", packet);  // some core takes it
  for (const InterruptWatch& watch : interrupt_watches_) {
    watch(packet, now() + delay);
  }
}

[[gnu::flatten]] bool RootPort::to_memory(Packet& packet, std::uint64_t address, Time delay) {
  ++in_memory_;
  for (const MemoryWatch& watch : memory_watches_) {
    watch(packet, address);
  }
  return !memory_.submit(*this, PacketRef(&packet), address, delay) ||
         buffers_.hold_behind(packet, now() + delay);
}

void RootPort::release(Packet& packet) {
  tlm::tlm_phase phase = tlm::END_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  from_link->nb_transport_bw(packet, phase, delay);
}

[[gnu::flatten]] void RootPort::memory_done(const MemoryTransaction& transaction, Time when) {
  --in_memory_;
  buffers_.memory_done(when);
  memory_end_ = std::max(memory_end_, when);
  Packet& packet = *transaction.packet;
  packet.stamp(Hop::kMemory, when);
  record_.settle(packet);
  if (!transaction.is_response_ok()) {
    output_.refuse(packet, CplStatus::kCA, "memory_error", when);
  } else if (packet.tlp.type == TlpType::kMWr) {
    ++record_.counters.writes;
    record_.counters.written_bytes += packet.payload_bytes;
    tracer_.write_committed(packet);
    record_.observe("committed", "", packet);
  } else if (has_data(packet.tlp.type)) {
    answer_change(transaction, when);
  } else {
    ++record_.counters.reads;
    ++record_.counters.answered;
    output_.answer_read(packet, transaction.data.data(), when);
  }
}

// An atomic has its old value back, a deferrable write a Cpl. [LNK-9.29] [LNK-9.30]
[[gnu::noinline]] void RootPort::answer_change(const MemoryTransaction& transaction, Time when) {
  const Packet& packet = *transaction.packet;
  if (transaction.is_write()) {
    record_.observe("committed", "", packet);
  }
  if (is_atomic(packet.tlp.type)) {
    ++record_.counters.reads;
    ++record_.counters.answered;
    output_.answer_read(packet, transaction.data.data(), when);
  } else {
    ++record_.counters.writes;
    output_.answer_without_data(packet, CplStatus::kSC, when);
  }
}

// The buffer stays taken until the request has gone on. [LNK-9.4]
bool RootPort::translate(Packet& packet, const DomainStanding& standing, Time delay) {
  if (is_translation_request(packet.tlp) && !is_legal_translation_request(packet.tlp, rcb_)) {
    --record_.counters.nonposted;  // it gets no answer [ATR-06] [ATR-07]
    record_.drop_malformed(packet, TlpViolation::kBadLength);
    return false;
  }
  WalkRequest request = walk_request_of(packet.tlp, devices_.domain_behind(packet));
  request.is_trusted = standing.is_trusted;
  return stage_->translate({PacketRef(&packet), standing}, request, delay);
}

// Translation is off by now, but this packet may not pass one that came before. [IOM-1.4] [LNK-9.1]
bool RootPort::keep_place(Packet& packet, const DomainStanding& standing, Time delay) {
  TranslationStage::Entry entry{PacketRef(&packet), standing};
  entry.is_translated = true;
  entry.result.outcome = WalkOutcome::kTranslated;
  entry.result.address = packet.tlp.address;
  entry.when = now() + delay;
  stage_->hold(std::move(entry));
  return true;
}

bool RootPort::serve(const TranslationStage::Entry& entry) {
  Packet& packet = *entry.packet;
  if (!entry.is_translated) {
    take_unordered(packet, now());
    return false;
  }
  const WalkResult& result = entry.result;
  const Time delay = std::max(entry.when, now()) - now();
  if (packet.tlp.at == AddressType::kTranslationRequest) {
    if (replies_.answer(asked_by(entry), result, now() + delay)) {
      ++record_.counters.reads;
      ++record_.counters.answered;
    } else {
      output_.refuse(packet, result.answer, "translation_request_refused", now() + delay);
    }
  } else if (result.outcome == WalkOutcome::kFault) {
    refuse(packet, "translation_fault", delay);
  } else if (result.outcome == WalkOutcome::kInterrupt || is_interrupt_address(result.address)) {
    interrupt(packet, delay);
  } else if (const char* const refusal =
                 rules_.address_refusal_of(packet.tlp, result.address, entry.standing)) {
    refuse(packet, refusal, delay);
  } else {
    return to_memory(packet, result.address, delay);
  }
  return false;
}

TranslationReplies::Asked RootPort::asked_by(const TranslationStage::Entry& entry) const {
  const DeviceIdentity domain = devices_.domain_behind(*entry.packet);
  return {entry.ticket, *entry.packet, domain.pasid.has_value(), devices_.stu_of(domain.bdf)};
}

[[gnu::noinline]] void RootPort::queue_answers(const Packet& request, Time latency) {
  for (PacketRef& packet : answers_) {
    packet->request = request.request;
    output_.size(*packet);
    send(std::move(packet), latency_ + latency);
  }
  answers_.clear();
}

void RootPort::send(PacketRef packet, Time delay) {
  if (is_message(packet->tlp.type) && !devices_.name_domain(packet->tlp, delay)) {
    ++record_.errors["unknown_domain"];
    record_.observe("unknown_domain", "", *packet);
    return;
  }
  output_.send(std::move(packet), now() + delay);
}

void RootPort::replay_num_rolled_over() {
  if (record_.host != nullptr) {
    record_.host->report(cfg::aer::Correctable::kReplayNumRollover);
  }
}

void RootPort::start_window() {
  output_.start_window(now());
  if (stage_) {
    stage_->order_waits.start_window(now());
  }
}

std::vector<WaitResult> RootPort::waits() const {
  std::vector<WaitResult> all = output_.waits(name());
  if (stage_) {
    all.push_back(stage_->order_waits.result({name(), "order", ResourceRole::kQueue, "up"}));
  }
  return all;
}

std::string RootPort::waiting() const {
  std::string text = output_.waiting(name());
  if (stage_ && stage_->is_busy()) {
    text += fmt::format("{}: {} packets wait for translations\n", name(), stage_->size());
  }
  if (in_memory_ > 0) {
    text += fmt::format("{}: {} accesses wait for host memory\n", name(), in_memory_);
  }
  return text;
}

}  // namespace flitwise
