// SPDX-License-Identifier: Apache-2.0
// The function shell: from engines to the link. What comes back is in endpoint_receive.cpp.
#include "endpoint/endpoint.h"

#include <algorithm>
#include <cstring>

#include "tlp/wire_size.h"

namespace flitwise {
namespace {

// A message and what goes out before it may find no room together: DEALLOC, ALLOC, flush and
// itself.
constexpr std::size_t kOutboxDepth = 8;

DeviceIdentity without_pasid(DeviceIdentity identity) {
  identity.pasid.reset();
  return identity;
}

}  // namespace

Endpoint::Endpoint(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
                   LatencyTracer& tracer)
    : sc_module(name),
      config_(config),
      form_{config.link.identity, config.link.dhi_form, config.device.dhi.bits},
      sizer_(config.link, config.message, config.device.dhi.bits),
      pool_(pool),
      tracer_(tracer),
      domains_(config.device),
      dhi_(config.device, pool),
      outstanding_(config.device.functions.count, config.device.tag_bits),
      outbox_(kOutboxDepth),
      wakeup_("work", config.device.timing.clock),
      ends_wakeup_("ends", Time{1}),
      relaxed_ordering_(config.device.dma.relaxed_ordering),
      id_based_ordering_(config.device.dma.id_based_ordering),
      mps_(static_cast<std::uint32_t>(config.link.mps)),
      mrrs_(static_cast<std::uint32_t>(config.link.mrrs)),
      breaker_(config.faults),
      functions_(config.device.functions.count, FunctionState::kRunning),
      target_(config, pool, sizer_, target_hooks()),
      tracks_contexts_(config.host.iommu_driver.teardown_rate > 0),
      contexts_(tracks_contexts_ ? domain_ids(config.workload) : 0) {
  stop_vfs();
  if (config.device.atc.enabled) {
    ats_ = std::make_unique<AtsUnit>(config_, target_.page_requests());
  }
  from_link.register_nb_transport_fw(this, &Endpoint::receive, 0);
  to_link.register_nb_transport_bw(this, &Endpoint::link_has_room, 0);
  wakeup_.wakes("work_process", [this] { work(); });
  ends_wakeup_.wakes("ends_process", [this] {
    ends_wakeup_.taken();
    pump(now());
    ends_wakeup_.at(ends_.next());
  });
}

void Endpoint::set_base(Bdf base) {
  base_ = base;
  identities_.resize(domain_ids(config_.workload));
  for (std::uint32_t i = 0; i < identities_.size(); ++i) {
    identities_[i] = domains_.identity(base, DomainId{i});
  }
}

void Endpoint::wake() {
  wakeup_.at(now());
}

void Endpoint::work() {
  wakeup_.taken();
  const Time t = now();
  check_timeouts(t);
  serve_target(t);
  pump(t);
  if (ats_ != nullptr) {
    wakeup_.at(ats_->parked.next_time(t));
  }
}

tlm::tlm_sync_enum Endpoint::link_has_room(int /*id*/, Packet& /*packet*/,
                                           tlm::tlm_phase& /*phase*/, sc_core::sc_time& /*delay*/) {
  const Time t = now();
  is_full_.fill(false);
  if (target_waits_) {
    drain_target(t);
  }
  outbox_.drain([this](const Outbox::Entry& entry) { return hand_over(entry); });
  pump(t);
  return tlm::TLM_COMPLETED;
}

// Takes work from the engines as long as there is room and nothing has to be waited for.
void Endpoint::pump(Time t) {
  end_transfers(t);
  while (is_bus_master_ && outbox_.empty()) {
    if (!has_current_ && !begin_transfer(t)) {
      break;
    }
    if (!send_piece(t)) {
      break;
    }
  }
  if (raw_ != nullptr && (is_bus_master_ || functions_[0] == FunctionState::kRunning)) {
    pump_raw(t);
  }
  if (has_duties_) {
    do_duties(t);
  }
}

void Endpoint::pump_raw(Time t) {
  const auto may_request = [this](std::optional<Bdf> requester) {
    return is_bus_master_ && may_send(requester);
  };
  while (outbox_.empty()) {
    PacketRef packet = raw_->next(may_request);
    if (!packet) {
      return;
    }
    packet->is_raw = true;
    packet->stamp(Hop::kIssue, t);
    ++counters_.settled;
    counters_.posted_bytes += packet->tlp.type == TlpType::kMWr ? packet->payload_bytes : 0;
    queue(std::move(packet), t + config_.device.timing.pipeline);
  }
}

bool Endpoint::begin_transfer(Time t) {
  if (ats_ != nullptr) {
    if (resume_parked(t)) {
      return true;
    }
    if (!ats_->parked.has_room()) {
      ats_->parked.note_full(t);
      return false;
    }
  }
  const std::uint32_t slot = new_active();
  Active& active = active_[slot];
  Time again = Time::never();
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    Engine& engine = *engines_[(turn_ + i) % engines_.size()];
    bool has_transfer = engine.next(t, active.transfer);
    while (has_transfer && is_over(active.transfer.domain)) {
      drop_transfer(engine, active.transfer, t);
      has_transfer = engine.next(t, active.transfer);
    }
    if (has_transfer) {
      if (ats_ != nullptr) {
        ats_->parked.note_room(active.transfer.ready, t);
      }
      if (tracks_contexts_) {
        ++contexts_[to_int(active.transfer.domain)].transfers;
      }
      turn_ = (turn_ + i + 1) % engines_.size();
      active.engine = &engine;
      active.contexts_ended = contexts_ended_;
      const bool is_read = active.transfer.op == Op::kRead;
      splitter_ =
          RequestSplitter(active.transfer.address, active.transfer.bytes, is_read ? mrrs_ : mps_);
      has_piece_ = splitter_.next(piece_);
      current_ = slot;
      has_current_ = true;
      return true;
    }
    again = std::min(again, engine.next_at());
  }
  free_active_.push_back(slot);
  if (ats_ != nullptr) {
    ats_->parked.note_room(t, t);
  }
  if (again != Time::never()) {
    wakeup_.at(again);
  }
  return false;
}

