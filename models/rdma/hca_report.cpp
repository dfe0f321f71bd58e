// SPDX-License-Identifier: Apache-2.0
// What an adapter tells of itself.
#include <fmt/format.h>

#include <algorithm>

#include "common/ranges.h"
#include "flitwise/link_socket.h"
#include "rdma/hca.h"

namespace flitwise {
namespace {

constexpr bool is_drop(QpCounter counter) {
  return counter <= QpCounter::kForgotten;
}

// What the cable has done to what left by the port.
FrameFaults::Counts faults_of(const NicPort* port) {
  return port == nullptr ? FrameFaults::Counts{} : port->faults();
}

}  // namespace

bool Hca::is_quiet() const {
  return commands_.is_quiet() && collect_.empty() && kicks_.empty() && fetch_.empty() &&
         fetched_.empty() && unfetched_.empty() && ready_.empty() && made_.empty() &&
         build_.empty() && arriving_.empty() && check_.empty() && receive_.empty() && !atomic_ &&
         entry_.empty() && validate_.empty() && complete_.empty() && dma_.is_quiet();
}

void Hca::add_progress(Progress& sum) const {
  sum.steps += totals_.wqes + totals_.sent_frames + totals_.received_frames + totals_.cqes;
}

std::string Hca::waiting() const {
  std::string text;
  const auto add = [&](const std::string& what) {
    if (!what.empty()) {
      text += fmt::format("{}: {}\n", name(), what);
    }
  };
  for (const std::string& stage :
       {collect_.waiting(), kicks_.waiting(), fetch_.waiting(), build_.waiting(), check_.waiting(),
        receive_.waiting(), entry_.waiting(), validate_.waiting(), complete_.waiting()}) {
    add(stage);
  }
  if (!unfetched_.empty()) {
    add(fmt::format("{} wait for the state of their queue pair", unfetched_.size()));
  }
  if (atomic_) {
    add(fmt::format("an atomic of queue pair {} waits for host memory",
                    atomic_->pair + kFirstQueuePair));
  }
  constexpr int kShown = 4;
  int shown = 0;
  for (const Pair& pair : pairs_) {
    const RcRequester& requester = pair.rules.requester();
    if (requester.waiting() == 0 || ++shown > kShown) {
      continue;
    }
    const std::uint32_t out = (requester.sent_end() - requester.oldest()) & kPsnMask;
    add(fmt::format("queue pair {} ({}): {} work requests wait for {}{}", pair.rules.setup().number,
                    name_of(pair.rules.state()), requester.waiting(),
                    requester.waits_for_rnr() ? "a receive buffer of the peer"
                    : out > 0                 ? fmt::format("acknowledgement of {} PSNs", out)
                                              : "their turn",
                    pair.rules.count(QpCounter::kTimeOut) > 0
                        ? fmt::format(", after {} time-outs", pair.rules.count(QpCounter::kTimeOut))
                        : ""));
  }
  return text;
}

void Hca::start_window() {
  const Time now = flitwise::now();
  before_ = totals_;
  before_.untranslated = static_accesses();
  before_.retransmits = sum_of_pairs(QpCounter::kResent);
  counts_ = true;
  window_begin_ = now;
  port_busy_ = Time{};
  dma_.start_window();
  collect_.start_window(now);
  kicks_.start_window(now);
  fetch_.start_window(now);
  build_.start_window(now);
  check_.start_window(now);
  receive_.start_window(now);
  entry_.start_window(now);
  validate_.start_window(now);
  complete_.start_window(now);
  memory_waits_.start_window(now);
  pinned_waits_.start_window(now);
}

std::vector<WaitResult> Hca::waits() const {
  const std::string place = name();
  std::vector<WaitResult> all = {collect_.waits(place, "down"), kicks_.waits(place, "down"),
                                 fetch_.waits(place, "down"),   build_.waits(place, "down"),
                                 check_.waits(place, "down"),   receive_.waits(place, "down"),
                                 entry_.waits(place, "down"),   validate_.waits(place, "down"),
                                 complete_.waits(place, "down")};
  all.push_back(memory_waits_.result({place, "dma_memory", ResourceRole::kSlots, "down", "write",
                                      "device.rdma.dma_memory", config_.rdma.dma_memory}));
  all.push_back(pinned_waits_.result({place, "qp_states", ResourceRole::kSlots, "down", "write",
                                      "device.rdma.qpsc_entries", config_.rdma.qpsc_entries}));
  WaitResult port{
      {place, "port", ResourceRole::kServer, "down", "write", "device.rdma.port.rate", 1}};
  const Time window = std::min(window_end_, flitwise::now()) - window_begin_;
  port.busy = window > Time{} ? std::min(port_busy_.ns() / window.ns(), 1.0) : 0;
  port.span = window;
  all.push_back(port);
  return all;
}

std::uint64_t Hca::sum_of_pairs(QpCounter counter) const {
  return sum_of<std::uint64_t>(pairs_, [&](const Pair& pair) { return pair.rules.count(counter); });
}

// Rings, states and completion queues stay where they are.
std::uint64_t Hca::static_accesses() const {
  using Kind = HcaDma::Kind;
  std::uint64_t sum = 0;
  for (const Kind kind : {Kind::kSendEntries, Kind::kReceiveEntries, Kind::kState, Kind::kStateBack,
                          Kind::kCompletion}) {
    sum += dma_.count(kind);
  }
  return sum;
}

void Hca::report(RunResult& result) const {
  HcaResult row = totals_;
  row.retransmits = sum_of_pairs(QpCounter::kResent);
  row.untranslated = 0;
  row -= before_;
  for (const HcaDma::Kind kind :
       {HcaDma::Kind::kSendEntries, HcaDma::Kind::kReceiveEntries, HcaDma::Kind::kState,
        HcaDma::Kind::kStateBack, HcaDma::Kind::kCompletion}) {
    row.untranslated += dma_.count(kind);
  }
  row.device = device_;
  row.drops = drops_;
  for (int i = 0; i < kQpCounters; ++i) {
    const auto counter = static_cast<QpCounter>(i);
    if (const std::uint64_t count = sum_of_pairs(counter); is_drop(counter) && count > 0) {
      row.drops[name_of(counter)] += count;
    }
  }
  if (row.wqes > 0) {
    RequestRoute& used = result.routes.emplace_back(route_);
    used.requests = row.wqes;
    used.begin = window_begin_;
    used.end = std::min(window_end_, flitwise::now());
  }
  result.rows<HcaResult>().push_back(std::move(row));
}

Component::Counts Hca::errors() const {
  Counts all;
  const auto add = [&](const std::string& kind, std::uint64_t count) {
    if (count > 0) {
      all[kind] += count;
    }
  };
  for (const auto& [kind, count] : drops_) {
    add(kind, count);
  }
  for (int i = 0; i < kQpCounters; ++i) {
    add(name_of(static_cast<QpCounter>(i)), sum_of_pairs(static_cast<QpCounter>(i)));
  }
  const FrameFaults::Counts faults = faults_of(port_);
  add("frame_lost", faults.lost);
  add("frame_damaged", faults.damaged);
  add("frame_repeated", faults.repeated);
  add("frame_delayed", faults.delayed);
  add("bad_ring_entry", bad_entries_);
  add("bad_doorbell", bad_doorbells_);
  add("bad_command", commands_.bad());
  add("command_timeout", commands_.timed_out());
  add("failed_dma", dma_.failed());
  return all;
}

std::vector<CheckResult> Hca::checks() const {
  const std::string own = device_ + ": ";
  const FrameFaults::Counts faults = faults_of(peer_ == nullptr ? nullptr : peer_->port_);
  const std::uint64_t sent = peer_ == nullptr ? 0 : peer_->frames_sent();
  const std::string struck =
      faults.lost + faults.repeated == 0
          ? ""
          : fmt::format(", {} lost, {} repeated", faults.lost, faults.repeated);
  return {{own + "frames that the peer sent came, or are on the cable",
           sent - faults.lost + faults.repeated == totals_.received_frames + arriving_.size(),
           fmt::format("{} sent{}, {} came, {} on the cable", sent, struck, totals_.received_frames,
                       arriving_.size())},
          {own + "states of queue pairs were read as they were written back", wrong_states_ == 0,
           fmt::format("{} were not", wrong_states_)},
          {own + "frames fit into the payload RAM", peak_ram_ <= config_.rdma.payload_ram,
           fmt::format("{} of {} bytes", peak_ram_, config_.rdma.payload_ram)}};
}

}  // namespace flitwise
