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
void CreditMonitor::initialise(Scale& scale, std::uint64_t& limit, unsigned field, unsigned code,
                               unsigned plain_bits, bool is_shared) {
  scale.shift = bits_of_scale(code);
  scale.range = std::uint64_t{1} << (plain_bits + scale.shift);
  limit = field == 0 && !is_shared ? kInfinite : std::uint64_t{field} << scale.shift;
}

// The limit goes on by less than half the counter. [LNK-8.8]
bool CreditMonitor::update(const Scale& scale, std::uint64_t& limit, unsigned field) {
  if (limit == kInfinite) {
    return true;
  }
  const std::uint64_t step = ((std::uint64_t{field} << scale.shift) - limit) & (scale.range - 1);
  if (step >= scale.range / 2) {
    return false;
  }
  limit += step;
  return true;
}

// What it does not say of the fields can only be more than was said before. [LNK-11.27]
void CreditMonitor::extend(const Scale& scale, std::uint64_t& limit, unsigned low_bits,
                           unsigned bits) {
  const std::uint64_t step = (low_bits - (limit >> scale.shift)) & ((1U << bits) - 1U);
  limit += step << scale.shift;
}

void CreditMonitor::told_of_all(const Packet& packet) {
  const OptimizedUpdateFc update = decode_optimized_update_fc(packet.dllp.raw);
  for (std::size_t fc = 0; fc < kFcClasses; ++fc) {
    Sums& sums = sums_[kFirstShared + fc];
    Told& told = told_[kFirstShared + fc];
    if (sums.header_limit == 0) {
      continue;  // no pool
    }
    told.uid = packet.uid;
    extend(told.header, sums.header_limit, update.classes[fc].header, kOptimizedHeaderBits);
    extend(told.data, sums.data_limit, update.classes[fc].data, kOptimizedDataBits);
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
  const std::size_t place =
      static_cast<std::size_t>(dllp.fc_class) + (dllp.is_shared ? kFirstShared : 0);
  Sums& sums = sums_[place];
  Told& told = told_[place];
  told.uid = packet.uid;
  if (dllp.type == DllpType::kUpdateFc && dllp.is_shared && sums.header_limit == 0) {
    return;  // there is no pool to which it could give anything [LNK-11.24]
  }
  if (dllp.type == DllpType::kUpdateFc) {
    const bool header_is_fine = update(told.header, sums.header_limit, dllp.hdr_fc);
    const bool data_is_fine = update(told.data, sums.data_limit, dllp.data_fc);
    if (!(header_is_fine && data_is_fine) && !packet.is_raw) {
      reporter_.report(kTakenBack, now, packet,
                       fmt::format("limits before: {} headers, {} data units", sums.header_limit,
                                   sums.data_limit));
    }
  } else if (!told.is_initialised) {  // values of a later InitFC are not used [LNK-8.11]
    told.is_initialised = true;
    initialise(told.header, sums.header_limit, dllp.hdr_fc, dllp.hdr_scale, kHeaderBits,
               dllp.is_shared);
    initialise(told.data, sums.data_limit, dllp.data_fc, dllp.data_scale, kDataBits,
               dllp.is_shared);
  }
}

// A class without shared ones has no mark on its TLPs. [LNK-11.25] [LNK-11.26]
std::size_t CreditMonitor::place_of_shared(const Packet& packet, TlpKind kind) const {
  constexpr auto kPosted = static_cast<std::size_t>(FcClass::kPosted);
  const bool is_other = shared_ == SharedCredits::kMerged && kind.is(FcClass::kCompletion);
  const std::size_t shared = kFirstShared + (is_other ? kPosted : kind.fc());
  return packet.uses_dedicated_credits || sums_[shared].header_limit == 0 ? kind.fc() : shared;
}

void CreditMonitor::report(const Packet& packet, Time now) const {
  const std::size_t place = place_of(packet, kind_of(packet.tlp));
  const Sums& sums = sums_[place];
  const auto text = [](std::uint64_t limit) {
    return limit == kInfinite ? "infinite" : std::to_string(limit);
  };
  reporter_.report(
      told_[place].is_initialised ? kOverrun : kNotInitialised, now, packet,
      fmt::format("#{} UpdateFC: with this one {} of {} headers and {} of {} data units used",
                  told_[place].uid, sums.headers, text(sums.header_limit), sums.data,
                  text(sums.data_limit)));
}

}  // namespace flitwise