std::uint32_t Endpoint::new_active() {
  if (free_active_.empty()) {
    free_active_.push_back(static_cast<std::uint32_t>(active_.size()));
    active_.emplace_back();
  }
  const std::uint32_t slot = free_active_.back();
  free_active_.pop_back();
  active_[slot] = Active{};
  return slot;
}

bool Endpoint::uses_handles(Op op) const {
  return form_.identity == Identity::kDhi && dhi_.is_active() && op != Op::kMsi &&
         (form_.dhi_form != DhiForm::kTag || op == Op::kWrite);
}

// One TLP of the present transfer; false where it has to wait.
bool Endpoint::send_piece(Time t) {
  const Transfer& transfer = active_[current_].transfer;
  const DeviceIdentity& identity = identity_of(transfer.domain);
  if (not_running_ != 0 && functions_[function_of(identity.bdf)] != FunctionState::kRunning) {
    return false;
  }
  const bool is_read = transfer.op == Op::kRead;
  if (waits_for_link(is_read ? FcClass::kNonPosted : FcClass::kPosted, t)) {
    return false;
  }
  const std::size_t free_tags = outstanding_.free_tags(function_of(identity.bdf));
  tag_stall_.set(is_read && free_tags == 0, t);
  if (is_read && free_tags == 0) {
    return false;
  }
  if (ats_ != nullptr) {
    const Step step = route_piece(transfer, identity, t);
    if (step != Step::kGo) {
      return step == Step::kParked;
    }
  }
  DhiAgent::Answer handle =
      uses_handles(transfer.op)
          ? acquire_handle(identity, is_read ? UseKind::kNonPosted : UseKind::kPosted, free_tags, t)
          : DhiAgent::Answer{};
  if (handle.outcome == DhiAgent::Outcome::kWait) {
    return false;
  }
  if (ats_ != nullptr) {
    handle.latency += route_.latency;
  }
  PacketRef packet = make_request(transfer, identity, handle, t);
  if (is_read) {
    open_read(*packet, handle.pin, t);
  }
  queue(std::move(packet), t + config_.device.timing.pipeline + handle.latency,
        is_read ? HandlePin{} : handle.pin);
  after_piece(t);
  return true;
}

// The present TLP is ready, and there is room for it in the link's queue or not.
bool Endpoint::waits_for_link(FcClass fc, Time t) {
  if (is_full_[static_cast<std::size_t>(fc)]) {
    full_since_ = std::min(full_since_, t);
    return true;
  }
  outbox_.waits().add(full_since_, t);
  full_since_ = Time::never();
  return false;
}

// The handle for the present transfer; what has to go out first goes.
DhiAgent::Answer Endpoint::acquire_handle(const DeviceIdentity& identity, UseKind use,
                                          std::size_t free_tags, Time t) {
  const Transfer& transfer = active_[current_].transfer;
  const bool can_flush = free_tags > (use == UseKind::kNonPosted ? 1U : 0U);
  DhiAgent::Answer handle = dhi_.acquire(transfer.domain, identity, use, can_flush, first_);
  if (!first_.empty()) {
    queue_first(transfer, identity, t, handle.latency);
  }
  handle_stall_.set(handle.outcome == DhiAgent::Outcome::kWait, t);
  return handle;
}

