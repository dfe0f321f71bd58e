// SPDX-License-Identifier: Apache-2.0
// Tags in use, and what each request is owed.
#include "monitor/tag_monitor.h"

namespace flitwise {
namespace {

constexpr MonitoredRule kReused{"LNK-9.8", "a tag is used again while its request waits"};

// Bytes between the first and the last enabled one. [LNK-9.12]
std::uint32_t bytes_owed(const Tlp& tlp) {
  if (is_atomic(tlp.type)) {
    return tlp.type == TlpType::kCas ? 2U * tlp.length_dw : 4U * tlp.length_dw;
  }
  const bool is_memory_read = tlp.type == TlpType::kMRd || tlp.type == TlpType::kMRdLk;
  if (!is_memory_read || tlp.has_processing_hint) {
    return is_memory_read ? 4U * tlp.length_dw : 4U;
  }
  if (tlp.first_be == 0) {
    return 1;
  }
  const unsigned last = tlp.length_dw == 1 ? tlp.first_be : tlp.last_be;
  const auto skipped_ahead = static_cast<unsigned>(__builtin_ctz(tlp.first_be));
  const auto skipped_behind = static_cast<unsigned>(__builtin_clz(last | 1U)) - 28U;
  return 4U * tlp.length_dw - skipped_ahead - skipped_behind;
}

// [LNK-9.13]
std::uint8_t first_lower_address(const Tlp& tlp) {
  const unsigned skipped = tlp.has_processing_hint || tlp.first_be == 0
                               ? 0U
                               : static_cast<unsigned>(__builtin_ctz(tlp.first_be));
  return static_cast<std::uint8_t>((tlp.address & 0x7cU) + skipped);
}

}  // namespace

void TagMonitor::sent(const Packet& packet, Time now) {
  const Tlp& tlp = packet.tlp;
  AwaitedRequest& one =
      table_.at(packet.has_identity ? packet.identity.bdf : tlp.requester_id, tlp.tag);
  const bool is_given_up = one.is_out && now - one.issued >= timeout_;
  if (one.is_out && !is_given_up) {
    reporter_.report(kReused, now, packet, text_of(one.note));
  }
  one.is_doubtful = one.is_out;
  one.is_out = true;
  one.note = note_of(packet);
  const Time issued = packet.stamped(Hop::kIssue);
  one.issued = issued == kNotStamped ? packet.stamped(Hop::kQueued) : issued;
  one.is_memory_read = tlp.type == TlpType::kMRd || tlp.type == TlpType::kMRdLk;
  one.is_locked = tlp.type == TlpType::kMRdLk;
  one.is_configuration = is_configuration(tlp.type);
  one.wants_data = !has_data(tlp.type) || is_atomic(tlp.type);
  one.left = bytes_owed(tlp);
  one.lower_address = one.is_memory_read ? first_lower_address(tlp) : std::uint8_t{0};
  one.tc = tlp.tc;
  one.is_handle = tlp.id_is_handle;
  one.is_translation = tlp.at == AddressType::kTranslationRequest;
}

}  // namespace flitwise
