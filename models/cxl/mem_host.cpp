// SPDX-License-Identifier: Apache-2.0
// The host's end of CXL.mem.
#include "cxl/mem_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace flitwise {
namespace {

constexpr std::uint64_t kLineMask = kCxlLineBytes - 1;

std::uint64_t bytes_of(const CxlMessage& message) {
  return static_cast<std::uint64_t>(__builtin_popcountll(message.byte_enables));
}

// Bytes first .. end-1 of a line.
std::uint64_t enables_of(std::uint64_t first, std::uint64_t end) {
  const std::uint64_t below_end =
      end == kCxlLineBytes ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
  return below_end & ~((std::uint64_t{1} << first) - 1);
}

}  // namespace

CxlMemHost::CxlMemHost(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
                       LatencyTracer& tracer)
    : sc_module(name),
      config_(config),
      pool_(pool),
      tracer_(tracer),
      wakeup_("wakeup", config.host.timing.clock),
      requests_(config.host.cxl_mem.outstanding) {
  for (std::size_t tag = requests_.size(); tag > 0; --tag) {
    free_tags_.push_back(static_cast<std::uint16_t>(tag - 1));
  }
  from_link.register_nb_transport_fw(this, &CxlMemHost::receive, 0);
  to_link.register_nb_transport_bw(this, &CxlMemHost::link_has_room, 0);
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  wakeup_.wakes(options);
  sc_core::sc_spawn([this] { work(); }, "work_process", &options);
}

void CxlMemHost::work() {
  wakeup_.taken();
  if (engine_ == nullptr || is_down_) {
    return;
  }
  const Time t = now();
  while (!pending_ && !free_tags_.empty() && (has_current_ || begin_transfer(t))) {
    send_line(t);
  }
  if (!has_current_ && !pending_) {
    if (const Time next = engine_->next_at(); next != Time::never()) {
      wakeup_.at(next);
    }
  }
}

bool CxlMemHost::begin_transfer(Time now) {
  if (free_active_.empty()) {
    free_active_.push_back(static_cast<std::uint32_t>(active_.size()));
    active_.emplace_back();
  }
  Active& active = active_[free_active_.back()];
  if (!engine_->next(now, active.transfer)) {
    return false;
  }
  current_ = free_active_.back();
  free_active_.pop_back();
  active.lines_out = 0;
  active.all_sent = false;
  active.status = TransferStatus::kDone;
  has_current_ = true;
  next_address_ = active.transfer.address;
  end_ = next_address_ + std::max(active.transfer.bytes, 1U);
  return true;
}

// The next line of the present transfer: MemRd, MemWr, or MemWrPtl for a part of one. [CXL-3.8]
PacketRef CxlMemHost::make_request() {
  const Transfer& transfer = active_[current_].transfer;
  const std::uint64_t line = next_address_ & ~kLineMask;
  const std::uint64_t end = std::min(end_, line + kCxlLineBytes);
  PacketRef packet = pool_.make(PacketKind::kCxl);
  CxlMessage& message = *packet->cxl;
  message.address = line;
  message.byte_enables = enables_of(next_address_ - line, end - line);
  const bool is_whole = message.byte_enables == ~std::uint64_t{0};
  packet->length_only = !config_.workload.real_payload;
  if (transfer.op == Op::kRead) {
    message.channel = CxlChannel::kM2sReq;
    message.opcode = static_cast<std::uint8_t>(cxl::M2sReq::kMemRd);
  } else {
    message.channel = CxlChannel::kM2sRwd;
    message.opcode =
        static_cast<std::uint8_t>(is_whole ? cxl::M2sRwd::kMemWr : cxl::M2sRwd::kMemWrPtl);
    packet->payload_bytes = static_cast<std::uint32_t>(end - next_address_);
    if (!packet->length_only) {
      packet->payload.resize(kCxlLineBytes);
      for (std::size_t i = 0; i < kCxlLineBytes; i += sizeof pattern_) {
        ++pattern_;
        std::memcpy(packet->payload.data() + i, &pattern_, sizeof pattern_);
      }
    }
  }
  asked_bytes_ += end - next_address_;
  packet->domain = transfer.domain;
  packet->counts = transfer.counts;
  packet->request = current_;
  packet->stamp(Hop::kIssue, transfer.issue);
  next_address_ = end;
  packet->ends_request = end == end_;
  return packet;
}

