// SPDX-License-Identifier: Apache-2.0
/// The SDMA engines of a device in time: their reads of descriptors and packets, and the heads that
/// they write. The rules are in SdmaRing; PioEngine wakes it. [PIO-6.10]
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/due_queue.h"
#include "endpoint/engine.h"
#include "pio/pio_config.h"
#include "pio/send_engine.h"
#include "stats/open_wait.h"
#include "stats/wait_book.h"

namespace flitwise {

class SdmaUnit final : public Engine {
 public:
  /// work_appeared: next() is worth asking again. wake: work() has something to do then.
  SdmaUnit(const PioEngineConfig& config, SendEngine& rules, std::function<void()> work_appeared,
           std::function<void(Time)> wake);

  /// Software has written the tail of an engine that is set up.
  void write_tail(unsigned engine, std::uint64_t index, Time now);
  /// The device has been reset: nothing more is asked for. What the shell has comes to its end, a
  /// head that waits there as 0.
  void forget();
  /// Answers that have crossed, then whatever can be read or written. `cleared`: engines with a
  /// packet that has left their buffer, a bit each.
  void work(Time now, std::uint32_t cleared);
  /// When work() has something to do; never: nothing that is under way here.
  Time next_work() const { return answers_.next(); }
  bool is_quiet() const { return requests_.empty() && in_flight_ == 0 && answers_.empty(); }

  // Engine: reads, and writes of heads. Engine e asks in the name of domain e.
  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override {
    return requests_.empty() ? Time::never() : requests_.front().ready;
  }
  void finished(const TransferEnd& end) override;
  void data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
            std::size_t size) override;
  bool is_done() const override { return is_quiet(); }
  std::string waits_for() const override;

  void start_window(Time now);
  std::vector<WaitResult> waits(const std::string& place) const;

 private:
  // Tokens: those of reads by engine and slot, then one head of each engine.
  static constexpr std::uint32_t kReadTokens = kSdmaEngines * SdmaRing::kMostReads;
  struct Request {
    SdmaRead read;  // of a head: its address alone
    std::uint32_t token = 0;
    Time ready{};
  };
  struct Answer {
    std::uint32_t token = 0;
    bool is_ok = true;
  };
  struct Ring {
    std::uint64_t head = 0;    // as it goes to memory, little-endian
    bool is_head_out = false;  // given to the shell, or waits for it
    OpenWait room;             // a packet waits for it in the buffer
    OpenWait reads;            // a read waits for another one to end
  };

  void ask(unsigned engine, Time now);
  void note_waits(unsigned engine, Time now);
  void push(const SdmaRead& read, std::uint32_t token, Time now);

  const PioEngineConfig& config_;
  SendEngine& rules_;
  const std::function<void()> work_appeared_;
  const std::function<void(Time)> wake_;
  boost::circular_buffer<Request> requests_{64};
  DueQueue<Answer> answers_;
  std::array<std::uint64_t, kReadTokens> tags_{};
  std::array<Ring, kSdmaEngines> rings_{};
  std::uint32_t to_ask_ = 0;      // engines whose head can go out again, a bit each
  std::uint32_t in_flight_ = 0;   // given to the shell
  bool counts_requests_ = false;  // the window has begun
  WaitBook room_waits_, read_waits_;
};

}  // namespace flitwise
