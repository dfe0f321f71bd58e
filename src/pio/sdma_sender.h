// SPDX-License-Identifier: Apache-2.0
/// What software counts where it sends by an SDMA engine: the descriptors that it has written,
/// those that are done, and the places of packets in its memory. [PIO-6.10]
#pragma once

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <cstdint>

#include "pio/sdma_descriptor.h"
#include "pio/sdma_ring.h"

namespace flitwise {

class SdmaSender {
 public:
  /// entries: of the ring. places: packets that its memory holds at a time.
  SdmaSender(unsigned entries, unsigned places)
      : entries_(entries), places_(places), ends_(std::min(entries, places)) {}

  /// One entry stays empty: tail equal to head means that nothing waits.
  bool may_write(unsigned descriptors) const {
    return tail_ - done_ + descriptors < entries_ && packets_ - packets_done_ < places_;
  }
  std::uint64_t tail() const { return tail_ % entries_; }  ///< index of the next descriptor
  /// Where the next packet has its bytes.
  std::uint64_t place() const { return packets_ % places_; }
  std::uint64_t packets() const { return packets_; }
  /// Round of the ring of the descriptor that is `ahead` behind the next one.
  std::uint8_t generation(unsigned ahead) const {
    return static_cast<std::uint8_t>((tail_ + ahead) / entries_ % kSdmaGenerations);
  }
  std::uint64_t index(unsigned ahead) const { return (tail_ + ahead) % entries_; }
  /// Should the next packet ask for the head? A few times in a round of the ring or of the places,
  /// so that software never waits for a head that nobody asked for.
  bool asks_for_head() const { return packets_ + 1 - asked_ >= interval(); }

  /// A packet of so many descriptors is written. REQUIRES: may_write().
  void write(unsigned descriptors) {
    asked_ = asks_for_head() ? packets_ + 1 : asked_;
    tail_ += descriptors;
    ends_.push_back(tail_);
    ++packets_;
  }
  /// The head as it stands in memory, an index of the ring.
  void take(std::uint64_t head) {
    done_ += (head + entries_ - done_ % entries_) % entries_;
    for (; !ends_.empty() && ends_.front() <= done_; ends_.pop_front()) {
      ++packets_done_;
    }
  }
  /// The ring begins anew: what was written and is not done never will be. Packets are counted on.
  void restart() {
    tail_ = done_ = 0;
    ends_.clear();
    packets_done_ = asked_ = packets_;
  }

 private:
  static constexpr unsigned kHeadsARound = 4;
  static constexpr unsigned kMostFragments = 2;  // of a packet of this software
  unsigned interval() const {
    return std::max(1U, std::min(entries_ / kMostFragments, places_) / kHeadsARound);
  }

  unsigned entries_, places_;
  boost::circular_buffer<std::uint64_t> ends_;  // descriptors, of each packet that is not done
  std::uint64_t tail_ = 0, done_ = 0;           // descriptors
  std::uint64_t packets_ = 0, packets_done_ = 0, asked_ = 0;
};

}  // namespace flitwise
