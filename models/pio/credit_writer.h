// SPDX-License-Identifier: Apache-2.0
/// Writes the credit returns of a device to host memory, 64 bytes each. While one waits to be sent,
/// later ones of its group update it. [PIO-8.2, 12.21]
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "endpoint/engine.h"
#include "flitwise/config.h"
#include "pio/send_engine.h"
#include "stats/wait_book.h"

namespace flitwise {

/// Returns that were sent, by what caused them.
struct ReturnCounts {
  std::uint64_t threshold = 0, pbc = 0, force = 0, early = 0, error = 0;
};

class CreditWriter final : public Engine {
 public:
  CreditWriter(SendEngine& rules, const PioConfig& config, std::function<void()> work_appeared);

  /// What the rules have made since it was called last goes out a crossing later.
  void note_returns(Time now) {
    if (rules_.returns_waiting() > ready_.size()) {
      note_new(now);
    }
  }
  const ReturnCounts& counts() const { return counts_; }
  /// Nothing waits, and all that was given to the shell has left it.
  bool is_quiet() const { return ready_.empty() && free_slots_.size() == kSlots; }

  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override;
  void finished(const TransferEnd& end) override { free_slots_.push_back(end.token); }
  bool is_done() const override { return is_quiet(); }
  std::string waits_for() const override;

  void start_window(Time now);
  WaitResult waits(const std::string& place) const;

 private:
  static constexpr std::uint32_t kSlots = 64;
  using Return = std::array<std::uint64_t, kContextsPerSet>;  // as it stands in memory

  void note_new(Time now);
  void count(const CreditReturn& one);

  SendEngine& rules_;
  const Time crossing_;  // between the clocks of send memory and of the PCIe interface
  const std::uint16_t steering_tag_;
  const std::function<void()> work_appeared_;
  boost::circular_buffer<Time> ready_{CreditReturnQueue::kMost};  // of those that wait, in order
  std::array<Return, kSlots> returns_{};                          // by token: given to the shell
  std::vector<std::uint32_t> free_slots_;
  ReturnCounts counts_;
  bool counts_requests_ = false;  // the window has begun
  WaitBook waits_;
};

}  // namespace flitwise