PacketRef Endpoint::make_request(const Transfer& transfer, const DeviceIdentity& identity,
                                 const DhiAgent::Answer& handle, Time t) {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  Tlp& tlp = packet->tlp;
  tlp.type = transfer.op == Op::kRead ? TlpType::kMRd : TlpType::kMWr;
  tlp.is_4dw = piece_.address >> 32 != 0;
  tlp.address = piece_.address;
  tlp.length_dw = piece_.length_dw;
  tlp.first_be = piece_.first_be;
  tlp.last_be = piece_.last_be;
  // An interrupt tells of data before it, which it must not pass. [LNK-9.1]
  const bool is_interrupt = transfer.op == Op::kMsi;
  const bool may_relax = !handle.must_keep_order && !is_interrupt;
  tlp.relaxed_ordering = relaxed_ordering_ && may_relax;
  tlp.id_based_ordering = id_based_ordering_ && may_relax;
  const At at = is_interrupt ? At::kUntranslated : config_.workload.at;
  tlp.at = at == At::kUntranslated ? AddressType::kUntranslated : AddressType::kTranslated;
  bool has_pasid = at != At::kTranslated;  // A translated request needs none. [LNK-3.8]
  if (ats_ != nullptr) {
    has_pasid = follow_route(tlp, function_of(identity.bdf));
    if (translation_watch_ && tlp.at == AddressType::kTranslated && piece_.bytes != 0) {
      translation_watch_(identity, tlp.address, piece_.address);
    }
  }
  const bool has_handle = handle.outcome == DhiAgent::Outcome::kHandle;
  const OptionalId<Dhi> dhi = has_handle ? OptionalId<Dhi>(handle.dhi) : OptionalId<Dhi>();
  apply_identity(tlp, form_, has_pasid ? identity : without_pasid(identity), dhi,
                 is_interrupt ? RequestUse::kInterrupt : RequestUse::kData);
  packet->domain = transfer.domain;
  packet->identity = identity;
  packet->has_identity = true;
  packet->request = current_;
  packet->counts = transfer.counts;
  packet->stamp(Hop::kIssue, transfer.issue);
  packet->stamp(Hop::kHandle, t + handle.latency);
  if (breaker_.is_armed()) {
    breaker_.spoil(tlp);
  }
  if (transfer.op != Op::kRead) {
    packet->payload_bytes = piece_.bytes;
    packet->is_whole_request = piece_.bytes == transfer.bytes;
    if (!packet->is_whole_request) {
      packet->write = write_of(active_[current_]);
    }
    counters_.posted_bytes += piece_.bytes;
    ++counters_.settled;
    fill_payload(*packet, transfer);
  }
  sizer_.size(*packet);
  return packet;
}

const WriteRequestRef& Endpoint::write_of(Active& active) {
  if (!active.write) {
    active.write = pool_.make_write(active.transfer.bytes);
  }
  return active.write;
}

// Bytes of the transfer, or a pattern that no two writes share.
void Endpoint::fill_payload(Packet& packet, const Transfer& transfer) {
  if (!config_.workload.real_payload) {
    packet.length_only = true;
    return;
  }
  const std::size_t bytes = std::size_t{piece_.length_dw} * 4;
  packet.payload.resize(bytes);
  const auto lead = static_cast<std::size_t>(__builtin_ctz(piece_.first_be | 0x10U));
  if (transfer.data != nullptr) {
    std::memcpy(packet.payload.data() + lead, transfer.data + piece_.offset, piece_.bytes);
    return;
  }
  std::uint64_t pattern = pattern_;
  std::uint8_t* const data = packet.payload.data();
  for (std::size_t i = 0; i + 8 <= bytes; i += 8) {
    ++pattern;
    std::memcpy(data + i, &pattern, 8);
  }
  if (bytes % 8 != 0) {
    ++pattern;
    std::memcpy(data + bytes - 4, &pattern, 4);
  }
  pattern_ = pattern;
}

