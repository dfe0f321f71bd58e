// SPDX-License-Identifier: Apache-2.0
/// Receive half of flow control: the pools of one virtual channel, dedicated and shared, and when
/// which UpdateFC is due. [LNK-8.12] [LNK-11.23] to [LNK-11.27]
#pragma once

#include <array>
#include <vector>

#include "common/ranges.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "link/flow_control.h"
#include "link/shared_credits.h"

namespace flitwise {

/// The longest time between two UpdateFCs of a class that is not infinite. [LNK-8.12]
inline constexpr Time kUpdateFcPeriod = Time::from_us(30);

/// What is configured for one class: of link.credits or link.shared_credits.
template <class Configured>
Credits credits_of(const Configured& link, std::size_t fc) {
  const std::array<Credits, kFcClasses> all = {{{link.posted_headers, link.posted_data},
                                                {link.nonposted_headers, link.nonposted_data},
                                                {link.completion_headers, link.completion_data}}};
  return all[fc];
}

/// Dedicated credits.
class CreditReturns {
 public:
  /// `guideline`: UpdateFC latency while credits are freed steadily. [LNK-8.15]
  CreditReturns(const LinkConfig& link, Time guideline) : CreditReturns(link, guideline, false) {}

  /// A TLP was accepted; false: it came without credits.
  bool receive(const Tlp& tlp) {
    Pools& pools = pools_[class_of(tlp)];
    const bool header = pools.header.receive(1);
    return pools.data.receive(data_credits(tlp)) && header;
  }
  /// The receive buffer of a TLP is free again.
  void free(const Tlp& tlp, Time now) {
    const std::size_t fc = class_of(tlp);
    Pools& pools = pools_[fc];
    // Does the sender think that it has too little for its next TLP? Then it hears of this at once.
    // [LNK-8.13]
    const bool starved = (pools.header.size() > 0 && pools.header.believed() == 0) ||
                         (pools.data.size() > 0 && pools.data.believed() <= data_low_);
    pools.header.free(1);
    pools.data.free(data_credits(tlp));
    if (pools.has_news()) {
      due_[fc] = std::min(due_[fc], starved ? now : now + guideline_);
    }
  }

  /// The flow-control DLLP of one class with the present value.
  Dllp dllp(DllpType type, FcClass fc) const {
    const Pools& pools = pools_[static_cast<std::size_t>(fc)];
    Dllp dllp;
    dllp.type = type;
    dllp.fc_class = fc;
    dllp.is_shared = is_shared_;
    dllp.hdr_scale = pools.header.scale().code;
    dllp.data_scale = pools.data.scale().code;
    dllp.hdr_fc = static_cast<std::uint8_t>(pools.header.field());
    dllp.data_fc = static_cast<std::uint16_t>(pools.data.field());
    return dllp;
  }
  Time deadline() const {
    return due_[0] < due_[1] ? (due_[0] < due_[2] ? due_[0] : due_[2])
                             : (due_[1] < due_[2] ? due_[1] : due_[2]);
  }
  /// The UpdateFC that is due now. REQUIRES: deadline() <= now.
  Dllp take(Time now) {
    const std::size_t fc = first_due();
    const Dllp update = dllp(DllpType::kUpdateFc, static_cast<FcClass>(fc));
    pools_[fc].told();
    due_[fc] = now + kUpdateFcPeriod;
    return update;
  }
  /// Starts the periodic updates. [LNK-8.12]
  void activate(Time now) { activate(due_, now); }
  /// The link has gone down: all buffers are free, and nothing is due. [LNK-10.7]
  void reset() {
    for (Pools& pools : pools_) {
      pools.header.reset();
      pools.data.reset();
    }
    due_.fill(Time::never());
  }
  bool is_conserved() const {
    return all_of(pools_, [](const Pools& pools) {
      return pools.header.is_conserved() && pools.data.is_conserved();
    });
  }
  /// True while some class has news for the other end that only a timer will bring.
  bool has_unadvertised() const {
    return any_of(pools_, [](const Pools& pools) { return pools.has_news(); });
  }

 protected:
  struct Pools {
    CreditPool header, data;
    bool is_used() const { return header.size() > 0 || data.size() > 0; }
    bool has_news() const { return header.unadvertised() > 0 || data.unadvertised() > 0; }
    void told() {
      header.advertised();
      data.advertised();
    }
  };

