// SPDX-License-Identifier: Apache-2.0
/// The device of a library user, as the machine sees it: when it is done, and what it waits for.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "common/component.h"
#include "endpoint/device_sender.h"
#include "endpoint/endpoint.h"
#include "flitwise/link_device.h"

namespace flitwise {

class AttachedDevice final : public DeviceSender, public Component {
 public:
  /// counting_starts: it is about to send its first TLP; all that it sends counts.
  AttachedDevice(LinkDevice& device, Endpoint& endpoint, PacketPool& pool,
                 std::function<void()> counting_starts)
      : device_(device),
        endpoint_(endpoint),
        pool_(pool),
        counting_starts_(std::move(counting_starts)) {}

  void start(Time /*now*/) override {
    counting_starts_();
    device_.start({endpoint_.base(), &pool_, [this](Packet& packet) { endpoint_.size(packet); }});
  }

  const char* name() const override { return device_.name(); }
  bool is_quiet() const override { return !device_.has_unsent(); }
  bool is_exhausted() const override { return device_.is_done(); }
  void add_progress(Progress& sum) const override { sum.completed += device_.sent_tlps(); }
  std::string waiting() const override {
    const std::string what = device_.waits_for();
    return (device_.has_unsent() ? name() + std::string(": TLPs wait for the link\n") : "") +
           (what.empty() ? "" : name() + (": " + what) + "\n");
  }

 private:
  LinkDevice& device_;
  Endpoint& endpoint_;
  PacketPool& pool_;
  const std::function<void()> counting_starts_;
};

}  // namespace flitwise