// Handle messages and flushes go out ahead of the TLP that needs them. [DHI D8]
// The local entry is written before any of them leaves.
void Endpoint::queue_first(const Transfer& transfer, const DeviceIdentity& identity, Time t,
                           Time latency) {
  for (PacketRef& packet : first_) {
    packet->counts = transfer.counts;
    packet->identity = identity;
    packet->domain = transfer.domain;
    packet->stamp(Hop::kIssue, t);
    if (packet->purpose == HandlePurpose::kFlush) {
      packet->tlp.address = transfer.address & ~std::uint64_t{3};
      packet->tlp.is_4dw = transfer.address >> 32 != 0;
      apply_identity(packet->tlp, {Identity::kBdfPasid, form_.dhi_form, form_.handle_bits},
                     identity, std::nullopt);
      open_read(*packet, HandlePin{}, t);
    }
    sizer_.size(*packet);
    queue(std::move(packet), t + config_.device.timing.pipeline + latency);
  }
  first_.clear();
}

void Endpoint::queue(PacketRef packet, Time ready, HandlePin posted_pin) {
  outbox_.send({std::move(packet), ready, posted_pin},
               [this](const Outbox::Entry& entry) { return hand_over(entry); });
}

void Endpoint::open_read(Packet& packet, HandlePin pin, Time t) {
  const bool is_flush = packet.purpose == HandlePurpose::kFlush;
  OutstandingRequest request;
  request.request = PacketRef(&packet);
  request.reassembly = Reassembly(packet.tlp, mps_);
  counters_.asked_bytes += request.reassembly.bytes_left();
  request.pin = pin;
  request.transfer = current_;
  request.offset = is_flush ? 0 : piece_.offset;
  request.deadline = t + config_.device.timing.completion_timeout;
  if (outstanding_.size() == 0) {
    wakeup_.at(request.deadline);
  }
  packet.tlp.tag = outstanding_.open(function_of(packet.identity.bdf), std::move(request));
  if (ats_ != nullptr) {
    const bool is_translated = !is_flush && route_.kind == AtsRoute::Kind::kTranslated;
    ats_->read_opened(function_of(packet.identity.bdf), packet.tlp.tag,
                      is_translated ? &routed_ : nullptr);
  }
  if (breaker_.reuses_tag()) {
    take_used_tag(packet);
  }
  if (!is_flush) {
    ++active_[current_].tlps_out;
  }
}

// Breaks a rule on purpose. [LNK-9.8]
void Endpoint::take_used_tag(Packet& packet) {
  const std::optional<OutstandingRequests::Oldest> oldest = outstanding_.oldest();
  if (oldest && oldest->tag != packet.tlp.tag &&
      oldest->function == function_of(packet.identity.bdf)) {
    packet.tlp.tag = oldest->tag;
    breaker_.tag_reused();
  }
}

void Endpoint::after_piece(Time t) {
  Active& active = active_[current_];
  has_piece_ = splitter_.next(piece_);
  if (ats_ != nullptr) {
    piece_gone();
  }
  if (has_piece_) {
    return;
  }
  active.all_sent = true;
  has_current_ = false;
  if (active.tlps_out == 0) {
    end_transfer(current_, t);
  }
  if (!ended_contexts_.empty()) {
    send_stop_markers(t);
  }
}

// Gives one packet to the link, to arrive there when it is ready.
bool Endpoint::hand_over(const Outbox::Entry& entry) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  const Time t = now();
  sc_core::sc_time delay = entry.ready > t ? to_sc_time(entry.ready - t) : sc_core::SC_ZERO_TIME;
  const FcClass fc = fc_class(entry.packet->tlp.type);
  const tlm::tlm_sync_enum answer = to_link->nb_transport_fw(*entry.packet, phase, delay);
  is_full_[static_cast<std::size_t>(fc)] = answer != tlm::TLM_COMPLETED;
  if (!is_taken(answer)) {
    return false;
  }
  note_sent(entry);
  return true;
}

// What the handle table has to know of a packet that is on its way. [DHI D10]
void Endpoint::note_sent(const Outbox::Entry& entry) {
  const Packet& packet = *entry.packet;
  if (entry.posted_pin) {
    dhi_.posted_sent(entry.posted_pin);
  } else if (dhi_.is_active() && packet.tlp.type == TlpType::kMRd) {
    OutstandingRequest* request =
        outstanding_.find(function_of(packet.identity.bdf), packet.tlp.tag);
    if (request != nullptr) {
      request->posted_serial = dhi_.posted_serial();
    }
  }
}

void Endpoint::inject(PacketRef packet) {
  if (packet->size.total() == 0) {
    sizer_.size(*packet);
  }
  packet->is_raw = true;
  packet->stamp(Hop::kIssue, now());
  ++counters_.settled;
  counters_.posted_bytes += packet->tlp.type == TlpType::kMWr ? packet->payload_bytes : 0;
  queue(std::move(packet), now());
  wake();
}

}  // namespace flitwise