  CreditReturns(const LinkConfig& link, Time guideline, bool is_shared)
      : guideline_(guideline),
        // Less than the largest TLP needs.
        data_low_(static_cast<std::uint32_t>(link.mps / 16) - 1),
        is_shared_(is_shared),
        is_merged_(is_shared && link.shared_credits.merged) {
    due_.fill(Time::never());
    const bool scaled = link.credits.scaled;
    const Zero zero = is_shared ? Zero::kNone : Zero::kInfinite;
    for (std::size_t fc = 0; fc < pools_.size(); ++fc) {
      const Credits size =
          is_shared ? credits_of(link.shared_credits, fc) : credits_of(link.credits, fc);
      pools_[fc].header = CreditPool(size.header, CreditScale::header(scaled, size.header), zero);
      pools_[fc].data = CreditPool(size.data, CreditScale::data(scaled, size.data), zero);
    }
  }
  void activate(std::array<Time, kFcClasses>& times, Time now) const {
    for (std::size_t fc = 0; fc < pools_.size(); ++fc) {
      times[fc] = pools_[fc].is_used() ? std::min(times[fc], now + kUpdateFcPeriod) : times[fc];
    }
  }
  std::size_t class_of(const Tlp& tlp) const {
    return static_cast<std::size_t>(shared_class(fc_class(tlp.type), is_merged_));
  }
  std::size_t first_due() const {
    return static_cast<std::size_t>(std::min_element(due_.begin(), due_.end()) - due_.begin());
  }

  std::array<Pools, kFcClasses> pools_;
  std::array<Time, kFcClasses> due_;

 private:
  Time guideline_;
  std::uint32_t data_low_;  // at or below, the sender may be blocked
  bool is_shared_, is_merged_;
};

/// Shared credits, and which TLPs of a class with two pools hold room of which.
class SharedReturns : public CreditReturns {
 public:
  SharedReturns(const LinkConfig& link, Time guideline) : CreditReturns(link, guideline, true) {
    periods_.fill(Time::never());
  }

  /// A TLP was accepted: has it taken shared credits? One that has not is remembered until it goes,
  /// since its mark is that of the next link by then.
  bool claim(const Packet& packet) {
    if (!has_pool(packet)) {
      return false;
    }
    if (packet.uses_dedicated_credits) {
      on_dedicated_.push_back(packet.uid);
    }
    return !packet.uses_dedicated_credits;
  }
  /// The receive buffer of a TLP is free again: was its room shared?
  bool release(const Packet& packet) {
    if (!has_pool(packet)) {
      return false;
    }
    const auto found = std::find(on_dedicated_.begin(), on_dedicated_.end(), packet.uid);
    if (found == on_dedicated_.end()) {
      return true;
    }
    on_dedicated_.erase(found);
    return false;
  }

  /// An update of one class or of all. REQUIRES: deadline() <= now.
  // What an Optimized_Update_FC says counts from what was told before, so that one that is lost may
  // leave the other end behind until the next UpdateFC: these come at their times all the same.
  Dllp take(Time now) {
    Time& period = periods_[first_due()];
    if (period > now && fits_one_for_all()) {
      return take_one_for_all();
    }
    period = now + kUpdateFcPeriod;
    return CreditReturns::take(now);
  }
  void activate(Time now) {
    CreditReturns::activate(now);
    CreditReturns::activate(periods_, now);
  }
  void reset() {
    CreditReturns::reset();
    periods_.fill(Time::never());
    on_dedicated_.clear();
  }

 private:
  bool has_pool(const Packet& packet) const {
    return pools_[class_of(packet.tlp)].header.size() > 0;
  }
  // More than one class has news, and what they have fits. [LNK-11.27]
  bool fits_one_for_all() const {
    const auto fits = [](const Pools& pools) {
      return pools.header.untold_steps() < 1U << kOptimizedHeaderBits &&
             pools.data.untold_steps() < 1U << kOptimizedDataBits;
    };
    return std::count_if(pools_.begin(), pools_.end(),
                         [](const Pools& pools) { return pools.has_news(); }) > 1 &&
           all_of(pools_, fits);
  }
  Dllp take_one_for_all() {
    OptimizedUpdateFc update;
    for (std::size_t i = 0; i < pools_.size(); ++i) {
      update.classes[i] = {pools_[i].header.field(), pools_[i].data.field()};
      pools_[i].told();
    }
    due_ = periods_;
    Dllp dllp;
    dllp.type = DllpType::kOptimizedUpdateFc;
    dllp.raw = encode(update);
    return dllp;
  }

  std::array<Time, kFcClasses> periods_;     // next UpdateFC, whatever else has told of the class
  std::vector<std::uint64_t> on_dedicated_;  // uids of TLPs in the receive buffer
};

}  // namespace flitwise
