// SPDX-License-Identifier: Apache-2.0
// The shape of TLPs.
#include "monitor/request_monitor.h"

#include <fmt/format.h>

#include "tlp/atomic_op.h"

namespace flitwise {
namespace {

constexpr MonitoredRule kPageBoundary{"LNK-9.14", "a memory request crosses a 4 KiB boundary"};
constexpr MonitoredRule kMps{"LNK-9.15", "a payload exceeds MPS"};
constexpr MonitoredRule kMrrs{"LNK-9.15", "a read exceeds MRRS"};
constexpr MonitoredRule kEnables{"LNK-2.8", "byte enables do not go with the Length"};
constexpr MonitoredRule kGaps{"LNK-2.9", "byte enables have gaps where none are allowed"};
constexpr MonitoredRule kNotMemoryAt{"LNK-2.11",
                                     "a TLP that is no memory request has an address type"};
constexpr MonitoredRule kReservedAt{"LNK-1.5", "the address type is reserved"};
constexpr MonitoredRule kTranslation{
    "LNK-4.1", "a translation request is not an MRd of whole, enabled pairs of DWs"};
constexpr MonitoredRule kOneDw{"LNK-2.11", "an I/O or configuration request is not one DW in TC 0"};

constexpr MonitoredRule kRelaxedLast{"PRI-33", "the last Page Request of a group may pass others"};

// Runs of ones that end at bit 3, and that start at bit 0.
constexpr bool has_gap_above(unsigned enables) {
  return ((enables | (enables - 1U)) & 0xfU) != 0xfU;
}
constexpr bool has_gap_below(unsigned enables) {
  return (enables & (enables + 1U)) != 0;
}

const MonitoredRule* broken_enables(const Tlp& tlp) {
  if (tlp.has_processing_hint && !has_data(tlp.type)) {
    return nullptr;  // a steering tag stands there [LNK-2.15]
  }
  if (tlp.length_dw == 1) {
    return tlp.last_be == 0 ? nullptr : &kEnables;
  }
  if (tlp.first_be == 0 || tlp.last_be == 0) {
    return &kEnables;
  }
  const bool is_quadword = tlp.length_dw == 2 && tlp.address % 8 == 0;
  return !is_quadword && (has_gap_above(tlp.first_be) || has_gap_below(tlp.last_be)) ? &kGaps
                                                                                     : nullptr;
}

bool is_whole_translation_request(const Tlp& tlp) {
  return tlp.type == TlpType::kMRd && tlp.length_dw >= 2 && tlp.length_dw % 2 == 0 &&
         tlp.first_be == 0xf && tlp.last_be == 0xf &&
         (tlp.address & 0xff4U) == 0;  // bit 3: who asks
}

}  // namespace

void RequestMonitor::report(const Packet& packet, Time now) const {
  const Tlp& tlp = packet.tlp;
  if (has_data(tlp.type) && 4U * tlp.length_dw > limits_[0]) {
    reporter_.report(kMps, now, packet, fmt::format("MPS {} bytes", limits_[0]));
  }
  if (is_memory_request(tlp.type)) {
    look_at_memory_request(packet, now);
    return;
  }
  if (tlp.at != AddressType::kUntranslated) {
    reporter_.report(kNotMemoryAt, now, packet, fmt::format("AT {}", static_cast<int>(tlp.at)));
  }
  if ((is_configuration(tlp.type) || is_io(tlp.type)) &&
      (tlp.length_dw != 1 || tlp.tc != 0 || tlp.last_be != 0)) {
    reporter_.report(kOneDw, now, packet, fmt::format("TC {}", tlp.tc));
  }
}

void RequestMonitor::advise(const Packet& packet, Time now) const {
  constexpr std::uint32_t kLast = 1U << 2;
  const Tlp& tlp = packet.tlp;
  const bool is_last_page_request = tlp.type == TlpType::kMsg &&
                                    tlp.message_code == msg::kPageRequest &&
                                    (tlp.message_dw3 & kLast) != 0;
  if (is_last_page_request && tlp.relaxed_ordering) {
    reporter_.warn(kRelaxedLast, now, packet);
  }
}

void RequestMonitor::look_at_memory_request(const Packet& packet, Time now) const {
  const Tlp& tlp = packet.tlp;
  const std::uint32_t bytes = 4U * tlp.length_dw;
  const bool is_read = tlp.type == TlpType::kMRd || tlp.type == TlpType::kMRdLk;
  const std::uint32_t mrrs =
      is_read && bytes > limits_[1] && enabled_mrrs_ ? enabled_mrrs_() : limits_[1];
  if (is_read && bytes > mrrs) {
    reporter_.report(kMrrs, now, packet, fmt::format("MRRS {} bytes", mrrs));
  }
  if ((tlp.address & 0xfffU) + bytes_named(tlp) > 0x1000U) {
    reporter_.report(kPageBoundary, now, packet,
                     fmt::format("the page ends at {:#x}", (tlp.address | 0xfffU)));
  }
  if (tlp.at == AddressType::kReserved) {
    reporter_.report(kReservedAt, now, packet, "AT 3");
  } else if (tlp.at == AddressType::kTranslationRequest && !is_whole_translation_request(tlp)) {
    reporter_.report(kTranslation, now, packet, "AT 1");
  }
  if (const MonitoredRule* const rule = is_atomic(tlp.type) ? nullptr : broken_enables(tlp)) {
    reporter_.report(*rule, now, packet,
                     fmt::format("First BE {:x}, Last BE {:x}", tlp.first_be, tlp.last_be));
  }
}

}  // namespace flitwise
