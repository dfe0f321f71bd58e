// SPDX-License-Identifier: Apache-2.0
/// Transfers of an engine, line by line: gives out the lines of one after the other, and tells the
/// engine when all lines of one are over. [CXL-3.8]
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "coherence/cxl_line.h"
#include "common/slot_list.h"
#include "endpoint/engine.h"
#include "flitwise/result.h"
#include "trace/latency_tracer.h"

namespace flitwise {

class LineTransfers {
 public:
  /// What a transfer wants of one line.
  struct Line {
    std::uint32_t transfer = 0;
    std::uint64_t address = 0;       ///< of the line
    std::uint64_t byte_enables = 0;  ///< of what is asked for, or written
    bool is_last = false;            ///< of its transfer

    std::uint32_t bytes() const {
      return static_cast<std::uint32_t>(__builtin_popcountll(byte_enables));
    }
    std::uint32_t first() const {  ///< byte of the line
      return static_cast<std::uint32_t>(__builtin_ctzll(byte_enables));
    }
  };

  explicit LineTransfers(LatencyTracer& tracer) : tracer_(tracer) {}
  /// The engine outlives this.
  void attach(Engine& engine) { engine_ = &engine; }

  /// There is a line to ask for; the engine may begin its next transfer for it.
  bool has_line(Time now) { return has_current_ || begin_transfer(now); }
  /// REQUIRES: has_line().
  const Line& line() const { return line_; }
  const Transfer& transfer(std::uint32_t index) const { return active_[index].transfer; }
  /// What a write puts into the line: the engine's bytes, or a pattern. REQUIRES: has_line().
  void fill(CxlLine& bytes);
  /// The line is asked for. REQUIRES: has_line().
  void take();
  /// When the engine is to be asked again though no line has come back.
  Time next_at() const {
    return engine_ == nullptr || has_current_ ? Time::never() : engine_->next_at();
  }

  /// Bytes of a line that was read are there.
  void data(const Line& line, const CxlLine& bytes);
  /// What a line was taken for is done at `when`: read, or written.
  void reached(const Line& line, Time when) {
    active_[line.transfer].last = std::max(active_[line.transfer].last, when);
  }
  /// A line that was taken is over; kTimeout: it was lost with the link.
  void done(const Line& line, TransferStatus status, Time when);

  std::uint32_t lines_out() const { return lines_out_; }
  std::uint64_t lines_over() const { return lines_over_; }
  /// Of this name: every byte asked for was answered or lost. REQUIRES: nothing is out.
  CheckResult check(std::string name) const;

 private:
  /// A transfer of the engine that has lines out.
  struct Active {
    Transfer transfer;
    std::uint32_t lines_out = 0;
    bool all_taken = false;
    Time last{};  // what was done of it
    TransferStatus status = TransferStatus::kDone;
  };
  bool begin_transfer(Time now);
  void cut_line();

  LatencyTracer& tracer_;
  Engine* engine_ = nullptr;
  TokenPool<Active> active_;
  bool has_current_ = false;
  Line line_;                              // the next one of the present transfer
  std::uint64_t next_byte_ = 0, end_ = 0;  // of the present transfer
  std::uint32_t lines_out_ = 0;
  std::uint64_t lines_over_ = 0;
  std::uint64_t pattern_ = 0;
  std::uint64_t asked_bytes_ = 0, answered_bytes_ = 0, lost_bytes_ = 0;  // read or written
};

}  // namespace flitwise
