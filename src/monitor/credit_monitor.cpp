// SPDX-License-Identifier: Apache-2.0
// Credits told and used.
#include "monitor/credit_monitor.h"

#include <fmt/format.h>

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

// A value of 0 gives without end. [LNK-8.5]
void CreditMonitor::initialise(Scale& scale, std::uint64_t& limit, unsigned field, unsigned code,
                               unsigned plain_bits) {
  scale.shift = bits_of_scale(code);
  scale.range = std::uint64_t{1} << (plain_bits + scale.shift);
  limit = field == 0 ? kInfinite : std::uint64_t{field} << scale.shift;
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

void CreditMonitor::told(const Packet& packet, Time now) {
  const Dllp& dllp = packet.dllp;
  Sums& sums = sums_[static_cast<std::size_t>(dllp.fc_class)];
  Told& told = told_[static_cast<std::size_t>(dllp.fc_class)];
  told.uid = packet.uid;
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
    initialise(told.header, sums.header_limit, dllp.hdr_fc, dllp.hdr_scale, kHeaderBits);
    initialise(told.data, sums.data_limit, dllp.data_fc, dllp.data_scale, kDataBits);
  }
}

void CreditMonitor::report(const Packet& packet, Time now) const {
  const std::size_t fc = kind_of(packet.tlp).fc();
  const Sums& sums = sums_[fc];
  const auto text = [](std::uint64_t limit) {
    return limit == kInfinite ? "infinite" : std::to_string(limit);
  };
  reporter_.report(
      told_[fc].is_initialised ? kOverrun : kNotInitialised, now, packet,
      fmt::format("#{} UpdateFC: with this one {} of {} headers and {} of {} data units used",
                  told_[fc].uid, sums.headers, text(sums.header_limit), sums.data,
                  text(sums.data_limit)));
}

}  // namespace flitwise
