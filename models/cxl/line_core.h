// SPDX-License-Identifier: Apache-2.0
/// A core that asks a cache for what an engine wants, line by line and in order: what it wants
/// next, what it has out, and its books. [CXL-7.2]
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "coherence/core_request.h"
#include "common/due_queue.h"
#include "cxl/line_transfers.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "flitwise/result.h"
#include "trace/latency_tracer.h"

namespace flitwise {

/// How a line is asked for that is to be read.
CoreOp read_of(CxlCacheRead read);

class LineCore {
 public:
  /// `read` and `write` are how it asks.
  LineCore(PacketPool& pool, LatencyTracer& tracer, CoreOp read, CoreOp write)
      : pool_(pool), tracer_(tracer), read_(read), write_(write), transfers_(tracer) {}

  /// Where its work comes from; it outlives the core.
  void attach(Engine& engine) { transfers_.attach(engine); }
  /// Asks for lines in order, at most `limit` of them on one edge of the clock, up to one that
  /// cannot be had now: it holds up those behind it.
  /// bool accepts(const CoreRequest&): it can be had; the bytes of a write are not there yet.
  /// void ask(const CoreRequest&, PacketRef): it is asked for; the packet may carry the request.
  /// What is over by now is told to the engine before. Returns when to go on though nothing has
  /// come back.
  template <class Accepts, class Ask>
  Time ask_for_lines(Time now, unsigned limit, Accepts&& accepts, Ask&& ask) {
    tell_engine(now);
    const Time next = ask_up_to(limit, now, accepts, ask);
    return std::min(next, ends_.next());
  }
  /// What was asked for reaches the core at `done`; takes the results. is_answer: it was not there,
  /// but had to come, and keeps its place among the requests that may be out until then.
  void finish(CoreResults& results, Time done, bool is_answer = false) {
    for (const CoreResult& result : results) {
      finish(result, done, is_answer);
    }
    results.clear();
  }
  /// Tells the engine what is over by now; returns when something will be.
  Time tell_engine(Time now);
  /// Requests whose answer is here, and not yet at the core.
  std::size_t answers_under_way() const { return answers_; }
  /// All that is out fails. [CXL-7.5]
  void lose_all(Time now);

  std::uint32_t lines_out() const { return transfers_.lines_out(); }
  std::uint64_t lines_over() const { return transfers_.lines_over(); }
  Time last_completion() const { return last_completion_; }
  /// Counted by kind, zeros as well.
  std::map<std::string, std::uint64_t> errors() const {
    return {{"cxl_request_refused", refused_}, {"cxl_request_lost", lost_}};
  }
  /// REQUIRES: nothing is out.
  CheckResult check(const std::string& name) const {
    return transfers_.check(name + ": every byte asked of the cache was answered or lost");
  }

 private:
  /// What is asked for, by its token.
  struct Operation {
    PacketRef packet;
    LineTransfers::Line line;
    bool is_out = false;     // and has no result
    bool is_answer = false;  // its result came from elsewhere
    TransferStatus status = TransferStatus::kDone;
  };
  template <class Accepts, class Ask>
  Time ask_up_to(unsigned limit, Time now, Accepts& accepts, Ask& ask) {
    asked_ = now == asked_at_ ? asked_ : 0;
    asked_at_ = now;
    while (transfers_.has_line(now)) {
      if (asked_ == limit) {
        return now + Time{1};
      }
      CoreRequest request = wanted();
      if (!accepts(std::as_const(request))) {
        return Time::never();
      }
      ++asked_;
      PacketRef packet = take(request, now);
      ask(std::as_const(request), std::move(packet));
    }
    return transfers_.next_at();
  }
  CoreRequest wanted();
  PacketRef take(CoreRequest& request, Time now);
  void finish(const CoreResult& result, Time done, bool is_answer);
  void end(std::uint32_t token, TransferStatus status, Time when);

  PacketPool& pool_;
  LatencyTracer& tracer_;
  CoreOp read_, write_;
  LineTransfers transfers_;
  std::vector<Operation> operations_;  // by token
  std::vector<std::uint32_t> free_;    // of them
  DueQueue<std::uint32_t> ends_;       // tokens whose results are on their way to the core
  std::size_t answers_ = 0;            // among them
  Time asked_at_ = Time::never();
  unsigned asked_ = 0;  // then
  Time last_completion_{};
  std::uint64_t refused_ = 0, lost_ = 0;  // requests
};

}  // namespace flitwise
