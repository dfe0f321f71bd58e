// SPDX-License-Identifier: Apache-2.0
/// Does an upstream request bear an identity that belongs behind this port? Bus of the Requester
/// ID, or range of the handle. [DHI D14] [DHI D23] [DHI S1]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dhi/handle_types.h"
#include "flitwise/config.h"
#include "flitwise/tlp.h"
#include "routing/bridge.h"
#include "tlp/identity.h"

namespace flitwise {

enum class SourceVerdict : std::uint8_t {
  kPass,
  kUncheckedHandle,  ///< passes with a handle that nobody looked at: what a legacy switch leaks
  kForeignBus,       ///< ACS violation: bus outside secondary..subordinate
  kForeignHandle,    ///< handle outside the port's range
};
constexpr bool lets_through(SourceVerdict verdict) {
  return verdict <= SourceVerdict::kUncheckedHandle;
}

/// Asks about a TLP that came in through a downstream port; completions are not checked. Nothing is
/// refused while the port's Source Validation is off. `form` is how the link behind the port names
/// domains; `handles` is what its devices were given, empty where that is nothing.
SourceVerdict check_source(const Tlp& tlp, const Bridge& port, SwitchMode mode,
                           const IdentityForm& form, const std::optional<HandleRange>& handles);

/// Handle -> BDF as ALLOC and DEALLOC messages that pass by name them: whom a handle-aware switch
/// answers when it makes an error completion itself. [DHI D23]
class HandleOwners {
 public:
  explicit HandleOwners(const HandleRange& range);

  /// Handles outside the range are ignored: their ALLOC is refused further up.
  void learn(Dhi handle, Bdf owner);
  void forget(Dhi handle);
  void forget_all();
  std::optional<Bdf> owner_of(Dhi handle) const;

 private:
  bool is_known(Dhi handle) const { return range_.contains(handle); }

  HandleRange range_;
  std::vector<std::optional<Bdf>> owners_;  ///< by handle - lower bound
};

/// Whom an error completion for `request` goes to: its Requester ID, or the owner of its handle;
/// the handle itself where nobody is known. [DHI D16]
Bdf completion_target(const Tlp& request, const IdentityForm& form, const HandleOwners* owners);

}  // namespace flitwise
