// SPDX-License-Identifier: Apache-2.0
/// The software that brings a machine up: discovers and sets up what is below the root ports, then
/// negotiates handles with each device (docs/host_software.md).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "config_space/enumeration.h"
#include "dhi/negotiation.h"
#include "host/host_access.h"

namespace flitwise {

/// What software intends for one device; devices count in the order in which they are found.
struct BootPolicy {
  unsigned mrrs = 512;
  bool wants_handles = false;
  bool is_software_managed = false;
  bool every_hop_aware = true;  ///< of the switches above it
  HandleRange range;            ///< what the host gives the device [DHI D6]
  std::uint8_t epoch = 0;
  bool wants_translations = false;   ///< ATS is enabled where the device has it
  unsigned stu = 0;                  ///< for ATS
  std::uint32_t page_requests = 0;   ///< Outstanding Page Request Allocation
  unsigned pasid_bits = kPasidBits;  ///< that the translation agent has; 0: none
};

/// One device as it stands after the boot.
struct BootedDevice {
  Bdf pf;
  unsigned functions = 1;  ///< PF and enabled VFs
  BusRange buses;
  AddressRange bar;         ///< BAR 0 of the PF
  AddressRange vf_bars;     ///< BAR 0 of all VFs
  std::uint16_t pcie = 0;   ///< where its PCI Express capability starts
  std::uint16_t dvsec = 0;  ///< where its DHI DVSEC starts; 0: none
  Negotiated handles;
  /// Where BAR 0 of a function starts. REQUIRES: function < functions.
  std::uint64_t bar_of(unsigned function) const {
    return function == 0 ? bar.base : vf_bars.base + (function - 1) * bar.size;
  }
};

class Boot {
 public:
  /// software_step: between two accesses. One policy and one block of host handles
  /// (HostBridge::attach) for each device; ACS controls of the ports above links, in the order in
  /// which they are found.
  Boot(HostAccess& bridge, Time software_step, std::vector<BootPolicy> policies,
       std::vector<AccessControl> acs);

  /// `done` is called when the last access is complete.
  void start(std::function<void()> done) {
    done_ = std::move(done);
    enumerate();
  }
  bool is_done() const { return is_done_; }
  const std::vector<BootedDevice>& devices() const { return devices_; }
  /// What could not be set up, in plain words.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  using Values = std::vector<std::uint32_t>;

  EnumeratorOptions options();
  void enumerate();
  void collect();
  void set_up_next_translation();
  void read_virtual_function(std::uint16_t at);
  void enable_translation(std::uint16_t virtual_ats);
  void negotiate_next();
  void negotiated() {
    ++current_;
    negotiate_next();
  }
  void find_dvsec(std::size_t candidate);
  void negotiate_with(std::uint32_t device_capability);
  void set_up_handles();
  HandleRange range_below(const FoundFunction& root) const;
  void perform(std::vector<CfgAccess> accesses, std::function<void(const Values&)> then,
               Values so_far = {});
  const FoundFunction& found(std::size_t device) const {
    return enumerator_.result().functions[found_[device]];
  }
  const FoundFunction& root_of(const FoundFunction& function) const;

  HostAccess& bridge_;
  const Time step_;
  const std::vector<BootPolicy> policies_;
  const std::vector<AccessControl> acs_;
  std::size_t asked_ = 0;        // endpoints whose MRRS has been asked for
  std::size_t asked_ports_ = 0;  // ports whose ACS has been asked for
  Enumerator enumerator_;
  std::vector<BootedDevice> devices_;
  std::vector<std::size_t> found_;  // index of each device among the found functions
  std::size_t translated_ = 0;      // devices whose translations have been set up
  std::size_t current_ = 0;         // device whose handles are being negotiated
  std::vector<std::string> problems_;
  std::function<void()> done_;
  bool is_done_ = false;
};

}  // namespace flitwise
