// SPDX-License-Identifier: Apache-2.0
/// Which requests from below a port are let through: at a switch by whose they are, at a root port
/// by what they want of host memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dhi/handle_types.h"
#include "flitwise/config.h"
#include "flitwise/tlp.h"
#include "routing/routing_table.h"
#include "tlp/identity.h"

namespace flitwise {

enum class SourceVerdict : std::uint8_t {
  kPass,
  kUncheckedHandle,  ///< passes with a handle that was not checked: what a legacy switch leaks
  kForeignBus,       ///< ACS violation: bus outside secondary..subordinate
  kForeignHandle,    ///< handle outside the port's range
};

/// Handle -> BDF as ALLOC and DEALLOC messages that pass by name them: whom a handle-aware switch
/// answers when it makes an error completion itself. [DHI D23]
class HandleOwners {
 public:
  /// The device with these buses behind the port was given them; what is known already changes
  /// nothing.
  void add(const BusRange& buses, const HandleRange& range);
  bool empty() const { return shares_.empty(); }
  bool contains(Dhi handle) const { return share_of(handle) != nullptr; }

  /// `sender` says that it has the handle, or has it no more. Handles that its device was not given
  /// are ignored: the host refuses their ALLOC.
  void learn(Dhi handle, Bdf sender, bool is_owner);
  /// All of the sender's device.
  void forget_all(Bdf sender);
  std::optional<Bdf> owner_of(Dhi handle) const;

 private:
  struct Share {
    BusRange buses;
    HandleRange range;
    std::vector<std::optional<Bdf>> owners;  // by handle - lower bound
  };
  const Share* share_of(Dhi handle) const;

  std::vector<Share> shares_;
};

/// Does an upstream request bear an identity that belongs behind this port? Bus of the Requester
/// ID, or range of the handle. [DHI D14] [DHI D23] [DHI S1]
/// Asks about a TLP that came in through a downstream port; completions are not checked. Nothing is
/// refused while the port's Source Validation is off. `form` is how the link behind the port names
/// domains; `handles` is what the devices behind it were given.
SourceVerdict check_source(const Tlp& tlp, const Bridge& port, SwitchMode mode,
                           const IdentityForm& form, const HandleOwners& handles);

/// Whom an error completion for `request` goes to: its Requester ID, or the owner of its handle;
/// the handle itself where it is unknown. [DHI D16]
Bdf completion_target(const Tlp& request, const IdentityForm& form, const HandleOwners* owners);

/// What the host knows of a request's domain beside who it is. [DHI D19] [DHI D20]
struct DomainStanding {
  bool is_trusted = false;
  std::uint16_t capabilities = 0;
};

/// Which requests from below a root port are let into host memory.
class HostRules {
 public:
  explicit HostRules(const HostConfig& config);

  /// Bus Master Enable of the port: it is set until called.
  void set_bus_master(bool is_enabled) { is_bus_master_ = is_enabled; }
  /// Why a request cannot be served, wherever it goes, or nullptr. I/O, configuration and locked
  /// reads go down only. is_translating: Translation Requests have an answer.
  const char* refusal_of(const Tlp& tlp, const DomainStanding& standing, bool is_translating) const;
  /// Why it cannot be served at this address of the host, or nullptr.
  const char* address_refusal_of(const Tlp& tlp, std::uint64_t address,
                                 const DomainStanding& standing) const;
  /// The same for bytes that are there, by whatever way. [DHI S3]
  const char* window_refusal_of(std::uint64_t address, std::uint64_t bytes,
                                const DomainStanding& standing) const;
  bool checks_windows() const { return checks_windows_; }

 private:
  bool serves(const Tlp& tlp) const;

  const std::uint64_t memory_bytes_;
  const decltype(HostConfig::dma_window) window_;
  const decltype(HostConfig::trusted_window) trusted_;
  const bool has_atomics_, has_deferrable_writes_;
  const bool checks_capabilities_;
  const bool checks_windows_;  // memory that not everybody may touch
  bool is_bus_master_ = true;
};

}  // namespace flitwise
