// SPDX-License-Identifier: Apache-2.0
#include "monitor/translation_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/range/algorithm_ext/erase.hpp>

#include "ats/invalidation.h"
#include "ats/translation_entry.h"
#include "tlp/atomic_op.h"

namespace flitwise {
namespace {

constexpr MonitoredRule kStale{
    "EP-7", "a translated request goes where no translation that its device still has leads"};

constexpr MonitoredRule kLineStale{
    "CXL-7.12", "a cache goes where no translation that its device still has leads"};
constexpr MonitoredRule kEarly{"INV-04",
                               "an Invalidate Completion waits for what is out by the translation"};

constexpr unsigned kEntryBytes = 8;

// Evictions name no domain and need no translation: what they give up may have been asked for long
// ago. [CXL-7.4]
bool needs_translation(const CxlMessage& message) {
  switch (static_cast<cxl::D2hReq>(message.opcode)) {
    case cxl::D2hReq::kCleanEvict:
    case cxl::D2hReq::kDirtyEvict:
    case cxl::D2hReq::kCleanEvictNoData:
    case cxl::D2hReq::kCacheFlushed: return false;
    default: return message.channel == CxlChannel::kD2hReq;
  }
}

std::uint32_t transaction_of(const Tlp& tlp) {
  return std::uint32_t{tlp.requester_id.value} << 16 | tlp.tag;
}

}  // namespace

bool TranslationMonitor::Invalidation::strikes(const Grant& grant) const {
  return request.function == grant.function && grant.asked < number &&
         scope_of(request).covers(grant.pasid) && grant.guest.overlaps(request.range);
}

void TranslationMonitor::sent(const Packet& packet, Time now) {
  const Tlp& tlp = packet.tlp;
  if (is_message(tlp.type)) {
    if (tlp.message_code == msg::kInvalidateCompletion) {
      answered(packet, now);
    }
  } else if (tlp.at == AddressType::kTranslationRequest) {
    ask(packet);
  } else if (tlp.at == AddressType::kTranslated && is_memory_request(tlp.type) &&
             !has_grant(tlp.requester_id, tlp.address, bytes_named(tlp))) {
    reporter_.report(kStale, now, packet, fmt::format("address {:#x}", tlp.address));
  }
}

void TranslationMonitor::delivered(const Packet& packet) {
  const Tlp& tlp = packet.tlp;
  if (is_completion(tlp.type)) {
    take_answer(packet);
  } else if (is_message(tlp.type) && tlp.message_code == msg::kInvalidateRequest &&
             packet.payload.size() >= kInvalidateBodyBytes) {
    invalidations_.push_back(
        {invalidate_request_of(tlp, packet.payload.data()), ++invalidated_, false});
  }
}

void TranslationMonitor::ask(const Packet& packet) {
  has_asked_ = true;
  const Tlp& tlp = packet.tlp;
  asks_[transaction_of(tlp)] = {tlp.has_pasid ? OptionalId<Pasid>(tlp.pasid) : OptionalId<Pasid>(),
                                tlp.address, invalidated_};
}

// Entries follow each other, each about the page behind the one before.
void TranslationMonitor::take_answer(const Packet& completion) {
  const Tlp& tlp = completion.tlp;
  const auto found = asks_.find(transaction_of(tlp));
  if (found == asks_.end()) {
    return;
  }
  Ask& ask = found->second;
  const std::size_t bytes = has_data(tlp.type) && !tlp.is_poisoned ? completion.payload.size() : 0;
  for (std::size_t at = 0; at + kEntryBytes <= bytes; at += kEntryBytes) {
    const TranslationEntry entry =
        decode_entry(load_wire_u64(&completion.payload[at]), ask.pasid.has_value());
    const PageRange guest = PageRange::around(ask.next, entry.size_bits);
    if (entry.has_access()) {
      grant({tlp.requester_id, ask.pasid, guest, ask.asked}, entry.translated);
    }
    ask.next = guest.last() + 1;
  }
  if (!has_data(tlp.type) || tlp.byte_count <= 4U * tlp.length_dw) {
    asks_.erase(found);
    if (asks_.empty()) {  // nobody's answer is older than an invalidation that is over
      boost::range::remove_erase_if(invalidations_,
                                    [](const Invalidation& one) { return one.is_answered; });
    }
  }
}

void TranslationMonitor::grant(const Grant& grant, std::uint64_t host) {
  for (const Invalidation& one : invalidations_) {
    if (one.is_answered && one.strikes(grant)) {
      return;
    }
  }
  sizes_ |= std::uint64_t{1} << grant.guest.size_bits;
  const std::uint64_t key = key_of(host, grant.guest.size_bits);
  const auto [first, last] = grants_.equal_range(key);
  for (auto one = first; one != last; ++one) {
    Grant& known = one->second;
    if (known.function == grant.function && known.pasid == grant.pasid &&
        known.guest == grant.guest) {
      known.asked = std::max(known.asked, grant.asked);
      return;
    }
  }
  grants_.emplace(key, grant);
}

// What the cache has asked for and has no answer to.
void TranslationMonitor::sent_message(const Packet& packet, Time now) {
  const CxlMessage& message = *packet.cxl;
  if (!needs_translation(message) || !has_asked_) {
    return;
  }
  lines_[message.id] = {message.address, invalidated_};
  for (std::uint64_t sizes = sizes_; sizes != 0; sizes &= sizes - 1) {
    const auto bits = static_cast<unsigned>(__builtin_ctzll(sizes));
    if (grants_.count(key_of(message.address, bits)) > 0) {
      return;
    }
  }
  reporter_.report(kLineStale, now, packet, fmt::format("address {:#x}", message.address));
}

// A WritePull alone has ExtCmp behind it.
void TranslationMonitor::delivered_message(const Packet& packet) {
  const CxlMessage& message = *packet.cxl;
  const bool is_answer = message.channel == CxlChannel::kH2dRsp &&
                         static_cast<cxl::H2dRsp>(message.opcode) != cxl::H2dRsp::kWritePull;
  if (is_answer || message.channel == CxlChannel::kH2dData) {
    lines_.erase(message.id);
  }
}

// A line that was sent before the invalidation came, and that no other translation leads to.
bool TranslationMonitor::is_used_by(const Line& line, const Invalidation& invalidation) const {
  const InvalidateRequest& request = invalidation.request;
  bool is_meant = false;
  for (std::uint64_t sizes = sizes_; sizes != 0 && line.asked < invalidation.number;
       sizes &= sizes - 1) {
    const auto bits = static_cast<unsigned>(__builtin_ctzll(sizes));
    const auto [first, last] = grants_.equal_range(key_of(line.address, bits));
    for (auto one = first; one != last; ++one) {
      const Grant& grant = one->second;
      const bool is_of_range = request.function == grant.function &&
                               scope_of(request).covers(grant.pasid) &&
                               grant.guest.overlaps(request.range);
      if (!is_of_range) {
        return false;
      }
      is_meant = true;
    }
  }
  return is_meant;
}

void TranslationMonitor::answered(const Packet& packet, Time now) {
  const InvalidateCompletion completion = invalidate_completion_of(packet.tlp);
  for (Invalidation& one : invalidations_) {
    if (one.is_answered || one.request.function != completion.function ||
        (completion.itag_vector >> one.request.itag & 1U) == 0) {
      continue;
    }
    const auto used = std::find_if(lines_.begin(), lines_.end(),
                                   [&](const auto& line) { return is_used_by(line.second, one); });
    if (used != lines_.end()) {
      reporter_.report(kEarly, now, packet,
                       fmt::format("line {:#x} is asked for", used->second.address));
    }
    one.is_answered = true;
    for (auto grant = grants_.begin(); grant != grants_.end();) {
      grant = one.strikes(grant->second) ? grants_.erase(grant) : std::next(grant);
    }
  }
  if (asks_.empty()) {
    boost::range::remove_erase_if(invalidations_,
                                  [](const Invalidation& one) { return one.is_answered; });
  }
}

bool TranslationMonitor::has_grant(Bdf function, std::uint64_t address, std::uint64_t bytes) const {
  for (std::uint64_t sizes = sizes_; sizes != 0; sizes &= sizes - 1) {
    const auto bits = static_cast<unsigned>(__builtin_ctzll(sizes));
    const auto [first, last] = grants_.equal_range(key_of(address, bits));
    const bool is_inside = bytes == 0 || (address + bytes - 1) >> bits == address >> bits;
    for (auto one = first; one != last && is_inside; ++one) {
      if (one->second.function == function) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace flitwise
