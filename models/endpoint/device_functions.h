// SPDX-License-Identifier: Apache-2.0
/// The functions of one device: which domain belongs to which, and which of them may send. Without
/// a clock; ResetControl and software's registers change it.
// Longer than 150 lines: the numbers of domains, contexts and functions, and who may send.
#pragma once

#include <algorithm>
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
  DeviceFunctions(const DeviceConfig& device, std::uint32_t domains)
      : domains_(device),
        shares_handles_(device.dhi.contexts == HandleContexts::kShared),
        identities_(domains),
        states_(device.functions.count) {
    stop_vfs();
  }

  // ---- numbers
  unsigned count() const { return static_cast<unsigned>(states_.size()); }
  /// Function f answers to routing ID base + f.
  void set_base(Bdf base) {
    base_ = base;
    for (std::uint32_t i = 0; i < identities_.size(); ++i) {
      identities_[i] = domains_.identity(base, DomainId{i});
    }
  }
  Bdf base() const { return base_; }
  /// How many functions carry a domain of the workload.
  std::size_t with_domains() const {
    return std::min<std::size_t>(domains_.functions(), identities_.size());
  }
  /// At least count() for a BDF that is none of the device's.
  unsigned index_of(Bdf bdf) const { return static_cast<std::uint16_t>(bdf.value - base_.value); }
  Bdf bdf_of(unsigned function) const {
    return Bdf{static_cast<std::uint16_t>(base_.value + function)};
  }
  /// REQUIRES: set_base(), a domain of the workload.
  const DeviceIdentity& identity_of(DomainId domain) const { return identities_[to_int(domain)]; }
  unsigned function_of(DomainId domain) const { return index_of(identity_of(domain).bdf); }
  /// Of the process: the first one where its contexts are domains.
  std::optional<DomainId> domain_of(const DeviceIdentity& identity) const {
    return in_use(domains_.domain(index_of(identity.bdf), identity.pasid));
  }
  /// Whose handle names these. [DHI D22]
  std::optional<DomainId> domain_of(const DeviceIdentity& identity, ContextId context) const {
    if (shares_handles_) {
      return context ? std::nullopt : domain_of(identity);
    }
    return in_use(domains_.domain(index_of(identity.bdf), identity.pasid, context));
  }
  /// Domains of one process.
  bool are_processes() const { return domains_.per_process() == 1; }
  /// What a handle of the domain names beside its identity. [DHI D22]
  ContextId context_of(DomainId domain) const {
    return shares_handles_ ? ContextId() : domains_.context(domain);
  }
  /// Under whose name its handle is kept: its own, or that of the process it shares one with.
  DomainId holder_of(DomainId domain) const {
    return shares_handles_ && !are_processes() ? *domain_of(identity_of(domain)) : domain;
  }

  // ---- who may send
  /// Bus Master Enable of the PF; until it is set the device sends no requests.
  bool is_bus_master() const { return is_bus_master_; }
  bool is_running(unsigned function) const { return states_[function] == State::kRunning; }
  bool is_in_reset(unsigned function) const { return states_[function] == State::kInReset; }
  bool are_all_running() const { return not_running_ == 0; }
  unsigned not_running() const { return not_running_; }
  /// Requests of a function that may not send are given up, so that nobody waits behind them; else
  /// they wait, and all behind them.
  bool are_apart() const { return are_apart_; }
  void keep_apart() { are_apart_ = true; }
  /// Functions whose reset has not ended.
  unsigned in_reset() const { return in_reset_; }
  bool is_in_conventional_reset() const {
    return is_in_reset(0) && reset_kind_ == ResetKind::kConventional;
  }
  ResetKind reset_kind() const { return reset_kind_; }  ///< of the last one
  /// Leave requests of that function out of the PF's enable? Of an ID that is none of the device's
  /// functions, and of nullopt, the PF alone is asked.
  bool may_send(std::optional<Bdf> requester) const {
    const unsigned function = requester ? index_of(*requester) : 0U;
    return is_bus_master_ && (!requester || function >= count() || is_running(function));
  }

  // ---- changes
  void set_bus_master(bool is_enabled) { is_bus_master_ = is_enabled; }
  /// Software has written Bus Master Enable of a VF; true: it may send from now on. [LNK-9.27]
  bool enable_vf(unsigned function, bool is_enabled) {
    State& state = states_[function];
    if (is_enabled && state == State::kStopped) {
      state = State::kRunning;
      --not_running_;
      return true;
    }
    if (!is_enabled && state == State::kRunning) {
      state = State::kStopped;
      ++not_running_;
    }
    return false;
  }
  void enable_vfs() {
    for (unsigned f = 1; f < count(); ++f) {
      enable_vf(f, true);
    }
  }
  /// Function 0 takes all others with it.
  void begin_reset(unsigned function, ResetKind kind) {
    reset_kind_ = kind;
    const unsigned last = function == 0 ? count() : function + 1U;
    for (unsigned f = function; f < last; ++f) {
      not_running_ += is_running(f) ? 1 : 0;
      in_reset_ += is_in_reset(f) ? 0 : 1;
      states_[f] = State::kInReset;
    }
  }
  /// It waits for its Bus Master Enable; after function 0 all do.
  void end_reset(unsigned function) {
    if (function != 0) {
      states_[function] = State::kStopped;
      --in_reset_;
      return;
    }
    // The PF's own enable holds all of them back; behind it each VF waits for its own.
    stop_vfs();
    in_reset_ = 0;
    is_bus_master_ = false;
  }

 private:
  // The PF is never kStopped: see is_bus_master_.
  enum class State : std::uint8_t { kRunning, kInReset, kStopped };
  void stop_vfs() {
    std::fill(states_.begin(), states_.end(), State::kStopped);
    states_[0] = State::kRunning;
    not_running_ = count() - 1U;
  }

  std::optional<DomainId> in_use(std::optional<DomainId> domain) const {
    return domain && to_int(*domain) < identities_.size() ? domain : std::nullopt;
  }

  const DomainNumbers domains_;
  const bool shares_handles_;               // contexts of one process
  std::vector<DeviceIdentity> identities_;  // by domain
  std::vector<State> states_;
  Bdf base_;
  bool is_bus_master_ = false, are_apart_ = false;
  unsigned not_running_ = 0, in_reset_ = 0;
  ResetKind reset_kind_ = ResetKind::kFunctionLevel;
};

}  // namespace flitwise
