// SPDX-License-Identifier: Apache-2.0
/// The engine of a library user (flitwise/device_engine.h), put on a device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/component.h"
#include "endpoint/device_sender.h"
#include "endpoint/dma_engine.h"
#include "endpoint/endpoint.h"
#include "endpoint/engine.h"
#include "flitwise/device_engine.h"

namespace flitwise {

class AttachedEngine final : public DeviceSender, public Engine, public Bystander {
 public:
  struct Hooks {
    std::function<void()> counting_starts;  ///< the first counted request is about to go
    std::function<void()> work_ended;       ///< it is done: called once
  };
  /// warmup: that many requests do not count.
  using Routes = std::vector<DmaEngine::Route>;
  AttachedEngine(const std::string& device, DeviceEngine& engine, Endpoint& endpoint,
                 std::uint64_t warmup, Routes routes, Hooks hooks);

  void start(Time now) override;
  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override { return engine_.next_at(); }
  void finished(const TransferEnd& end) override;
  void data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
            std::size_t size) override {
    engine_.data(token, offset, bytes, size);
  }
  bool is_done() const override { return engine_.is_done(); }
  bool is_exhausted() const override { return engine_.is_done(); }
  std::string waits_for() const override { return engine_.waits_for(); }
  std::string waiting() const override;
  Time next_own_work() const override { return engine_.next_at(); }
  void start_window() override;
  void end_window() override { window_end_ = now(); }
  void extend_window() override { window_end_ = Time::never(); }
  void report(RunResult& result) const override;

 private:
  void look_for_end();

  DeviceEngine& engine_;
  Endpoint& endpoint_;
  const std::uint64_t warmup_;
  const Routes routes_;
  const Hooks hooks_;
  Time window_begin_{}, window_end_ = Time::never();
  std::array<std::uint64_t, 4> issued_{};  // by Op, in the window
  std::uint64_t given_ = 0;
  bool has_told_end_ = false;
};

}  // namespace flitwise
