// SPDX-License-Identifier: Apache-2.0
// CXL.cache and CXL.mem in 256-byte flits.
#include "link/cxl256_cachemem.h"

#include <algorithm>

#include "cxl/flit_frame.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kHeader256Bits = 16, kCreditBits = 16;

CxlFlitForm form_of(const CxlLinkConfig& cxl) {
  return cxl.latency_optimised ? CxlFlitForm::k256LatencyOptimised : CxlFlitForm::k256;
}

// What stands beside the slots. [CXL-4.1] [CXL-4.4]
WireSize overhead(CxlFlitForm form) {
  WireSize size;
  size.framing = kHeader256Bits;
  size.dllp = kCreditBits;
  for (const CxlCheck& check : checks_of(form)) {
    size.crc += static_cast<std::uint32_t>(check.bytes * 8);
  }
  size.fec = kCxlFecBytes * 8;
  return size;
}

}  // namespace

Cxl256CacheMem::Cxl256CacheMem(const CxlLinkConfig& cxl, CxlQueues& queues)
    : queues_(queues),
      credits_after_(cxl.timing.ack_after),
      writer_({form_of(cxl), cxl.identity_bits}, queues),
      packer_(writer_.widths(), queues.direction(),
              CxlPackingRules(writer_.widths().form, cxl.per_flit)),
      returns_(advertised_credits(cxl)) {}

void Cxl256CacheMem::start(Time now) {
  is_up_ = true;
  owed_since_ = now;
}

bool Cxl256CacheMem::has_work(Time now) {
  if (!is_up_) {
    return false;
  }
  waiting_ = queues_.waiting(now);
  return packer_.owed() > 0 || has_any(waiting_) || deadline() <= now;
}

// Credits that do not fit wait for the next flit as long as they did. [CXL-6.4]
void Cxl256CacheMem::fill(Time now, Flit& flit, WireSize& size) {
  flit.is_cachemem = true;
  flit.has_payload = true;
  size = overhead(writer_.widths().form);
  packer_.pack(waiting_, layout_);
  writer_.write(layout_, flit, size);
  flit.cxl.credits = returns_.take_counts();
  if (!returns_.has_untold()) {
    owed_since_ = Time::never();
  } else if (owed_since_ == Time::never()) {
    owed_since_ = now;
  }
}

void Cxl256CacheMem::receive_half(const Flit& flit, std::vector<PacketRef>& delivered,
                                  FramerStats& stats) {
  take(flit, flit.starts_in_half, flit.ends_in_half, delivered, stats);
}

void Cxl256CacheMem::receive(const Flit& flit, std::vector<PacketRef>& delivered,
                             FramerStats& stats) {
  for (std::size_t c = 0; c < kCxlCredits; ++c) {
    queues_.gate().give(c, flit.cxl.credits[c]);
  }
  take(flit, flit.starts.size(), flit.ends.size(), delivered, stats);
  starts_taken_ = ends_taken_ = 0;
}

// What is taken already has come with the first half, perhaps of an earlier try.
void Cxl256CacheMem::take(const Flit& flit, std::size_t starts_until, std::size_t ends_until,
                          std::vector<PacketRef>& delivered, FramerStats& stats) {
  for (; starts_taken_ < starts_until; ++starts_taken_) {
    stats.credit_overruns += returns_.receive(flit.starts[starts_taken_]->cxl->channel) ? 0 : 1;
  }
  for (; ends_taken_ < ends_until; ++ends_taken_) {
    delivered.push_back(flit.ends[ends_taken_]);
  }
}

void Cxl256CacheMem::freed(const Packet& packet, Time now) {
  returns_.free(packet.cxl->channel);
  if (owed_since_ == Time::never()) {
    owed_since_ = now;
  }
}

Time Cxl256CacheMem::deadline() const {
  if (!is_up_) {
    return Time::never();
  }
  if (packer_.owed() > 0 || returns_.is_urgent()) {
    return Time{};
  }
  return owed_since_ == Time::never() ? owed_since_ : owed_since_ + credits_after_;
}

void Cxl256CacheMem::reset() {
  packer_.reset();
  writer_.reset();
  returns_.reset();
  owed_since_ = Time::never();
  starts_taken_ = ends_taken_ = 0;
  is_up_ = false;
}

}  // namespace flitwise
