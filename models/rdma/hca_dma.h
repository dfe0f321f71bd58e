// SPDX-License-Identifier: Apache-2.0
/// What an RDMA adapter reads and writes in host memory: rings, states of queue pairs, payload and
/// completions. The adapter takes what is done.
#pragma once

#include <boost/circular_buffer.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "common/due_queue.h"
#include "endpoint/engine.h"
#include "network/frame.h"

namespace flitwise {

/// Numbers in order that are done in any order.
class DoneInOrder {
 public:
  /// A new one, from 1 on.
  std::uint64_t take() {
    is_done_.push_back(false);
    return through_ + is_done_.size();
  }
  void done(std::uint64_t number) {
    is_done_[number - through_ - 1] = true;
    while (!is_done_.empty() && is_done_.front()) {
      is_done_.pop_front();
      ++through_;
    }
  }
  /// All up to this one are done.
  std::uint64_t through() const { return through_; }

 private:
  std::deque<bool> is_done_;
  std::uint64_t through_ = 0;
};

class HcaDma final : public Engine {
 public:
  enum class Kind : std::uint8_t {
    kSendEntries,
    kReceiveEntries,
    kState,
    kStateBack,
    kPayload,  ///< to be sent
    kOperand,  ///< of an atomic
    kResult,   ///< likewise, written back
    kReceived,
    kCompletion
  };
  static constexpr int kKinds = 9;
  struct Job {
    Kind kind = Kind::kSendEntries;
    bool is_read = true;
    std::uint32_t queue_pair = 0;  ///< of whose rings, memory and domain it is
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint64_t tag = 0;               ///< the adapter's own
    std::uint64_t needs = 0;             ///< goes out when payload is done through this number
    std::uint8_t* into = nullptr;        ///< of a read; null: `own`
    const std::uint8_t* from = nullptr;  ///< of a write; null: `own`
    std::vector<std::uint8_t> own = {};
    FrameRef frame = {};  ///< that has the bytes
    bool is_last = true;  ///< of it
    bool is_ok = true;
    std::uint32_t token = 0;  ///< which record it is
    Time ready{};             ///< since then it may go
  };

  /// work_appeared: next() is worth asking again. wake: something is done then.
  HcaDma(std::function<void()> work_appeared, std::function<void(Time)> wake)
      : work_appeared_(std::move(work_appeared)), wake_(std::move(wake)) {}

  /// A record to fill, for start(): empty but for the capacity of `own`.
  Job& make();
  void start(Job& job, Time now);
  /// The next that is done; null: none by now. To be given to free() then.
  Job* take_done(Time now);
  void free(Job& job);
  Time next_done() const { return done_.next(); }
  /// Payload and results that go to memory: who tells of it waits for them.
  std::uint64_t take_payload_number() { return payload_.take(); }
  void payload_done(std::uint64_t number);
  bool is_payload_done(std::uint64_t number) const { return payload_.through() >= number; }

  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override;
  void finished(const TransferEnd& end) override;
  void data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
            std::size_t size) override;
  bool is_quiet() const { return free_.size() == records_.size(); }
  bool is_done() const override { return is_quiet(); }
  std::string waits_for() const override;

  void start_window() { counts_ = true; }
  std::uint64_t count(Kind kind) const { return counts_by_kind_[static_cast<unsigned>(kind)]; }
  std::uint64_t failed() const { return failed_; }

 private:
  struct Done {
    std::uint32_t token = 0;
    bool is_ok = true;
  };
  bool may_go(std::uint32_t token) const { return records_[token].needs <= payload_.through(); }

  const std::function<void()> work_appeared_;
  const std::function<void(Time)> wake_;
  std::deque<Job> records_;  // stay where they are
  std::vector<std::uint32_t> free_;
  boost::circular_buffer<std::uint32_t> queue_{64};  // tokens; grows
  boost::circular_buffer<std::uint32_t> gated_{64};  // likewise, of those with needs
  DueQueue<Done> done_;
  DoneInOrder payload_;
  std::uint64_t counts_by_kind_[kKinds] = {};
  std::uint64_t failed_ = 0;
  bool counts_ = false;
};

}  // namespace flitwise
