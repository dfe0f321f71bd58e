// SPDX-License-Identifier: Apache-2.0
/// The functions of one device: which domain belongs to which, and which of them may send. Without
/// a clock; ResetControl and software's registers change it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config_space/functions.h"
#include "endpoint/domain_numbers.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

class DeviceFunctions {
 public:
  /// `domains`: of the workload. VFs wait for their Bus Master Enable. [LNK-9.27]
  DeviceFunctions(const DeviceConfig& device, std::uint32_t domains);

  // ---- numbers
  unsigned count() const { return static_cast<unsigned>(states_.size()); }
  /// Function f answers to routing ID base + f.
  void set_base(Bdf base);
  Bdf base() const { return base_; }
  /// At least count() for a BDF that is none of the device's.
  unsigned index_of(Bdf bdf) const { return static_cast<std::uint16_t>(bdf.value - base_.value); }
  Bdf bdf_of(unsigned function) const {
    return Bdf{static_cast<std::uint16_t>(base_.value + function)};
  }
  /// REQUIRES: set_base(), a domain of the workload.
  const DeviceIdentity& identity_of(DomainId domain) const { return identities_[to_int(domain)]; }
  unsigned function_of(DomainId domain) const { return index_of(identity_of(domain).bdf); }
  std::optional<DomainId> domain_of(const DeviceIdentity& identity) const;

  // ---- who may send
  /// Bus Master Enable of the PF; until it is set the device sends no requests.
  bool is_bus_master() const { return is_bus_master_; }
  bool is_running(unsigned function) const { return states_[function] == State::kRunning; }
  bool is_in_reset(unsigned function) const { return states_[function] == State::kInReset; }
  bool are_all_running() const { return not_running_ == 0; }
  unsigned not_running() const { return not_running_; }
  /// Functions whose reset has not ended.
  unsigned in_reset() const { return in_reset_; }
  bool is_in_conventional_reset() const {
    return is_in_reset(0) && reset_kind_ == ResetKind::kConventional;
  }
  ResetKind reset_kind() const { return reset_kind_; }  ///< of the last one
  /// Leave requests of that function out of the PF's enable? Of an ID that is none of the device's
  /// functions, and of nullopt, the PF alone is asked.
  bool may_send(std::optional<Bdf> requester) const;

  // ---- changes
  void set_bus_master(bool is_enabled) { is_bus_master_ = is_enabled; }
  /// Software has written Bus Master Enable of a VF; true: it may send from now on. [LNK-9.27]
  bool enable_vf(unsigned function, bool is_enabled);
  void enable_vfs();
  /// Function 0 takes all others with it.
  void begin_reset(unsigned function, ResetKind kind);
  /// It waits for its Bus Master Enable; after function 0 all do.
  void end_reset(unsigned function);

 private:
  // The PF is never kStopped: see is_bus_master_.
  enum class State : std::uint8_t { kRunning, kInReset, kStopped };
  void stop_vfs();

  const DomainNumbers domains_;
  std::vector<DeviceIdentity> identities_;  // by domain
  std::vector<State> states_;
  Bdf base_;
  bool is_bus_master_ = false;
  unsigned not_running_ = 0, in_reset_ = 0;
  ResetKind reset_kind_ = ResetKind::kFunctionLevel;
};

/// Contexts that software ends while others go on; kept only where it does.
class DeviceContexts {
 public:
  explicit DeviceContexts(std::uint32_t domains) : contexts_(domains) {}

  bool are_tracked() const { return !contexts_.empty(); }
  void begin_transfer(DomainId domain) {
    if (are_tracked()) {
      ++contexts_[to_int(domain)].transfers;
    }
  }
  void end_transfer(DomainId domain) {
    if (are_tracked()) {
      --contexts_[to_int(domain)].transfers;
    }
  }
  /// From now on the device does nothing more for it; what it has under way goes on.
  void stop(DomainId domain) { contexts_[to_int(domain)].is_over = true; }
  bool is_over(DomainId domain) const { return are_tracked() && contexts_[to_int(domain)].is_over; }
  bool has_transfers(DomainId domain) const { return contexts_[to_int(domain)].transfers != 0; }

 private:
  struct Context {
    std::uint32_t transfers = 0;  // under way
    bool is_over = false;
  };
  std::vector<Context> contexts_;  // by domain
};

}  // namespace flitwise
