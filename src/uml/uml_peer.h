// SPDX-License-Identifier: Apache-2.0
/// The other end of a user-mode Linux whose clock and devices are somebody else's: one message at a
/// time, since the guest waits for each answer. So what happens depends on the guest alone, and not
/// on the speed of the machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "uml/owned_file.h"
#include "uml/time_travel.h"
#include "uml/vhost_device.h"

namespace flitwise {

class UmlPeer {
 public:
  static constexpr const char* kTimeSocket = "time.sock";

  struct Hooks {
    /// The time that the guest is told, ns since its start.
    std::function<std::uint64_t()> now_ns;
    /// Called often while the guest runs: does what else is to be done. False: the guest has gone.
    std::function<bool()> look;
  };

  /// Listens in the folder for the guest's clock, and for each device at NAME.sock. Throws
  /// std::system_error.
  UmlPeer(const std::string& folder, std::vector<VhostDevice*> devices, Hooks hooks);

  /// The guest does nothing until it may run again.
  bool is_waiting() const { return is_waiting_; }
  /// The time at which it wants to, ns; nothing: it has asked for none.
  const std::optional<std::uint64_t>& wanted() const { return wanted_; }
  bool is_gone() const { return is_gone_; }
  /// Serves the guest until it waits or has gone; false where it has said nothing for so long, of
  /// real time.
  bool serve_until_waiting(std::chrono::seconds patience) {
    return serve_until(patience, [this] { return is_waiting_; });
  }
  /// Lets the guest run, at its time. REQUIRES: it waits.
  void run(std::uint64_t ns);
  /// Tells the guest of chains that were given back, and serves it until it has heard.
  bool call(VhostDevice& device, unsigned queue, std::chrono::seconds patience);

 private:
  bool serve_until(std::chrono::seconds patience, const std::function<bool()>& is_over);
  bool serve_one(int milliseconds);
  void serve_clock();
  void answer(const TimeMessage& to, std::uint64_t ns);
  void lose() { is_gone_ = true; }

  const Hooks hooks_;
  struct Device {
    VhostDevice* device;
    OwnedFile listener;
  };
  std::vector<Device> devices_;
  OwnedFile clock_listener_, clock_;
  bool is_waiting_ = false;
  bool is_gone_ = false;
  std::optional<std::uint64_t> wanted_;
  VhostDevice* called_ = nullptr;  // its answer is not there yet
  std::uint32_t runs_ = 0;
};

}  // namespace flitwise