bool CxlMemHost::send_line(Time now) {
  if (!pending_) {
    pending_ = make_request();
    pending_->cxl->id = free_tags_.back();
    free_tags_.pop_back();
    requests_[pending_->cxl->id] = pending_;
    Active& active = active_[current_];
    ++active.lines_out;
    ++out_;
    active.all_sent = pending_->ends_request;
    has_current_ = !active.all_sent;
    pending_->stamp(Hop::kHandle, now);
    pending_ready_ = now + config_.host.cxl_mem.bridge;
  }
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = to_sc_time(pending_ready_ > now ? pending_ready_ - now : Time{});
  if (!is_taken(to_link->nb_transport_fw(*pending_, phase, delay))) {
    return false;
  }
  pending_.reset();
  return true;
}

tlm::tlm_sync_enum CxlMemHost::link_has_room(int /*id*/, Packet& /*packet*/,
                                             tlm::tlm_phase& /*phase*/,
                                             sc_core::sc_time& /*delay*/) {
  if (pending_ && send_line(now())) {
    wakeup_.at(now());
  }
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum CxlMemHost::receive(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                                       sc_core::sc_time& /*delay*/) {
  const CxlMessage& message = *packet.cxl;
  const bool is_data = message.channel == CxlChannel::kS2mDrs;
  const bool is_known = message.id < requests_.size() && requests_[message.id] &&
                        (is_data || message.channel == CxlChannel::kS2mNdr) &&
                        is_data == (requests_[message.id]->cxl->channel == CxlChannel::kM2sReq);
  if (!is_known) {
    ++errors_["unexpected_cxl_message"];
    return tlm::TLM_COMPLETED;
  }
  const Time done = now() + config_.host.cxl_mem.bridge;
  const Packet& request = *requests_[message.id];
  answered_bytes_ += bytes_of(*request.cxl);
  if (is_data) {
    tracer_.read_completed(request, active_[request.request].transfer.issue, done);
  } else {
    tracer_.write_committed(request);
  }
  last_completion_ = std::max(last_completion_, done);
  end_line(message.id, TransferStatus::kDone, done);
  return tlm::TLM_COMPLETED;
}

void CxlMemHost::end_line(std::uint16_t tag, TransferStatus status, Time done) {
  const PacketRef request = std::move(requests_[tag]);
  requests_[tag].reset();
  free_tags_.push_back(tag);
  --out_;
  Active& active = active_[request->request];
  active.status = status == TransferStatus::kDone ? active.status : status;
  if (--active.lines_out == 0 && active.all_sent) {
    const Transfer& transfer = active.transfer;
    engine_->finished(
        {transfer.token, transfer.domain, transfer.op, active.status, transfer.ends_context, done});
    free_active_.push_back(request->request);
  }
  wakeup_.at(now());
}

void CxlMemHost::link_lost() {
  is_down_ = true;
  pending_.reset();
  for (std::size_t tag = 0; tag < requests_.size(); ++tag) {
    if (requests_[tag]) {
      ++errors_["cxl_request_lost"];
      lost_bytes_ += bytes_of(*requests_[tag]->cxl);
      end_line(static_cast<std::uint16_t>(tag), TransferStatus::kTimeout, now());
    }
  }
}

void CxlMemHost::link_up() {
  is_down_ = false;
  wakeup_.at(now());
}

std::string CxlMemHost::waiting() const {
  return is_quiet() ? ""
                    : fmt::format("{}: {} CXL.mem requests wait for their answers{}\n", name(),
                                  out_, pending_ ? ", one for room at the link" : "");
}

std::vector<CheckResult> CxlMemHost::checks() const {
  if (!is_quiet()) {
    return {};
  }
  return {
      {std::string(name()) + ": every byte asked for or written by CXL.mem was answered or lost",
       asked_bytes_ == answered_bytes_ + lost_bytes_,
       fmt::format("{} asked for, {} answered, {} lost with the link", asked_bytes_,
                   answered_bytes_, lost_bytes_)}};
}

}  // namespace flitwise
