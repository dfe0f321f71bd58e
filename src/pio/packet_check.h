// SPDX-License-Identifier: Apache-2.0
/// Packets with stamps that pass a place: whether each source sends those of a VL in their order,
/// whole, and none twice. [PIO-6.4]
#pragma once

#include <array>
#include <cstdint>

#include "pio/launch.h"
#include "pio/packet_stamp.h"
#include "pio/send_window.h"

namespace flitwise {

class PacketCheck {
 public:
  /// Of a packet that passes in parts.
  struct Passed {
    PacketStamp stamp{0};
    bool is_whole = true;  // so far
  };
  /// Its QWs from `first` to before `end` pass, in order; as many as it has. The PBC is QW 0 and is
  /// not looked at. Of a packet of `bytes` bytes without PBC and ICRC, of a source 0..175.
  /// qw_at(place): a QW; of the last one the first DW counts where the packet ends with it.
  template <class QwAt>
  static void read(Passed& passed, unsigned source, unsigned bytes, std::uint64_t first,
                   std::uint64_t end, QwAt qw_at) {
    const std::uint64_t qws = bytes / kQwBytes;
    std::uint64_t place = first == 0 ? 1 : first;
    if (qws == 0) {
      return;
    }
    if (place == 1 && end > 1) {
      passed.stamp = PacketStamp(qw_at(1));
      passed.is_whole = passed.stamp.source() == source;
      ++place;
    }
    for (; place < end && place <= qws; ++place) {
      passed.is_whole = passed.is_whole && qw_at(place) == passed.stamp.qw(place);
    }
    if (place < end && place == qws + 1 && bytes % kQwBytes != 0) {  // one DW more
      passed.is_whole = passed.is_whole && static_cast<std::uint32_t>(qw_at(place)) ==
                                               static_cast<std::uint32_t>(passed.stamp.qw(place));
    }
  }
  /// All of it has passed by the queue of its VL. One without a QW has no stamp.
  void note(const Passed& passed, unsigned source, unsigned queue, unsigned bytes) {
    if (bytes < kQwBytes) {
      return;
    }
    corrupted_ += passed.is_whole ? 0 : 1;
    if (passed.is_whole) {
      std::uint64_t& next = next_number_[source * kVlQueues + queue];
      disordered_ += passed.stamp.number() < next ? 1 : 0;
      next = passed.stamp.number() + 1;
    }
  }
  /// Both at once.
  template <class QwAt>
  void note(unsigned source, unsigned queue, unsigned bytes, QwAt qw_at) {
    Passed passed;
    read(passed, source, bytes, 0, bytes / kQwBytes + 2, qw_at);
    note(passed, source, queue, bytes);
  }
  std::uint64_t disordered() const { return disordered_; }  ///< packets
  std::uint64_t corrupted() const { return corrupted_; }    ///< packets

 private:
  std::array<std::uint64_t, kPioSources * kVlQueues> next_number_{};  // at least
  std::uint64_t disordered_ = 0, corrupted_ = 0;
};

}  // namespace flitwise
