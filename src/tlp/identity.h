// SPDX-License-Identifier: Apache-2.0
/// What each form of identity does to a TLP, and what a received TLP says about its
/// domain. The one place that knows the forms; docs/formats/identity_forms.md shows them.
#pragma once

#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "flitwise/tlp.h"

namespace flitwise {

/// The form of identity that a link uses.
struct IdentityForm {
  Identity identity = Identity::kBdfPasid;
  DhiForm dhi_form = DhiForm::kRidDirect;  ///< matters for Identity::kDhi
  unsigned handle_bits = 8;                ///< 2..12
};

/// Forms in which the handle stands in place of the BDF.
constexpr bool is_in_requester_id(DhiForm form) {
  return form == DhiForm::kRidDirect || form == DhiForm::kRidFabric;
}

/// Why a form cannot be used, or nullptr: `tag` holds 10 bits at most. Which form goes with which
/// mode of a link is a relation of the config.
const char* refusal_of(const IdentityForm& form);

/// What a TLP is for, as far as its fields do not say. Interrupts go without PASID and in full.
enum class RequestUse { kData, kInterrupt };

/// True for a TLP that may carry a PASID prefix. [LNK-3.7]
bool may_carry_pasid(const Tlp& tlp, RequestUse use = RequestUse::kData);

/// True for a TLP whose domain may be named by a handle: data requests, Invalidate Requests and PRG
/// Responses. All others go in full in every form: completions, configuration, I/O, interrupts and
/// every other message, ALLOC and DEALLOC included. [DHI D8] [DHI D21]
bool may_carry_handle(const Tlp& tlp, RequestUse use = RequestUse::kData);

/// The same in one form: `tag` has no room in requests that need their tag, which are the
/// non-posted ones, writes with a steering tag and Invalidate Requests.
bool has_room_for_handle(const Tlp& tlp, const IdentityForm& form,
                         RequestUse use = RequestUse::kData);

/// Writes the identity into the fields of a TLP that has none yet. Without a handle, or where the
/// TLP may not carry one, it goes in full. What the identity does not have (no PASID on a
/// translated request, say) is not added. rid_direct, rid_fabric: handle in the Requester ID
/// (messages of the translation agent: in DW2, where they name the device, since their Requester ID
/// is the host's). tag: handle in the tag, where that is free; else in full. prefix: handle
/// in a vendor prefix. ohc: handle in place of the PASID in OHC-A. REQUIRES: refusal_of(form) is
/// nullptr.
void apply_identity(Tlp& tlp, const IdentityForm& form, const DeviceIdentity& identity,
                    OptionalId<Dhi> handle, RequestUse use = RequestUse::kData);

/// What a TLP says about its domain: a handle, or the identity in full.
struct WireIdentity {
  OptionalId<Dhi> handle;
  DeviceIdentity full;  ///< without handle: all of it; with one: the BDF where it is still there
};

/// The domain of a TLP that names it by no handle.
DeviceIdentity full_identity(const Tlp& tlp);

/// The handle by which a TLP names its domain, if it does.
OptionalId<Dhi> handle_of(const Tlp& tlp, const IdentityForm& form);

/// The reverse of apply_identity. A TLP whose handle bit is set where no handle can be gives its
/// full identity. REQUIRES: refusal_of(form) is nullptr.
WireIdentity identity_of(const Tlp& tlp, const IdentityForm& form);

}  // namespace flitwise
