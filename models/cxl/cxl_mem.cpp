// SPDX-License-Identifier: Apache-2.0
// Both ends of CXL.mem.
#include "cxl/cxl_mem.h"

#include <fmt/format.h>

#include <algorithm>

#include "cxl/cxl_outbox.h"

namespace flitwise {

CxlMemHost::CxlMemHost(const sc_core::sc_module_name& name, const HostConfig& config,
                       bool real_payload, PacketPool& pool, LatencyTracer& tracer,
                       unsigned queue_depth)
    : ComponentModule(name),
      config_(config),
      real_payload_(real_payload),
      queue_depth_(queue_depth),
      pool_(pool),
      tracer_(tracer),
      wakeup_("wakeup", config.timing.clock),
      ends_wakeup_("ends", Time{1}),
      transfers_(tracer),
      requests_(config.cxl_mem.outstanding),
      tags_(config.cxl_mem.outstanding) {
  from_link.register_nb_transport_fw(this, &CxlMemHost::receive, 0);
  to_link.register_nb_transport_bw(this, &CxlMemHost::link_has_room, 0);
  wakeup_.wakes("work_process", [this] { work(wakeup_); });
  ends_wakeup_.wakes("ends_process", [this] { work(ends_wakeup_); });
}

// A Tag is a place among the requests of the core: it is free when the core has its answer.
void CxlMemHost::work(Wakeup& by) {
  by.taken();
  const Time t = now();
  while (ends_.is_due(t)) {
    end_line(ends_.take(), TransferStatus::kDone, t);
  }
  if (!is_down_) {
    ask_for_lines(t);
  }
  ends_wakeup_.at(ends_.next());
}

void CxlMemHost::ask_for_lines(Time t) {
  while (!pending_ && tags_.available() > 0 && transfers_.has_line(t)) {
    note_wait(t);
    ask(t);
  }
  if (pending_ || tags_.available() == 0) {
    return;  // the engine was not asked: who makes room asks it
  }
  if (const Time next = transfers_.next_at(); next != Time::never()) {
    wakeup_.at(next);
  }
}

// The engine is not asked while no Tag is free: a request begins when it can be made. So how long a
// line waited is known behind the wait: since the Tags ran out, or since the edge of the clock on
// which it could have gone, whichever is later.
void CxlMemHost::note_wait(Time now) {
  if (tags_out_since_ == Time::never()) {
    return;
  }
  const Time ready = transfers_.transfer(transfers_.line().transfer).ready;
  const Time since =
      ready <= tags_out_since_ ? tags_out_since_ : next_edge(ready, config_.timing.clock);
  tag_waits_.add(since, std::min(tag_back_at_, now));
  tags_out_since_ = Time::never();
}

// The next line of the present transfer: MemRd, MemWr, or MemWrPtl for a part of one. [CXL-3.8]
PacketRef CxlMemHost::make_request() {
  const LineTransfers::Line& line = transfers_.line();
  const Transfer& transfer = transfers_.transfer(line.transfer);
  PacketRef packet = pool_.make(PacketKind::kCxl);
  CxlMessage& message = *packet->cxl;
  message.address = line.address;
  message.byte_enables = line.byte_enables;
  message.meta_field = static_cast<std::uint8_t>(cxl::MetaField::kNoOp);  // [COH-5.1]
  packet->length_only = !real_payload_;
  if (transfer.op == Op::kRead) {
    message.channel = CxlChannel::kM2sReq;
    message.opcode = static_cast<std::uint8_t>(cxl::M2sReq::kMemRd);
  } else {
    const bool is_whole = line.byte_enables == kAllBytes;
    message.channel = CxlChannel::kM2sRwd;
    message.opcode =
        static_cast<std::uint8_t>(is_whole ? cxl::M2sRwd::kMemWr : cxl::M2sRwd::kMemWrPtl);
    packet->payload_bytes = line.bytes();
    if (!packet->length_only) {
      CxlLine bytes{};
      transfers_.fill(bytes);
      packet->payload.assign(bytes.begin(), bytes.end());
    }
  }
  packet->domain = transfer.domain;
  packet->counts = transfer.counts;
  packet->stamp(Hop::kIssue, transfer.issue);
  return packet;
}

void CxlMemHost::ask(Time now) {
  pending_ = make_request();
  pending_->cxl->id = tags_.acquire();
  requests_[pending_->cxl->id] = {pending_, transfers_.line()};
  transfers_.take();
  pending_->stamp(Hop::kHandle, now);
  pending_ready_ = now + config_.cxl_mem.bridge;
  pending_since_ = now;
  hand_over_pending();
}

void CxlMemHost::send(PacketRef message) {
  Outbox& queue = foreign_[message->cxl->channel == CxlChannel::kM2sReq ? 0 : 1];
  queue.send({std::move(message), now(), {}},
             [this](const Outbox::Entry& entry) { return hand_over_foreign(entry); });
}

bool CxlMemHost::hand_over_foreign(const Outbox::Entry& entry) {
  return !pending_ && hand_over(to_link, *entry.packet, entry.ready);
}

bool CxlMemHost::hand_over_pending() {
  if (!hand_over(to_link, *pending_, pending_ready_)) {
    return false;
  }
  pending_.reset();
  if (tags_.available() == 0) {
    tags_out_since_ = now();
  }
  return true;
}

tlm::tlm_sync_enum CxlMemHost::link_has_room(int /*id*/, Packet& /*packet*/,
                                             tlm::tlm_phase& /*phase*/,
                                             sc_core::sc_time& /*delay*/) {
  if (pending_ && hand_over_pending()) {
    queue_waits_.add(pending_since_, now());
    wakeup_.at(now());
  }
  for (Outbox& queue : foreign_) {
    queue.drain([this](const Outbox::Entry& entry) { return hand_over_foreign(entry); });
  }
  return tlm::TLM_COMPLETED;
}

// By the channel of its data, or without: what has not left has no answer. [COH-7.1]
bool CxlMemHost::awaits(const CxlMessage& answer) const {
  const bool is_data = answer.channel == CxlChannel::kS2mDrs;
  if (answer.id >= requests_.size() || (!is_data && answer.channel != CxlChannel::kS2mNdr)) {
    return false;
  }
  const PacketRef& request = requests_[answer.id].packet;
  return request && request->stamped(Hop::kSent) != kNotStamped &&
         is_data == (request->cxl->channel == CxlChannel::kM2sReq);
}

[[gnu::flatten]] tlm::tlm_sync_enum CxlMemHost::receive(int /*id*/, Packet& packet,
                                                        tlm::tlm_phase& /*phase*/,
                                                        sc_core::sc_time& /*delay*/) {
  const CxlMessage& message = *packet.cxl;
  if (!awaits(message)) {
    ++errors_["unexpected_cxl_message"];
    return tlm::TLM_COMPLETED;
  }
  const Time done = now() + config_.cxl_mem.bridge;
  Request& request = requests_[message.id];
  if (message.channel == CxlChannel::kS2mDrs) {
    tracer_.line_read(*request.packet);
    transfers_.reached(request.line, done);
    if (packet.payload.size() == kCxlLineBytes) {
      CxlLine bytes;
      std::copy(packet.payload.begin(), packet.payload.end(), bytes.begin());
      transfers_.data(request.line, bytes);
    }
  } else {
    if (request.packet->stamped(Hop::kMemory) == kNotStamped) {
      request.packet->stamp(Hop::kMemory, done);  // so the device says
    }
    tracer_.line_written(*request.packet);
    transfers_.reached(request.line, request.packet->stamped(Hop::kMemory));
  }
  last_completion_ = std::max(last_completion_, done);
  request.packet.reset();
  ends_.add(message.id, done);
  ends_wakeup_.at(ends_.next());
  return tlm::TLM_COMPLETED;
}

void CxlMemHost::end_line(std::uint16_t tag, TransferStatus status, Time done) {
  const LineTransfers::Line line = requests_[tag].line;
  requests_[tag].packet.reset();
  if (tags_.available() == 0) {
    tag_back_at_ = done;
  }
  tags_.release(tag);
  transfers_.done(line, status, done);
}

void CxlMemHost::link_lost() {
  if (pending_) {
    queue_waits_.add(pending_since_, now());
  }
  is_down_ = true;
  pending_.reset();
  for (std::size_t tag = 0; tag < requests_.size(); ++tag) {
    if (requests_[tag].packet) {
      ++errors_["cxl_request_lost"];
      end_line(static_cast<std::uint16_t>(tag), TransferStatus::kTimeout, now());
    }
  }
  wakeup_.at(now());
}

void CxlMemHost::link_up() {
  is_down_ = false;
  wakeup_.at(now());
}

void CxlMemHost::start_window() {
  tag_waits_.start_window(now());
  queue_waits_.start_window(now());
}

std::vector<WaitResult> CxlMemHost::waits() const {
  return {tag_waits_.result({name(), "cxl_ids", ResourceRole::kSlots, "down", "",
                             "host.cxl_mem.outstanding", config_.cxl_mem.outstanding}),
          queue_waits_.result({name(), "cxl_queues", ResourceRole::kSlots, "down", "",
                               "link.cxl.queue_depth", queue_depth_})};
}

std::string CxlMemHost::waiting() const {
  return is_quiet()
             ? ""
             : fmt::format("{}: {} CXL.mem requests wait for their answers{}\n", name(),
                           transfers_.lines_out(), pending_ ? ", one for room at the link" : "");
}

std::vector<CheckResult> CxlMemHost::checks() const {
  if (!is_quiet()) {
    return {};
  }
  return {transfers_.check(std::string(name()) +
                           ": every byte asked for or written by CXL.mem was answered or lost")};
}

CxlMemDevice::CxlMemDevice(const sc_core::sc_module_name& name, const CxlDeviceConfig& config,
                           PacketPool& pool, unsigned queue_depth)
    : ComponentModule(name),
      config_(config),
      queue_depth_(queue_depth),
      pool_(pool),
      rules_(config.memory),
      answers_(256) {
  from_link.register_nb_transport_fw(this, &CxlMemDevice::receive, 0);
  to_link.register_nb_transport_bw(this, &CxlMemDevice::link_has_room, 0);
}

// Requests take effect in their order, and never wait for an answer to leave: what cannot go yet
// stays here.
[[gnu::flatten]] tlm::tlm_sync_enum CxlMemDevice::receive(int /*id*/, Packet& packet,
                                                          tlm::tlm_phase& /*phase*/,
                                                          sc_core::sc_time& /*delay*/) {
  out_.clear();
  if (rules_.receive(*packet.cxl, line_with(packet), out_)) {
    packet.stamp(Hop::kMemory, now() + config_.timing.controller + config_.timing.latency);
  }
  for (const CxlOut& out : out_) {
    answer(packet, out);
  }
  return tlm::TLM_COMPLETED;
}

void CxlMemDevice::answer(const Packet& request, const CxlOut& out) {
  PacketRef packet = pool_.make(PacketKind::kCxl);
  *packet->cxl = out.message;
  packet->counts = request.counts;
  if (out.message.has_data()) {
    packet->payload_bytes =
        static_cast<std::uint32_t>(__builtin_popcountll(request.cxl->byte_enables));
    packet->length_only = request.length_only;
    if (!request.length_only) {
      packet->payload.assign(out.line.begin(), out.line.end());
    }
  }
  send(std::move(packet), now() + config_.timing.controller * 2 + config_.timing.latency);
}

void CxlMemDevice::send(PacketRef message, Time ready) {
  answers_.send({std::move(message), ready, {}}, [this](const Outbox::Entry& entry) {
    return hand_over(to_link, *entry.packet, entry.ready);
  });
}

tlm::tlm_sync_enum CxlMemDevice::link_has_room(int /*id*/, Packet& /*packet*/,
                                               tlm::tlm_phase& /*phase*/,
                                               sc_core::sc_time& /*delay*/) {
  answers_.drain([this](const Outbox::Entry& entry) {
    return hand_over(to_link, *entry.packet, entry.ready);
  });
  return tlm::TLM_COMPLETED;
}

std::vector<WaitResult> CxlMemDevice::waits() const {
  return {answers_.waits().result({name(), "cxl_queues", ResourceRole::kSlots, "up", "",
                                   "link.cxl.queue_depth", queue_depth_})};
}

std::map<std::string, std::uint64_t> CxlMemDevice::errors() const {
  const BadMessageCounts& bad = rules_.bad_messages();
  const std::uint64_t outside = bad[BadMessage::kBadAddress];
  return {{"cxl_address_outside_memory", outside},
          {"unexpected_cxl_message", bad.total() - outside}};
}

}  // namespace flitwise
