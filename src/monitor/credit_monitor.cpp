// SPDX-License-Identifier: Apache-2.0
// Credits told and used.
#include "monitor/credit_monitor.h"

#include <fmt/format.h>

#include "link/shared_credits.h"

namespace flitwise {
namespace {

constexpr MonitoredRule kNotInitialised{"LNK-8.10", "a TLP was sent before its class had credits"};
constexpr MonitoredRule kOverrun{"LNK-8.3", "a TLP was sent that its credits do not cover"};
constexpr MonitoredRule kTakenBack{"LNK-8.8", "an UpdateFC takes credits back"};

// Counter widths without scaling, and what a scale code adds. [LNK-8.4]
constexpr unsigned kHeaderBits = 8;
constexpr unsigned kDataBits = 12;
constexpr unsigned bits_of_scale(unsigned code) {
  return code < 2 ? 0U : 2U * (code - 1);
}

}  // namespace

// A value of 0 gives without end, and nothing where it speaks of shared credits. [LNK-8.5]
// [LNK-11.24]
void CreditMonitor::Counter::initialise(unsigned field, unsigned scale_code, unsigned plain_bits,
                                        bool is_shared) {
  shift = bits_of_scale(scale_code);
  range = std::uint64_t{1} << (plain_bits + shift);
  limit = field == 0 && !is_shared ? kInfinite : std::uint64_t{field} << shift;
}

// The limit goes on by less than half the counter. [LNK-8.8]
bool CreditMonitor::Counter::update(unsigned field) {
  if (limit == kInfinite) {
    return true;
  }
  const std::uint64_t step = ((std::uint64_t{field} << shift) - limit) & (range - 1);
  limit += step < range / 2 ? step : 0;
  return step < range / 2;
}

// What it does not say of the fields can only be more than was said before. [LNK-11.27]
void CreditMonitor::Counter::extend(unsigned low_bits, unsigned bits) {
  limit += ((low_bits - (limit >> shift)) & ((1U << bits) - 1U)) << shift;
}

void CreditMonitor::told_of_all(const Packet& packet) {
  const OptimizedUpdateFc update = decode_optimized_update_fc(packet.dllp.raw);
  for (std::size_t fc = 0; fc < kFcClasses; ++fc) {
    Credits& one = credits_[kFirstShared + fc];
    if (one.headers.limit != 0) {  // else there is no pool
      one.uid = packet.uid;
      one.headers.extend(update.classes[fc].header, kOptimizedHeaderBits);
      one.data.extend(update.classes[fc].data, kOptimizedDataBits);
    }
  }
}

void CreditMonitor::told(const Packet& packet, Time now) {
  const Dllp& dllp = packet.dllp;
  const bool is_of_all = dllp.type == DllpType::kOptimizedUpdateFc;
  if ((dllp.is_shared || is_of_all) && shared_ == SharedCredits::kNone) {
    return;  // made by hand, without a meaning
  }
  if (is_of_all) {
    told_of_all(packet);
    return;
  }
  Credits& one =
      credits_[static_cast<std::size_t>(dllp.fc_class) + (dllp.is_shared ? kFirstShared : 0)];
  one.uid = packet.uid;
  if (dllp.type == DllpType::kUpdateFc && dllp.is_shared && one.headers.limit == 0) {
    return;  // there is no pool to which it could give anything [LNK-11.24]
  }
  if (dllp.type == DllpType::kUpdateFc) {
    const bool header_is_fine = one.headers.update(dllp.hdr_fc);
    const bool data_is_fine = one.data.update(dllp.data_fc);
    if (!(header_is_fine && data_is_fine) && !packet.is_raw) {
      reporter_.report(kTakenBack, now, packet,
                       fmt::format("limits before: {} headers, {} data units", one.headers.limit,
                                   one.data.limit));
    }
  } else if (!one.is_initialised) {  // values of a later InitFC are not used [LNK-8.11]
    one.is_initialised = true;
    one.headers.initialise(dllp.hdr_fc, dllp.hdr_scale, kHeaderBits, dllp.is_shared);
    one.data.initialise(dllp.data_fc, dllp.data_scale, kDataBits, dllp.is_shared);
  }
}

// A class without shared ones has no mark on its TLPs. [LNK-11.25] [LNK-11.26]
std::size_t CreditMonitor::place_of_shared(const Packet& packet, TlpKind kind) const {
  constexpr auto kPosted = static_cast<std::size_t>(FcClass::kPosted);
  const bool is_other = shared_ == SharedCredits::kMerged && kind.is(FcClass::kCompletion);
  const std::size_t shared = kFirstShared + (is_other ? kPosted : kind.fc);
  return packet.uses_dedicated_credits || credits_[shared].headers.limit == 0 ? kind.fc : shared;
}

void CreditMonitor::report(const Packet& packet, Time now) const {
  const Credits& one = credits_[place_of(packet, kind_of(packet.tlp))];
  const auto text = [](std::uint64_t limit) {
    return limit == kInfinite ? "infinite" : std::to_string(limit);
  };
  reporter_.report(
      one.is_initialised ? kOverrun : kNotInitialised, now, packet,
      fmt::format("#{} UpdateFC: with this one {} of {} headers and {} of {} data units used",
                  one.uid, one.headers.used, text(one.headers.limit), one.data.used,
                  text(one.data.limit)));
}

}  // namespace flitwise
