// SPDX-License-Identifier: Apache-2.0
/// Credits of CXL.cache and CXL.mem at one link end: those it may spend, and those it gives back.
/// Three classes for each of the two protocols. [CXL-1.6] [CXL-3.1]
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "cxl/channels.h"
#include "cxl/flit_frame.h"
#include "flitwise/config.h"
#include "flitwise/flit.h"

namespace flitwise {

/// By CxlProtocol and CxlCredit.
using CxlCreditCounts = std::array<std::array<std::uint32_t, kCxlCredits>, 2>;

/// What both ends advertise.
inline CxlCreditCounts advertised_credits(const CxlLinkConfig& cxl) {
  const std::array<std::uint32_t, kCxlCredits> each = {cxl.req_credits, cxl.rsp_credits,
                                                       cxl.data_credits};
  return {each, each};
}

/// The counts of a channel's protocol.
template <class Counts>
auto& counts_of(Counts& counts, const CxlChannelInfo& info) {
  return counts[static_cast<std::size_t>(info.protocol)];
}

/// Credits that the other end has given: none at first. [CXL-3.2]
class CxlCreditGate {
 public:
  const CxlCreditCounts& left() const { return left_; }
  /// Messages of a channel that `left` is enough for.
  static std::uint32_t room(const CxlCreditCounts& left, CxlChannel channel) {
    const CxlChannelInfo& info = info_of(channel);
    std::uint32_t most = UINT32_MAX;
    for (std::size_t c = 0; c < kCxlCredits; ++c) {
      if (info.credits[c] > 0) {
        most = std::min(most, counts_of(left, info)[c] / info.credits[c]);
      }
    }
    return most;
  }
  /// REQUIRES: room(left, channel) >= messages.
  static void spend(CxlCreditCounts& left, CxlChannel channel, std::uint32_t messages) {
    const CxlChannelInfo& info = info_of(channel);
    for (std::size_t c = 0; c < kCxlCredits; ++c) {
      counts_of(left, info)[c] -= info.credits[c] * messages;
    }
  }
  void spend(CxlChannel channel) { spend(left_, channel, 1); }
  void give(std::size_t credit, CxlFlitHeader::Credits told) {
    const CxlFlitHeader::Credits credits = hook_ ? hook_(told) : told;
    left_[credits.is_mem ? 1 : 0][credit] += credits.count;
  }
  void reset() { left_ = {}; }
  /// From now on it changes what is believed of credits; an empty one does not.
  using Hook = std::function<CxlFlitHeader::Credits(CxlFlitHeader::Credits)>;
  void set_hook(Hook hook) { hook_ = std::move(hook); }

 private:
  CxlCreditCounts left_{};
  Hook hook_;
};

/// Receive buffers: held by messages, free and told of, or free and not yet told of. [CXL-3.2]
class CxlCreditReturns {
 public:
  explicit CxlCreditReturns(const CxlCreditCounts& advertised)
      : advertised_(advertised), untold_(advertised) {}

  /// A message has come in; false: there was no credit for it.
  bool receive(CxlChannel channel) {
    const CxlChannelInfo& info = info_of(channel);
    const auto protocol = static_cast<std::size_t>(info.protocol);
    bool has_room = true;
    for (std::size_t c = 0; c < kCxlCredits; ++c) {
      held_[protocol][c] += info.credits[c];
      has_room = has_room && held_[protocol][c] + untold_[protocol][c] <= advertised_[protocol][c];
    }
    return has_room;
  }
  /// Its buffers are free again.
  void free(CxlChannel channel) {
    const CxlChannelInfo& info = info_of(channel);
    const auto protocol = static_cast<std::size_t>(info.protocol);
    for (std::size_t c = 0; c < kCxlCredits; ++c) {
      held_[protocol][c] -= info.credits[c];
      untold_[protocol][c] += info.credits[c];
    }
  }
  bool has_untold() const { return has_untold(0) || has_untold(1); }
  /// So much is untold that it does not wait for a flit that happens to go. model [CXL-3.4]
  bool is_urgent() const {
    return any_class(
        [this](std::size_t p, std::size_t c) { return untold_[p][c] * 2 > advertised_[p][c]; });
  }
  /// What the next flit header gives back: of each class a power of two up to 64, of one protocol.
  /// Where both have some, they take turns. [CXL-2.10]
  std::array<CxlFlitHeader::Credits, 3> take() {
    std::array<CxlFlitHeader::Credits, 3> all{};
    for (std::size_t c = 0; c < kCxlCredits; ++c) {
      const std::size_t p = untold_[1 - last_of_[c]][c] > 0 ? 1 - last_of_[c] : last_of_[c];
      last_of_[c] = p;
      const std::uint32_t count = cxl_credits_of_code(cxl_credit_code(untold_[p][c]));
      untold_[p][c] -= count;
      all[c] = {p == 1, static_cast<std::uint8_t>(count)};
    }
    return all;
  }
  /// What the next 256-byte flit gives back: of each class as many as its field holds, all of one
  /// protocol. Where both have some, they take turns. [CXL-4.5] [CXL-6.3]
  std::array<CxlFlitHeader::Credits, 3> take_counts() {
    const std::size_t p = has_untold(1 - last_told_) ? 1 - last_told_ : last_told_;
    last_told_ = p;
    std::array<CxlFlitHeader::Credits, 3> all{};
    for (std::size_t c = 0; c < kCxlCredits; ++c) {
      const std::uint32_t count = std::min<std::uint32_t>(untold_[p][c], kMostCxlCredits256);
      untold_[p][c] -= count;
      all[c] = {p == 1, static_cast<std::uint8_t>(count)};
    }
    return all;
  }
  /// What was taken has not arrived.
  void take_back(const std::array<CxlFlitHeader::Credits, 3>& credits) {
    for (std::size_t c = 0; c < kCxlCredits; ++c) {
      untold_[credits[c].is_mem ? 1 : 0][c] += credits[c].count;
    }
  }
  bool is_conserved() const {
    return !any_class([this](std::size_t p, std::size_t c) {
      return held_[p][c] + untold_[p][c] > advertised_[p][c];
    });
  }
  void reset() {
    untold_ = advertised_;
    held_ = {};
    last_told_ = 0;
    last_of_ = {};
  }

 private:
  bool has_untold(std::size_t protocol) const {
    const auto& counts = untold_[protocol];
    return std::any_of(counts.begin(), counts.end(), [](std::uint32_t n) { return n > 0; });
  }
  template <class Test>
  static bool any_class(Test test) {
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t c = 0; c < kCxlCredits; ++c) {
        if (test(p, c)) {
          return true;
        }
      }
    }
    return false;
  }

  CxlCreditCounts advertised_, untold_, held_{};
  std::size_t last_told_ = 0;  // protocol whose credits the last 256-byte flit gave back
  std::array<std::size_t, kCxlCredits> last_of_{};  // the same of 68-byte flits, for each class
};

}  // namespace flitwise
