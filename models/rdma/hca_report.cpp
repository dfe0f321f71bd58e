// SPDX-License-Identifier: Apache-2.0
// What an adapter tells of itself.
#include <fmt/format.h>
#include <boost/range/algorithm_ext/push_back.hpp>

#include <algorithm>

#include "common/ranges.h"
#include "flitwise/link_socket.h"
#include "rdma/hca.h"

namespace flitwise {
namespace {

constexpr bool is_drop(QpCounter counter) {
  return counter <= QpCounter::kForgotten;
}

}  // namespace

bool Hca::is_quiet() const {
  return set_ups_.empty() &&
         all_of(modules_, [](const HcaModule* stage) { return stage->is_quiet(); });
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
  if (!pairs_.are_served()) {
    add("the physical function has put it out of service");
  }
  for (const HcaModule* const stage : modules_) {
    add(stage->waiting());
  }
  constexpr int kShown = 4;
  int shown = 0;
  for (const HcaPair& pair : pairs_) {
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

// What a peer has lost is asked for again when a timer runs out. [LR-3] [VB-9]
Time Hca::waits_until() const {
  const Time timer =
      std::min(completion_.next_timer(), sessions_ ? sessions_->waits_until() : Time::never());
  return timer == Time::never() ? Time{} : timer;
}

void Hca::start_window() {
  const Time now = flitwise::now();
  before_ = totals_;
  before_.untranslated = dma_.static_accesses();
  before_.retransmits = pairs_.sum_of(QpCounter::kResent);
  counts_ = true;
  window_begin_ = now;
  for (HcaModule* const stage : modules_) {
    stage->start_window(now);
  }
}

void Hca::end_window() {
  window_end_ = flitwise::now();
  for (HcaModule* const stage : modules_) {
    stage->end_window(window_end_);
  }
}

void Hca::extend_window() {
  window_end_ = Time::never();
  for (HcaModule* const stage : modules_) {
    stage->end_window(window_end_);
  }
}

std::vector<WaitResult> Hca::waits() const {
  std::vector<WaitResult> all;
  for (const HcaModule* const stage : modules_) {
    stage->add_waits(name(), all);
  }
  for (const HcaModule* const stage : modules_) {
    stage->add_more_waits(name(), flitwise::now(), all);
  }
  return all;
}

void Hca::report(RunResult& result) const {
  HcaResult row = totals_;
  row.retransmits = pairs_.sum_of(QpCounter::kResent);
  row.untranslated = dma_.static_accesses();
  row -= before_;
  row.pretranslated = dma_.pretranslated();
  row.untranslated -= row.pretranslated;
  row.pretranslated_read = dma_.static_reads(true).mean_ns();
  row.untranslated_read = dma_.static_reads(false).mean_ns();
  row.device = device_;
  row.drops = receiver_.drops();
  for (int i = 0; i < kQpCounters; ++i) {
    const auto counter = static_cast<QpCounter>(i);
    if (const std::uint64_t count = pairs_.sum_of(counter); is_drop(counter) && count > 0) {
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
  if (sessions_) {
    boost::range::push_back(result.rows<SrdmaSessionResult>(), sessions_->sessions(device_));
  }
  for (const HcaModule* const stage : modules_) {
    HcaStageResult& one = result.rows<HcaStageResult>().emplace_back(stage->result(now()));
    one.device = device_;
  }
}

Component::Counts Hca::errors() const {
  Counts all;
  for (const HcaModule* const stage : modules_) {
    stage->add_errors(all);
  }
  for (int i = 0; i < kQpCounters; ++i) {
    all[name_of(static_cast<QpCounter>(i))] += pairs_.sum_of(static_cast<QpCounter>(i));
  }
  all["frame_lost"] += faults().lost;
  all["frame_damaged"] += faults().damaged;
  all["frame_repeated"] += faults().repeated;
  all["frame_delayed"] += faults().delayed;
  for (auto one = all.begin(); one != all.end();) {
    one = one->second == 0 ? all.erase(one) : std::next(one);
  }
  return all;
}

std::vector<CheckResult> Hca::checks() const {
  const std::string own = device_ + ": ";
  const FrameFaults::Counts struck = far_ == nullptr ? FrameFaults::Counts{} : far_->faults();
  const std::uint64_t sent = far_ == nullptr ? 0 : far_->sent();
  const std::string told =
      struck.lost + struck.repeated == 0
          ? ""
          : fmt::format(", {} lost, {} repeated", struck.lost, struck.repeated);
  std::vector<CheckResult> all = {
      {own + "frames that the peer sent came, or are on the cable",
       sent - struck.lost + struck.repeated == totals_.received_frames + receiver_.on_cable(),
       fmt::format("{} sent{}, {} came, {} on the cable", sent, told, totals_.received_frames,
                   receiver_.on_cable())},
      {own + "states of queue pairs were read as they were written back", states_.wrong() == 0,
       fmt::format("{} were not", states_.wrong())},
      {own + "frames fit into the payload RAM", receiver_.peak_ram() <= config_.rdma.payload_ram,
       fmt::format("{} of {} bytes", receiver_.peak_ram(), config_.rdma.payload_ram)}};
  if (sessions_) {
    const std::uint64_t carried = sessions_->carried() + builder_.forged();
    all.push_back({own + "no packet left without a session", totals_.sent_frames == carried,
                   fmt::format("{} frames, {} of sessions, control messages and made up",
                               totals_.sent_frames, carried)});
    all.push_back({own + "levels and weights are from 0 to 1", sessions_->are_scores_sound(), ""});
    all.push_back({own + "a reorder buffer holds no more than its queue pair may",
                   receive_.peak_held() <= config_.sessions->host.pair.reorder_window,
                   fmt::format("{} packets", receive_.peak_held())});
  }
  return all;
}

}  // namespace flitwise
