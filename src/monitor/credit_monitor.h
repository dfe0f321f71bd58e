// SPDX-License-Identifier: Apache-2.0
/// Watches that one direction of a link never sends what its receiver has not given credits for:
/// sums that never wrap, against the limits in the DLLPs that have come to the sender.
/// [LNK-8.1] to [LNK-8.5] [LNK-11.23] to [LNK-11.27]
#pragma once

#include <array>
#include <cstdint>

#include "monitor/packet_ring.h"
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
  bool sent(const Tlp& tlp, TlpKind kind) { return book(tlp, kind, kind.fc); }
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
    Credits& one = credits_[place];
    one.headers.used += 1;
    one.data.used += kind.has_data ? (tlp.length_dw + 3U) / 4U : 0U;  // [LNK-8.1]
    return one.headers.used <= one.headers.limit && one.data.used <= one.data.limit;
  }
  std::size_t place_of(const Packet& packet, TlpKind kind) const {
    return shared_ == SharedCredits::kNone ? kind.fc : place_of_shared(packet, kind);
  }
  std::size_t place_of_shared(const Packet& packet, TlpKind kind) const;
  /// Headers or data units of one class and kind of credits, since the link came up.
  struct Counter {
    std::uint64_t used = 0, limit = 0;
    std::uint64_t range = 0;  // of the counter that DLLPs speak of
    unsigned shift = 0;       // what one of their steps stands for

    void initialise(unsigned field, unsigned scale_code, unsigned plain_bits, bool is_shared);
    bool update(unsigned field);
    void extend(unsigned low_bits, unsigned bits);
  };
  struct Credits {
    Counter headers, data;
    std::uint64_t uid = 0;  // of the last DLLP
    bool is_initialised = false;
  };
  void told_of_all(const Packet& packet);

  std::array<Credits, 2 * kFcClasses> credits_;
  Reporter reporter_;
  SharedCredits shared_;
};

}  // namespace flitwise
