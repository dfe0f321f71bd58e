// SPDX-License-Identifier: Apache-2.0
/// Channels between agents: messages of one channel keep their order, channels overtake each other
/// at random and stand still for a while at random. [COH-1.4] [COH-1.5]
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "coherence/cxl_line.h"

namespace flitwise::test {

class RandomNetwork {
 public:
  RandomNetwork(std::uint8_t ports, std::mt19937_64& random)
      : random_(random), fifos_(std::size_t{ports} * kCxlChannels) {}

  std::uint64_t sent() const { return sent_; }
  std::uint64_t delivered() const { return delivered_; }
  bool empty() const { return sent_ == delivered_; }
  /// The fabric keeps GO before a later snoop of the same cache; false: a broken one. [COH-1.5]
  bool keeps_go_before_snoop = true;

  void send(const CxlOut& message) {
    fifo(message.port, message.message.channel).items.push_back({++sent_, message});
  }
  /// One message that may come now, if the channel that was drawn has one.
  std::optional<CxlOut> deliver(std::uint64_t now) {
    const std::size_t first = random_() % fifos_.size();
    for (std::size_t i = 0; i < fifos_.size(); ++i) {
      const std::size_t at = (first + i) % fifos_.size();
      Fifo& drawn = fifos_[at];
      if (drawn.empty() || drawn.stands_until > now || is_behind_go(at)) {
        continue;
      }
      const CxlOut message = drawn.pop();
      if (random_() % 16 == 0) {
        drawn.stands_until = now + random_() % 256;
      }
      ++delivered_;
      return message;
    }
    return std::nullopt;
  }

 private:
  struct Item {
    std::uint64_t number;
    CxlOut message;
  };
  struct Fifo {
    std::vector<Item> items;
    std::size_t head = 0;
    std::uint64_t stands_until = 0;
    bool empty() const { return head == items.size(); }
    CxlOut pop() {
      const CxlOut message = items[head++].message;
      if (empty()) {
        items.clear();
        head = 0;
      }
      return message;
    }
  };
  Fifo& fifo(std::size_t port, CxlChannel channel) {
    return fifos_[port * kCxlChannels + static_cast<std::size_t>(channel)];
  }
  bool is_behind_go(std::size_t at) {
    if (!keeps_go_before_snoop ||
        at % kCxlChannels != static_cast<std::size_t>(CxlChannel::kH2dReq)) {
      return false;
    }
    const Fifo& responses = fifo(at / kCxlChannels, CxlChannel::kH2dRsp);
    return !responses.empty() &&
           responses.items[responses.head].number < fifos_[at].items[fifos_[at].head].number;
  }

  std::mt19937_64& random_;
  std::vector<Fifo> fifos_;
  std::uint64_t sent_ = 0, delivered_ = 0;
};

}  // namespace flitwise::test
