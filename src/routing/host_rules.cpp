// SPDX-License-Identifier: Apache-2.0
// Rules at the border to host memory.
#include "routing/host_rules.h"

#include "dhi/handle_types.h"
#include "tlp/splitter.h"
#include "tlp/tlp_check.h"

namespace flitwise {
namespace {

bool lies_in(const Tlp& tlp, std::uint64_t address, std::uint64_t base, std::uint64_t size) {
  const std::uint64_t bytes = tlp.length_dw * 4U;
  return address >= base && address - base < size && bytes <= size - (address - base);
}

}  // namespace

HostRules::HostRules(const HostConfig& config)
    : memory_bytes_(config.memory.size),
      window_(config.dma_window),
      trusted_(config.trusted_window),
      checks_capabilities_(config.dhi.check_capabilities),
      checks_windows_(window_.size != 0 || trusted_.size != 0) {}

const char* HostRules::refusal_of(const Tlp& tlp, const DomainStanding& standing,
                                  bool is_translating) const {
  if (!is_bus_master_) {
    return "bus_master_disabled";
  }
  if (has_wrong_address_type(tlp)) {
    return "address_type";  // [ATR-03] [ATR-04] [ATR-05]
  }
  if (tlp.type != TlpType::kMRd && tlp.type != TlpType::kMWr) {
    return "unsupported_request";
  }
  if (tlp.at == AddressType::kTranslationRequest && !is_translating) {
    return "translation_request_without_ats";
  }
  if (tlp.at == AddressType::kTranslated && checks_capabilities_ &&
      (standing.capabilities & kCapabilityTranslated) == 0) {
    return "capability_missing";
  }
  return nullptr;
}

const char* HostRules::address_refusal_of(const Tlp& tlp, std::uint64_t address,
                                          const DomainStanding& standing) const {
  if (!lies_in(tlp, address, 0, memory_bytes_)) {
    return "unmapped_address";  // [LNK-13.7]
  }
  // What touches no memory is let through, so that whoever may write can flush. [DHI S3]
  if (!checks_windows_ || is_zero_length_read(tlp)) {
    return nullptr;
  }
  if (window_.size != 0 && !lies_in(tlp, address, window_.base, window_.size)) {
    return "outside_dma_window";
  }
  const bool is_inside = trusted_.size != 0 && address < trusted_.base + trusted_.size &&
                         trusted_.base < address + tlp.length_dw * 4U;
  return is_inside && !standing.is_trusted ? "untrusted_request" : nullptr;
}

}  // namespace flitwise
