// SPDX-License-Identifier: Apache-2.0
/// Watches that one direction of a link never sends what its receiver has not given credits for:
/// sums that never wrap, against the limits in the DLLPs that have come to the sender.
/// [LNK-8.1] to [LNK-8.5] [LNK-11.23] to [LNK-11.27]
#pragma once

#include <array>
#include <cstdint>

#include "monitor/tlp_kind.h"
#include "monitor/violation_log.h"

namespace flitwise {

/// Shared credits of a link, beside dedicated ones: none, each class its own, or posted requests
/// and completions the same.
enum class SharedCredits : std::uint8_t { kNone, kApart, kMerged };

class CreditMonitor {
 public:
  explicit CreditMonitor(Reporter reporter, SharedCredits shared = SharedCredits::kNone)
      : reporter_(reporter), shared_(shared) {}

  /// A flow-control DLLP has come to the sender, undamaged.
  void told(const Packet& dllp, Time now);
  /// A TLP goes on the wire for the first time; false: its credits do not cover it.
  bool sent(const Tlp& tlp, TlpKind kind) { return book(tlp, kind, kind.fc()); }
  /// The same of a TLP in a flit, which may be on shared credits.
  bool sent_in_flit(const Packet& packet, TlpKind kind) {
    return book(packet.tlp, kind, place_of(packet, kind));
  }
  /// Reports a TLP that was not covered.
  void report(const Packet& packet, Time now) const;

 private:
  static constexpr std::uint64_t kInfinite = ~std::uint64_t{0};
  static constexpr std::size_t kFirstShared = kFcClasses;  ///< dedicated ones stand before

  bool book(const Tlp& tlp, TlpKind kind, std::size_t place) {
    Sums& sums = sums_[place];
    sums.headers += 1;
    sums.data += kind.has_data() ? (tlp.length_dw + 3U) / 4U : 0U;  // [LNK-8.1]
    return sums.headers <= sums.header_limit && sums.data <= sums.data_limit;
  }
  std::size_t place_of(const Packet& packet, TlpKind kind) const {
    return shared_ == SharedCredits::kNone ? kind.fc() : place_of_shared(packet, kind);
  }
  std::size_t place_of_shared(const Packet& packet, TlpKind kind) const;
  /// Of one class and kind of credits, since the link came up.
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
                         unsigned plain_bits, bool is_shared);
  static bool update(const Scale& scale, std::uint64_t& limit, unsigned field);
  static void extend(const Scale& scale, std::uint64_t& limit, unsigned low_bits, unsigned bits);
  void told_of_all(const Packet& packet);

  std::array<Sums, 2 * kFcClasses> sums_;
  std::array<Told, 2 * kFcClasses> told_;
  Reporter reporter_;
  SharedCredits shared_;
};

}  // namespace flitwise
