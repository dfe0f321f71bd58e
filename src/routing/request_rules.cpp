// SPDX-License-Identifier: Apache-2.0
// Checks of upstream identities at a downstream port, and rules at the border to host memory.
#include "routing/request_rules.h"

#include "common/ranges.h"
#include "dhi/handle_types.h"
#include "tlp/atomic_op.h"
#include "tlp/splitter.h"
#include "tlp/tlp_check.h"

namespace flitwise {

namespace {
/// True where the Requester ID field itself is the handle, and the BDF is not in the packet. That
/// of a message is its sender's.
bool handle_replaces_bdf(const Tlp& tlp, const IdentityForm& form) {
  return is_in_requester_id(form.dhi_form) && !is_message(tlp.type);
}

// [DHI D20]
unsigned needed_capabilities(const Tlp& tlp) {
  const bool changes_in_place = is_atomic(tlp.type) || tlp.type == TlpType::kDMWr;
  return (tlp.at == AddressType::kTranslated ? kCapabilityTranslated : 0U) |
         (changes_in_place ? kCapabilityAtomics : 0U);
}

bool lies_in(std::uint64_t bytes, std::uint64_t address, std::uint64_t base, std::uint64_t size) {
  return address >= base && address - base < size && bytes <= size - (address - base);
}
}  // namespace

SourceVerdict check_source(const Tlp& tlp, const Bridge& port, SwitchMode mode,
                           const IdentityForm& form, const HandleOwners& handles) {
  if (is_completion(tlp.type)) {
    return SourceVerdict::kPass;
  }
  const OptionalId<Dhi> handle = handle_of(tlp, form);
  const bool reads_handles = mode == SwitchMode::kHandleAware;
  if (!port.source_validation) {
    return handle ? SourceVerdict::kUncheckedHandle : SourceVerdict::kPass;
  }
  // A legacy switch takes whatever stands in the field for a BDF.
  const bool has_bdf = !handle || !handle_replaces_bdf(tlp, form);
  if ((has_bdf || !reads_handles) && !port.owns_bus(tlp.requester_id.bus())) {
    return SourceVerdict::kForeignBus;
  }
  if (!handle) {
    return SourceVerdict::kPass;
  }
  if (!reads_handles) {
    return SourceVerdict::kUncheckedHandle;
  }
  return handles.contains(*handle) ? SourceVerdict::kPass : SourceVerdict::kForeignHandle;
}

void HandleOwners::add(const BusRange& buses, const HandleRange& range) {
  const bool is_new = none_of(shares_, [&](const Share& share) {
    return share.range == range && share.buses.secondary == buses.secondary;
  });
  if (is_new) {
    shares_.push_back({buses, range, std::vector<std::optional<Bdf>>(range.size())});
  }
}

const HandleOwners::Share* HandleOwners::share_of(Dhi handle) const {
  return find_where(shares_, [&](const Share& share) { return share.range.contains(handle); });
}

void HandleOwners::learn(Dhi handle, Bdf sender, bool is_owner) {
  for (Share& share : shares_) {
    if (share.buses.contains(sender) && share.range.contains(handle)) {
      share.owners[to_int(handle) - to_int(share.range.lower)] =
          is_owner ? std::optional<Bdf>(sender) : std::nullopt;
      return;
    }
  }
}

void HandleOwners::forget_all(Bdf sender) {
  for (Share& share : shares_) {
    if (share.buses.contains(sender)) {
      share.owners.assign(share.owners.size(), std::nullopt);
    }
  }
}

std::optional<Bdf> HandleOwners::owner_of(Dhi handle) const {
  const Share* const share = share_of(handle);
  return share == nullptr ? std::nullopt
                          : share->owners[to_int(handle) - to_int(share->range.lower)];
}

Bdf completion_target(const Tlp& request, const IdentityForm& form, const HandleOwners* owners) {
  const OptionalId<Dhi> handle = handle_of(request, form);
  if (!handle || !handle_replaces_bdf(request, form) || owners == nullptr) {
    return request.requester_id;
  }
  return owners->owner_of(*handle).value_or(request.requester_id);
}

HostRules::HostRules(const HostConfig& config)
    : memory_bytes_(config.memory.size),
      window_(config.dma_window),
      trusted_(config.trusted_window),
      has_atomics_(config.atomics),
      has_deferrable_writes_(config.deferrable_writes),
      checks_capabilities_(config.dhi.check_capabilities),
      checks_windows_(window_.size != 0 || trusted_.size != 0) {}

bool HostRules::serves(const Tlp& tlp) const {
  switch (tlp.type) {
    case TlpType::kMRd:
    case TlpType::kMWr: return true;
    case TlpType::kDMWr:
      return has_deferrable_writes_ && bytes_named(tlp) <= kMaxDeferrableBytes;  // [LNK-9.30]
    default: return has_atomics_ && is_atomic(tlp.type);
  }
}

const char* HostRules::refusal_of(const Tlp& tlp, const DomainStanding& standing,
                                  bool is_translating) const {
  if (!is_bus_master_) {
    return "bus_master_disabled";
  }
  if (has_wrong_address_type(tlp)) {
    return "address_type";  // [ATR-03] [ATR-04] [ATR-05]
  }
  if (!serves(tlp)) {
    return "unsupported_request";
  }
  if (tlp.at == AddressType::kTranslationRequest && !is_translating) {
    return "translation_request_without_ats";
  }
  if (checks_capabilities_ && (needed_capabilities(tlp) & ~unsigned{standing.capabilities}) != 0) {
    return "capability_missing";
  }
  return nullptr;
}

const char* HostRules::address_refusal_of(const Tlp& tlp, std::uint64_t address,
                                          const DomainStanding& standing) const {
  if (!lies_in(bytes_named(tlp), address, 0, memory_bytes_)) {
    return "unmapped_address";  // [LNK-13.7]
  }
  // What touches no memory is let through, so that whoever may write can flush. [DHI S3]
  return !checks_windows_ || is_zero_length_read(tlp)
             ? nullptr
             : window_refusal_of(address, bytes_named(tlp), standing);
}

const char* HostRules::window_refusal_of(std::uint64_t address, std::uint64_t bytes,
                                         const DomainStanding& standing) const {
  if (window_.size != 0 && !lies_in(bytes, address, window_.base, window_.size)) {
    return "outside_dma_window";
  }
  const bool is_inside = trusted_.size != 0 && address < trusted_.base + trusted_.size &&
                         trusted_.base < address + bytes;
  return is_inside && !standing.is_trusted ? "untrusted_request" : nullptr;
}

}  // namespace flitwise
