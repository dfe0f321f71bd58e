// SPDX-License-Identifier: Apache-2.0
// Completions against the requests they answer.
#include "monitor/completion_monitor.h"

#include <fmt/format.h>

#include "common/ranges.h"

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

constexpr MonitoredRule kNobodyWaits{"LNK-9.8", "a completion answers no request that waits"};
constexpr MonitoredRule kByteCount{"LNK-9.12", "Byte Count is not what is still owed"};
constexpr MonitoredRule kLowerAddress{"LNK-9.13", "Lower Address is not where the answer goes on"};
constexpr MonitoredRule kTooLong{"LNK-9.12", "a completion brings more than is owed"};
constexpr MonitoredRule kReadBoundary{"LNK-9.10",
                                      "a completion that is not the last does not end on RCB"};
constexpr MonitoredRule kNoData{"LNK-9.10", "a successful read is answered without data"};
constexpr MonitoredRule kUnwantedData{"LNK-9.19", "data comes where none is due"};
constexpr MonitoredRule kKind{"LNK-9.21", "a locked and a plain request are mixed up"};
constexpr MonitoredRule kClass{"LNK-2.5", "a completion has another traffic class"};

constexpr MonitoredRule kTranslations{
    "TCP-01", "a Translation Completion is not one of at most two that meet at RCB"};

bool brings_data(TlpType type) {
  return type == TlpType::kCplD || type == TlpType::kCplDLk;
}

}  // namespace

AwaitedRequest& RequestTable::at(Bdf function, std::uint16_t tag) {
  std::unique_ptr<Bus>& bus = buses_[function.bus()];
  if (bus == nullptr) {
    bus = std::make_unique<Bus>();
  }
  std::unique_ptr<Tags>& tags = (*bus)[function.value & 0xffU];
  if (tags == nullptr) {
    tags = std::make_unique<Tags>();
  }
  if (tag >= tags->places.size()) {
    tags->places.resize(std::size_t{1} << 16, kNone);  // 14-bit tags [LNK-9.8]
  }
  std::uint32_t& place = tags->places[tag];
  if (place == kNone) {
    place = static_cast<std::uint32_t>(requests_.size());
    requests_.emplace_back();
  }
  return requests_[place];
}

AwaitedRequest* RequestTable::find_with_handle(Bdf handle, std::uint16_t tag) {
  const auto found = find_if(requests_, [&](const AwaitedRequest& one) {
    return one.is_out && one.is_handle && one.note.requester_id == handle && one.note.tag == tag;
  });
  return found == requests_.end() ? nullptr : &*found;
}

void CompletionMonitor::sent(const Packet& packet, Time now) {
  const Tlp& tlp = packet.tlp;
  AwaitedRequest& one =
      table_.at(packet.has_identity ? packet.identity.bdf : tlp.requester_id, tlp.tag);
  const bool is_given_up = one.is_out && now - one.issued >= timeout_;
  if (one.is_out && !is_given_up) {
    requests_.report(kReused, now, packet, text_of(one.note));
  }
  one.is_doubtful = one.is_out;
  one.is_out = true;
  one.note = note_of(packet);
  const Time issued = packet.stamped(Hop::kIssue);
  one.issued = issued == kNotStamped ? packet.stamped(Hop::kQueued) : issued;
  one.is_memory_read = tlp.type == TlpType::kMRd || tlp.type == TlpType::kMRdLk;
  one.is_locked = tlp.type == TlpType::kMRdLk;
  one.wants_data = !has_data(tlp.type) || is_atomic(tlp.type);
  one.left = bytes_owed(tlp);
  one.lower_address = one.is_memory_read ? first_lower_address(tlp) : std::uint8_t{0};
  one.tc = tlp.tc;
  one.is_handle = tlp.id_is_handle;
  one.is_translation = tlp.at == AddressType::kTranslationRequest;
}

