// SPDX-License-Identifier: Apache-2.0
/// A core that asks a cache for what an engine wants, line by line and in order: what it wants
/// next, what it has out, and its counters. [CXL-7.2]
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coherence/agent_books.h"
#include "coherence/core_request.h"
#include "common/due_queue.h"
#include "cxl/line_transfers.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "flitwise/result.h"
#include "stats/wait_book.h"
#include "trace/latency_tracer.h"

namespace flitwise {

/// How a line is asked for that is to be read.
inline CoreOp read_of(CxlCacheRead read) {
  static constexpr CoreOp kReads[] = {CoreOp::kRead, CoreOp::kReadAny, CoreOp::kReadOnce};
  return kReads[static_cast<std::size_t>(read)];
}

class LineCore {
 public:
  /// `read` and `write` are how it asks.
  LineCore(PacketPool& pool, LatencyTracer& tracer, CoreOp read, CoreOp write)
      : pool_(pool), tracer_(tracer), read_(read), write_(write), transfers_(tracer) {}

  /// Where its work comes from; it outlives the core.
  void attach(Engine& engine) { transfers_.attach(engine); }
  /// Asks for lines in order, at most `limit` of them on one edge of the clock, up to one that
  /// cannot be had now: it holds up those behind it.
  /// CoreObstacle obstacle(const CoreRequest&): what is in its way; the bytes of a write are not
  /// there yet.
  /// void ask(const CoreRequest&, PacketRef): it is asked for; the packet may carry the request.
  /// What is over by now is told to the engine before. Returns when to go on though nothing has
  /// come back.
  template <class Obstacle, class Ask>
  Time ask_for_lines(Time now, unsigned limit, Obstacle&& obstacle, Ask&& ask) {
    tell_engine(now);
    asked_ = now == asked_at_ ? asked_ : 0;
    asked_at_ = now;
    while (transfers_.has_line(now)) {
      if (asked_ == limit) {
        return std::min(now + Time{1}, ends_.next());
      }
      CoreRequest request = wanted();
      const CoreObstacle found = obstacle(std::as_const(request));
      if (found != obstacle_) {
        meet(found, now);
      }
      if (found != CoreObstacle::kNone) {
        return ends_.next();
      }
      ++asked_;
      PacketRef packet = take(request, now);
      ask(std::as_const(request), std::move(packet));
    }
    return std::min(transfers_.next_at(), ends_.next());
  }
  /// What was asked for reaches the core at `done`; takes the results. is_answer: it was not there,
  /// but had to come, and keeps its place among the requests that may be out until then.
  void finish(CoreResults& results, Time done, bool is_answer = false) {
    for (const CoreResult& result : results) {
      finish(result, done, is_answer);
    }
    results.clear();
  }
  /// A write of this line that the home had is over: memory has its bytes, or they were lost on
  /// their way. Of others it means nothing. [COH-3.11]
  void write_over(std::uint64_t line, bool is_written, Time when);
  /// Tells the engine what is over by now; returns when something will be.
  Time tell_engine(Time now);
  /// Requests whose answer is here, and not yet at the core.
  std::size_t answers_under_way() const { return answers_; }
  /// All that is out fails; of what the home has, it says what becomes of it. [CXL-7.5]
  void lose_all(Time now);

  void start_window(Time now);
  /// Of the line that goes next: for an identifier, its line, or a way of the cache, which
  /// `size_key` sizes. `queues`: those of the agent's messages, behind them.
  std::vector<WaitResult> waits(const Resource& ids, const char* size_key, WaitResult queues) const;
  WaitResult wait_for(CoreObstacle obstacle, Resource resource) const;  ///< of that line as well

  /// The cache knows the line under this address.
  void asked_at(std::uint32_t token, std::uint64_t at) { operations_[token].address = at; }
  /// Of the line that goes next. REQUIRES: within `obstacle` of ask_for_lines().
  const Transfer& transfer() const { return transfers_.transfer(transfers_.line().transfer); }
  std::uint32_t lines_out() const { return transfers_.lines_out(); }
  std::uint64_t lines_over() const { return transfers_.lines_over(); }
  Time last_completion() const { return last_completion_; }
  /// Counted by kind.
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
    std::uint64_t address = 0;          // of the line, for the cache
    bool is_out = false;                // and has no result
    bool is_answer = false;             // its result came from elsewhere
    unsigned awaited = 1;               // its result, and of some writes the word of the home
    std::optional<bool> written_early;  // what the home said before GO
    TransferStatus status = TransferStatus::kDone;
  };
  void meet(CoreObstacle obstacle, Time now);
  CoreRequest wanted();
  PacketRef take(CoreRequest& request, Time now);
  void finish(const CoreResult& result, Time done, bool is_answer);
  void home_has(std::uint32_t token, Time done);
  void note_early(std::uint64_t line, bool is_written);
  void written(Operation& operation, Time when);
  void end(std::uint32_t token, TransferStatus status, Time when);

  PacketPool& pool_;
  LatencyTracer& tracer_;
  CoreOp read_, write_;
  LineTransfers transfers_;
  TokenPool<Operation> operations_;
  DueQueue<std::uint32_t> ends_;      // tokens whose results are on their way to the core
  LineTable<std::uint32_t> at_home_;  // tokens of writes that memory does not have yet
  std::size_t answers_ = 0;           // among them
  Time asked_at_ = Time::never();
  unsigned asked_ = 0;                           // then
  CoreObstacle obstacle_ = CoreObstacle::kNone;  // in the way of the line that goes next
  Time met_at_{};
  std::array<WaitBook, kCoreObstacles> waits_;  // by CoreObstacle
  Time last_completion_{};
  std::uint64_t refused_ = 0, lost_ = 0;  // requests
};

}  // namespace flitwise
