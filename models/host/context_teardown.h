// SPDX-License-Identifier: Apache-2.0
/// The part of the driver of the translation agent that ends contexts, one at a time: the device
/// stops, its handle is freed, its PASID table entry goes, then what caches know of it, the agent's
/// first and the device's last, then its page requests; only then its pages are free. [INV-35]
/// [IOM-2.5] [IQU-15] [DHI D15]
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/result.h"
#include "host/driver_parts.h"
#include "stats/latency_histogram.h"

namespace flitwise {

/// What others do for a teardown.
struct TeardownServices {
  /// Where the device's contexts are stopped (ContextStop::kOffset).
  std::function<std::uint64_t(const DriverDomain&)> stop_register;
  /// Frees the handle of a context at the device, then at the host; empty: not software's to do.
  std::function<void(const DriverDomain&, std::function<void()> done)> free_handle;
  /// Resets the function of a context.
  std::function<void(const DriverDomain&, std::function<void()> done)> reset;
};

class ContextTeardown {
 public:
  explicit ContextTeardown(DriverParts& driver) : driver_(driver) {}

  void set_services(TeardownServices services) { services_ = std::move(services); }
  /// Ends contexts from now on, as long as there is work for devices; without services it does not.
  void begin();
  /// A device did not answer: the agent has given the wait up. [IQU-07]
  void repeat();

  bool is_quiet() const { return !is_busy_; }
  /// Whose context is being torn down, and what it waits for; empty where none is.
  std::string waiting() const;
  std::uint64_t ended() const { return ended_; }
  /// Grows with each step.
  std::uint64_t progress() const { return steps_; }
  /// `teardown`, from the call to the end, then each phase from the one before. Empty where no
  /// context has ended.
  std::vector<LatencyResult> latencies() const;
  /// They are of what comes from now on.
  void start_window() { window_ = latencies_; }

 private:
  enum Phase : std::uint8_t { kStop, kHandle, kAgent, kDevice, kDrain, kReset, kTotal };
  static constexpr std::size_t kPhases = 7;

  void tick();
  void stop();
  void poll_stop();
  void free_handle();
  void clear_entry();
  void invalidate_agent();
  void invalidate_device();
  void drain_page_requests();
  void pages_are_free();
  void finish();
  void submit(std::vector<DescriptorBytes> commands, std::function<void()> then,
              InvalidationWait wait = {});
  bool look();
  void over(Phase phase);
  const DriverDomain& domain() const { return driver_.pages.domain(domain_); }

  DriverParts& driver_;
  TeardownServices services_;
  Time due_{};  // the next call
  bool is_busy_ = false;
  Phase phase_ = kStop;       // under way
  std::uint32_t domain_ = 0;  // at work
  Time called_{}, mark_{};
  std::vector<PageFrames::Frame> had_;
  std::vector<DescriptorBytes> commands_;  // whose wait is not over
  std::function<void()> then_;
  std::uint32_t serial_ = 0;
  bool is_waiting_ = false;
  unsigned repeats_ = 0, unanswered_ = 0;
  std::uint64_t ended_ = 0, steps_ = 0;
  std::array<LatencyHistogram, kPhases> latencies_, window_;
};

}  // namespace flitwise