// Whole DWs travel: those before the first byte asked for and behind the last do not count.
std::uint32_t CompletionMonitor::bytes_in(const AwaitedRequest& request, const Tlp& tlp) {
  return std::min(request.left, 4U * tlp.length_dw - request.lower_address % 4U);
}

const MonitoredRule* CompletionMonitor::broken_rule_of_data(const AwaitedRequest& request,
                                                            const Tlp& tlp) const {
  const std::uint32_t lead = request.lower_address % 4U;
  const std::uint32_t brought = bytes_in(request, tlp);
  if (tlp.byte_count != request.left) {
    return &kByteCount;
  }
  if (request.is_memory_read && tlp.lower_address != request.lower_address) {
    return &kLowerAddress;
  }
  if (4U * tlp.length_dw > (lead + request.left + 3U) / 4U * 4U) {
    return &kTooLong;
  }
  if (brought < request.left && (request.lower_address + brought) % rcb_ != 0) {
    return &kReadBoundary;
  }
  return nullptr;
}

// A reply may be shorter than asked; its first CplD ends at RCB and tells what is owed. [ATR-19]
// [TCP-03]
const MonitoredRule* CompletionMonitor::broken_rule_of_translation(AwaitedRequest& request,
                                                                   const Tlp& tlp) const {
  const unsigned bytes = 4U * tlp.length_dw;
  const bool is_first = request.is_memory_read;
  const bool fits =
      is_first
          ? tlp.byte_count <= request.left && (tlp.lower_address + bytes) % rcb_ == 0
          : tlp.byte_count == request.left && tlp.byte_count == bytes && tlp.lower_address == 0;
  const bool is_whole = bytes != 0 && bytes % 8 == 0 && bytes <= tlp.byte_count;
  request.is_memory_read = false;  // from here on the second one is due
  request.left = tlp.byte_count;
  return fits && is_whole ? nullptr : &kTranslations;
}

const MonitoredRule* CompletionMonitor::broken_rule(AwaitedRequest& request, const Tlp& tlp) const {
  const bool is_locked = tlp.type == TlpType::kCplLk || tlp.type == TlpType::kCplDLk;
  if (tlp.tc != request.tc) {
    return &kClass;
  }
  if (is_locked != request.is_locked) {
    return &kKind;
  }
  if (!brings_data(tlp.type)) {
    return tlp.status == CplStatus::kSC && request.wants_data ? &kNoData : nullptr;
  }
  if (tlp.status != CplStatus::kSC || !request.wants_data) {
    return &kUnwantedData;
  }
  if (request.is_translation) {
    return broken_rule_of_translation(request, tlp);
  }
  return broken_rule_of_data(request, tlp);
}

void CompletionMonitor::delivered(const Packet& packet, Time now) {
  const Tlp& tlp = packet.tlp;
  AwaitedRequest* const request = tlp.id_is_handle
                                      ? table_.find_with_handle(tlp.requester_id, tlp.tag)
                                      : table_.find(tlp.requester_id, tlp.tag);
  if (request == nullptr) {
    // Requests of the host come from bus 0.
    if (has_peers_ && !tlp.relaxed_ordering && !tlp.id_is_handle && tlp.requester_id.bus() != 0) {
      return;
    }
    answers_.report(kNobodyWaits, now, packet, "no request with this tag");
    return;
  }
  const MonitoredRule* const rule = request->is_doubtful ? nullptr : broken_rule(*request, tlp);
  if (rule != nullptr) {
    answers_.report(*rule, now, packet,
                    fmt::format("{}; {} bytes owed from lower address {:#x}",
                                text_of(request->note), request->left, request->lower_address));
  }
  const std::uint32_t brought = brings_data(tlp.type) ? bytes_in(*request, tlp) : request->left;
  request->left -= brought;
  request->lower_address = static_cast<std::uint8_t>((request->lower_address + brought) & 0x7fU);
  request->is_out = request->left > 0;
}

}  // namespace flitwise
