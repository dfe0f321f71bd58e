// SPDX-License-Identifier: Apache-2.0
// Forms of identity.
#include "tlp/identity.h"

#include "flitwise/error.h"
#include "tlp/prefix.h"

namespace flitwise {
namespace {

constexpr unsigned kMaxTagHandleBits = 10;  // T9, T8 and Tag[7:0]

bool is_invalidate_request(const Tlp& tlp) {
  return tlp.type == TlpType::kMsgD && tlp.message_code == msg::kInvalidateRequest;
}

bool is_prg_response(const Tlp& tlp) {
  return tlp.type == TlpType::kMsg && tlp.message_code == msg::kPrgResponse;
}

// Messages of the translation agent: their Requester ID is the host's, DW2 names the device.
// [LNK-4.4] [LNK-4.8]
bool is_from_translation_agent(const Tlp& tlp) {
  return is_invalidate_request(tlp) || is_prg_response(tlp);
}

Bdf device_bdf(const Tlp& tlp) {
  return is_from_translation_agent(tlp) ? Bdf{static_cast<std::uint16_t>(tlp.message_dw2 >> 16)}
                                        : tlp.requester_id;
}

void set_device_id(Tlp& tlp, std::uint16_t id) {
  if (is_from_translation_agent(tlp)) {
    tlp.message_dw2 = (tlp.message_dw2 & 0xffffU) | std::uint32_t{id} << 16;
  } else {
    tlp.requester_id = Bdf{id};
  }
}

void apply_full(Tlp& tlp, const DeviceIdentity& identity, bool with_pasid) {
  if (!is_completion(tlp.type)) {  // the Requester ID of a completion is the one it answers
    set_device_id(tlp, identity.bdf.value);
  }
  tlp.has_pasid = with_pasid && identity.pasid.has_value();
  tlp.pasid = tlp.has_pasid ? *identity.pasid : Pasid{};
  tlp.privileged_mode_requested = tlp.has_pasid && identity.privileged_mode_requested;
  tlp.execute_requested = tlp.has_pasid && identity.execute_requested;
}

// Tags of posted writes are unused but for a steering tag, and so are those of PRG Responses; an
// Invalidate Request needs its tag for the ITag. [LNK-2.15]
bool tag_is_free(const Tlp& tlp) {
  return (tlp.type == TlpType::kMWr && !tlp.has_processing_hint) || is_prg_response(tlp);
}

}  // namespace

const char* refusal_of(const IdentityForm& form) {
  const bool is_too_wide = form.identity == Identity::kDhi && form.dhi_form == DhiForm::kTag &&
                           form.handle_bits > kMaxTagHandleBits;
  return is_too_wide ? "form tag holds handles of at most 10 bits" : nullptr;
}

bool may_carry_pasid(const Tlp& tlp, RequestUse use) {
  if (use == RequestUse::kInterrupt) {
    return false;
  }
  if (is_memory_request(tlp.type)) {
    return tlp.type != TlpType::kMRdLk;
  }
  if (tlp.type == TlpType::kMsg) {
    return tlp.message_code == msg::kPageRequest || tlp.message_code == msg::kPrgResponse;
  }
  return is_invalidate_request(tlp);
}

bool may_carry_handle(const Tlp& tlp, RequestUse use) {
  return may_carry_pasid(tlp, use) && (tlp.type != TlpType::kMsg || is_prg_response(tlp));
}

bool has_room_for_handle(const Tlp& tlp, const IdentityForm& form, RequestUse use) {
  return form.identity == Identity::kDhi && may_carry_handle(tlp, use) &&
         (form.dhi_form != DhiForm::kTag || tag_is_free(tlp));
}

void apply_identity(Tlp& tlp, const IdentityForm& form, const DeviceIdentity& identity,
                    OptionalId<Dhi> handle, RequestUse use) {
  const bool with_pasid =
      (form.identity == Identity::kBdfPasid || form.identity == Identity::kDhi) &&
      may_carry_pasid(tlp, use);
  if (!handle || !has_room_for_handle(tlp, form, use)) {
    apply_full(tlp, identity, with_pasid);
    return;
  }
  if (is_in_requester_id(form.dhi_form)) {
    set_device_id(tlp, to_int(*handle));
  } else {
    apply_full(tlp, identity, false);
  }
  if (form.dhi_form == DhiForm::kTag) {
    tlp.tag = to_int(*handle);
  } else if (form.dhi_form == DhiForm::kPrefix) {
    FLITWISE_CHECK(tlp.other_prefix_count < kMaxPrefixes, "no room for the handle prefix");
    tlp.other_prefixes[tlp.other_prefix_count++] = handle_prefix(*handle);
  } else if (form.dhi_form == DhiForm::kOhc) {
    tlp.has_pasid = true;
    tlp.pasid = static_cast<Pasid>(to_int(*handle));
  }
  tlp.id_is_handle = true;
}

OptionalId<Dhi> handle_of(const Tlp& tlp, const IdentityForm& form) {
  if (!tlp.id_is_handle || form.identity != Identity::kDhi || !may_carry_handle(tlp)) {
    return {};
  }
  switch (form.dhi_form) {
    case DhiForm::kRidDirect:
    case DhiForm::kRidFabric: return static_cast<Dhi>(device_bdf(tlp).value);
    case DhiForm::kTag:
      return tag_is_free(tlp) ? OptionalId<Dhi>(static_cast<Dhi>(tlp.tag)) : OptionalId<Dhi>();
    case DhiForm::kPrefix:
      for (unsigned i = 0; i < tlp.other_prefix_count; ++i) {
        if (is_handle_prefix(tlp.other_prefixes[i])) {
          return handle_of_prefix(tlp.other_prefixes[i]);
        }
      }
      return {};
    case DhiForm::kOhc:
      return tlp.has_pasid ? OptionalId<Dhi>(static_cast<Dhi>(to_int(tlp.pasid)))
                           : OptionalId<Dhi>();
  }
  return {};
}

DeviceIdentity full_identity(const Tlp& tlp) {
  DeviceIdentity full;
  full.bdf = device_bdf(tlp);
  if (tlp.has_pasid) {
    full.pasid = tlp.pasid;
    full.privileged_mode_requested = tlp.privileged_mode_requested;
    full.execute_requested = tlp.execute_requested;
  }
  return full;
}

WireIdentity identity_of(const Tlp& tlp, const IdentityForm& form) {
  WireIdentity found{handle_of(tlp, form), full_identity(tlp)};
  if (found.handle && is_in_requester_id(form.dhi_form)) {
    found.full.bdf = Bdf{};
  }
  if (found.handle && form.dhi_form == DhiForm::kOhc) {
    found.full.pasid.reset();  // it stands in its place
  }
  return found;
}

}  // namespace flitwise
