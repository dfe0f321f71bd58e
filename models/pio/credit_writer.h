// SPDX-License-Identifier: Apache-2.0
/// Writes the credit returns of a device to host memory, 64 bytes each. They cross to the clock of
/// the PCIe interface one behind the other; while one waits for that, later ones of its group
/// update it. Behind a return go the interrupts of its contexts. [PIO-8.2, 12.12, 12.21]
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "endpoint/engine.h"
#include "flitwise/config.h"
#include "pio/pio_config.h"
#include "pio/send_engine.h"
#include "stats/wait_book.h"

namespace flitwise {

class CreditWriter final : public Engine {
 public:
  CreditWriter(SendEngine& rules, const PioEngineConfig& config,
               std::function<void()> work_appeared);

  /// What the rules have made since it was called last begins to cross, as far as there is room.
  void note_returns(Time now) {
    if (rules_.returns_waiting() > due_.size()) {
      note_new(now);
    }
  }
  std::uint64_t sent() const { return sent_; }  ///< returns, to the shell
  /// The device has been reset: what has not been given to the shell is gone, and what waits there
  /// tells of contexts that have returned nothing.
  void forget();
  std::uint64_t forgotten() const { return forgotten_; }    ///< returns
  std::uint64_t steered() const { return steered_; }        ///< of these, with a steering tag
  std::uint64_t interrupts() const { return interrupts_; }  ///< sent, to the shell
  /// Nothing waits, and all that was given to the shell has left it.
  bool is_quiet() const {
    return due_.empty() && free_slots_.size() == kSlots && raised_.empty() && interrupts_out_ == 0;
  }

  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override {
    return !raised_.empty()            ? raised_.front().ready
           : crossing_returns_.empty() ? Time::never()
                                       : crossing_returns_.front().ready;
  }
  void finished(const TransferEnd& end) override;
  bool is_done() const override { return is_quiet(); }
  std::string waits_for() const override;

  void start_window(Time now);
  WaitResult waits(const std::string& place) const;

 private:
  static constexpr std::uint32_t kSlots = 64;
  // model: so many returns cross, or have crossed and wait for the link.
  static constexpr std::size_t kCrossing = 8;
  struct Return {
    std::array<std::uint64_t, kContextsPerSet> qws;  // as they stand in memory
    std::uint64_t address = 0;
    DomainId domain{};
    unsigned set = 0;
    std::uint8_t interrupts = 0;  // of the contexts of its set, a bit each
  };
  struct Raised {
    unsigned context = 0;
    Time ready{};  // its return has gone out
  };
  struct Crossing {
    std::uint32_t slot = 0;
    Time due{};    // it would have crossed, had it had room at once
    Time ready{};  // it has crossed
  };

  void note_new(Time now);
  void cross(Time now);
  void raise(const Return& one, Time now);
  bool next_interrupt(Transfer& transfer);

  SendEngine& rules_;
  const std::uint64_t interrupt_address_;
  const Time crossing_;  // between the clocks of send memory and of the PCIe interface
  const std::uint16_t steering_tag_;
  const std::function<void()> work_appeared_;
  boost::circular_buffer<Time> due_{CreditReturnQueue::kMost};  // of those that do not cross yet
  boost::circular_buffer<Crossing> crossing_returns_{kCrossing};
  std::array<Return, kSlots> returns_{};  // by token: that cross, or were given to the shell
  std::vector<std::uint32_t> free_slots_;
  boost::circular_buffer<Raised> raised_{kSendContexts};  // interrupts that go next
  std::array<std::uint32_t, kSendContexts> messages_{};   // of contexts, as they stand in memory
  std::uint64_t sent_ = 0, steered_ = 0, forgotten_ = 0, interrupts_ = 0;
  unsigned interrupts_out_ = 0;   // given to the shell
  bool counts_requests_ = false;  // the window has begun
  WaitBook waits_;
};

}  // namespace flitwise
