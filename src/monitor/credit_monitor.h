// SPDX-License-Identifier: Apache-2.0
/// Watches that one direction of a link never sends what its receiver has not given credits for:
/// sums that never wrap, against the limits in the DLLPs that have come to the sender.
/// [LNK-8.1] to [LNK-8.5]
#pragma once

#include <array>
#include <cstdint>

#include "monitor/tlp_kind.h"
#include "monitor/violation_log.h"

namespace flitwise {

class CreditMonitor {
 public:
  explicit CreditMonitor(Reporter reporter) : reporter_(reporter) {}

  /// A flow-control DLLP has come to the sender, undamaged.
  void told(const Packet& dllp, Time now);
  /// A TLP goes on the wire for the first time; false: its credits do not cover it.
  bool sent(const Tlp& tlp, TlpKind kind) {
    Sums& sums = sums_[kind.fc()];
    sums.headers += 1;
    sums.data += kind.has_data() ? (tlp.length_dw + 3U) / 4U : 0U;  // [LNK-8.1]
    return sums.headers <= sums.header_limit && sums.data <= sums.data_limit;
  }
  /// Reports a TLP that was not covered.
  void report(const Packet& packet, Time now) const;

 private:
  static constexpr std::uint64_t kInfinite = ~std::uint64_t{0};
  /// Of one class, since the link came up.
  struct Sums {
    std::uint64_t headers = 0, header_limit = 0;
    std::uint64_t data = 0, data_limit = 0;
  };
  /// How the DLLPs speak of one counter.
  struct Scale {
    unsigned shift = 0;
    std::uint64_t range = 0;
  };
  struct Told {
    Scale header, data;
    bool is_initialised = false;
    std::uint64_t uid = 0;  // of the last DLLP
  };
  static void initialise(Scale& scale, std::uint64_t& limit, unsigned field, unsigned code,
                         unsigned plain_bits);
  static bool update(const Scale& scale, std::uint64_t& limit, unsigned field);

  std::array<Sums, kFcClasses> sums_;
  std::array<Told, kFcClasses> told_;
  Reporter reporter_;
};

}  // namespace flitwise
