// SPDX-License-Identifier: Apache-2.0
/// Host software of a machine: what it does before the engines begin, and for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/ranges.h"
#include "fabric/fabric.h"
#include "host/handle_driver.h"
#include "host/host_node.h"

namespace flitwise {

class HostSoftware final : public Component {
 public:
  /// Software of a host has written a word of a translation table while devices run.
  using TableWritten = std::function<void(const HostNode& host, std::uint64_t address)>;
  /// `fabric` and `hosts` outlive it.
  HostSoftware(Fabric& fabric, Hosts& hosts, TableWritten written);

  /// Begins to bring all hosts up; false where no part speaks PCIe, so that there is nothing to
  /// enumerate. `epoch` of the handles: another one after each reset. [DHI D4]
  bool boot(std::uint8_t epoch);
  /// Instead of a boot: both ends come up as they should be.
  void set_up_at_once();
  bool is_set_up() const { return is_set_up_; }
  /// Ready, whether or not the last of what it sent is over.
  bool is_booted() const {
    return is_set_up_ ||
           all_of(hosts_, [](const auto& host) { return host->boot && host->boot->is_done(); });
  }
  /// Why the boot went wrong, in plain words; empty where it did not.
  const std::string& failure() const { return failure_; }
  /// Taken by all hosts so far.
  std::uint64_t steps() const;

  const char* name() const override { return "host software"; }
  /// Of its drivers of handles.
  bool is_quiet() const override {
    return all_of(devices_, [](const Device& one) {
      return one.driver == nullptr || one.driver->is_quiet();
    });
  }
  void add_progress(Progress& sum) const override;

  /// Tables are there before the first device asks for anything.
  void set_up_translation_tables();
  /// Starts the driver of the agent, where the host has one.
  void start_driver(HostNode& host);
  /// Writes a doorbell down the link. `counts`: belongs to the measured part.
  void ring(std::size_t device, const WorkItem& item, std::uint32_t token, bool counts);

  /// The device of the first host that owns a function, where it uses handles: also the number of
  /// its registers at the host.
  std::optional<unsigned> handles_of(Bdf function) const;
  /// With software-managed handles; null without.
  HandleDriver* driver(std::size_t device) const { return devices_[device].driver.get(); }
  /// As software has found it.
  const BootedDevice& device(std::size_t index) const { return devices_[index].booted; }

 private:
  /// What host software knows of a device and does for it.
  struct Device {
    BootedDevice booted;
    std::unique_ptr<HandleDriver> driver;
  };

  void boot_host(HostNode& host, std::uint8_t epoch);
  void software_ready(HostNode& host);
  TeardownServices teardown_services(HostNode& host);
  void make_driver(std::size_t index);
  std::size_t first_of(const HostNode& host) const {
    return static_cast<std::size_t>(fabric_.devices_of(host.number).first - fabric_.devices.data());
  }

  Fabric& fabric_;
  Hosts& hosts_;
  TableWritten written_;
  std::vector<Device> devices_;
  bool is_set_up_ = false;
  std::string failure_;
};

}  // namespace flitwise
