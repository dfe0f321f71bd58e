// SPDX-License-Identifier: Apache-2.0
/// What a bad cable does to the frames of one direction: it loses, damages, repeats and delays some
/// of them, as chance has it. Each of the four is drawn for itself.
#pragma once

#include <cstdint>
#include <utility>

#include "common/random.h"
#include "flitwise/config.h"
#include "network/frame.h"

namespace flitwise {

class FrameFaults {
 public:
  struct Counts {
    std::uint64_t lost = 0, damaged = 0, repeated = 0, delayed = 0;  ///< frames
  };

  FrameFaults(const CableConfig& rates, Random random, FramePool& pool)
      : rates_(rates), random_(random), pool_(pool) {}

  /// Calls arrive(frame) for each frame that comes of it: none, it, or it and a copy of it that is
  /// late. One bit of a damaged frame is another; the FCS of Ethernet is not looked at.
  template <class Arrive>
  void pass(Frame& frame, Arrive arrive) {
    if (random_.chance(rates_.loss)) {
      ++counts_.lost;
      return;
    }
    if (random_.chance(rates_.corruption) && !frame.bytes.empty()) {
      const std::uint64_t bit = random_.below(frame.bytes.size() * 8);
      frame.bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
      ++counts_.damaged;
    }
    const bool is_repeated = random_.chance(rates_.duplication);
    const FrameRef copy = is_repeated ? copy_of(frame) : nullptr;
    if (random_.chance(rates_.reordering)) {
      frame.last += rates_.delay;
      ++counts_.delayed;
    }
    arrive(frame);
    if (is_repeated) {
      copy->last += rates_.delay;
      ++counts_.repeated;
      arrive(*copy);
    }
  }
  const Counts& counts() const { return counts_; }

 private:
  FrameRef copy_of(const Frame& frame) {
    FrameRef copy = pool_.make(frame.bytes.size());
    copy->bytes = frame.bytes;
    copy->wire_bytes = frame.wire_bytes;
    copy->source = frame.source;
    copy->lane = frame.lane;
    copy->last = frame.last;
    copy->number = frame.number;
    return copy;
  }

  const CableConfig rates_;
  Random random_;
  FramePool& pool_;
  Counts counts_;
};

}  // namespace flitwise
