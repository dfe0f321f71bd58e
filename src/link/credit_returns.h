// SPDX-License-Identifier: Apache-2.0
/// Receive half of flow control: the pools of one virtual channel, dedicated and shared, and when
/// which UpdateFC is due. [LNK-8.12] [LNK-11.23] to [LNK-11.27]
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "link/flow_control.h"
#include "link/shared_credits.h"

namespace flitwise {

/// The longest time between two UpdateFCs of a class that is not infinite. [LNK-8.12]
inline constexpr Time kUpdateFcPeriod = Time::from_us(30);

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
  void free(const Tlp& tlp, Time now);

  /// The flow-control DLLP of one class with the present value.
  Dllp dllp(DllpType type, FcClass fc_class) const;
  Time deadline() const {
    return due_[0] < due_[1] ? (due_[0] < due_[2] ? due_[0] : due_[2])
                             : (due_[1] < due_[2] ? due_[1] : due_[2]);
  }
  /// The UpdateFC that is due now. REQUIRES: deadline() <= now.
  Dllp take(Time now);
  /// Starts the periodic updates. [LNK-8.12]
  void activate(Time now);
  /// The link has gone down: all buffers are free, and nothing is due. [LNK-10.7]
  void reset();
  bool is_conserved() const {
    return std::all_of(pools_.begin(), pools_.end(), [](const Pools& pools) {
      return pools.header.is_conserved() && pools.data.is_conserved();
    });
  }
  /// True while some class has news for the other end that only a timer will bring.
  bool has_unadvertised() const {
    return std::any_of(pools_.begin(), pools_.end(),
                       [](const Pools& pools) { return pools.has_news(); });
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

  CreditReturns(const LinkConfig& link, Time guideline, bool is_shared);
  std::size_t class_of(const Tlp& tlp) const {
    return static_cast<std::size_t>(shared_class(fc_class(tlp.type), is_merged_));
  }
  std::size_t first_due() const;

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
  SharedReturns(const LinkConfig& link, Time guideline);

  /// A TLP was accepted: has it taken shared credits? One that has not is remembered until it goes,
  /// since its mark is that of the next link by then.
  bool claim(const Packet& packet);
  /// The receive buffer of a TLP is free again: was its room shared?
  bool release(const Packet& packet);

  /// An update of one class or of all. REQUIRES: deadline() <= now.
  Dllp take(Time now);
  void activate(Time now);
  void reset() {
    CreditReturns::reset();
    periods_.fill(Time::never());
    on_dedicated_.clear();
  }

 private:
  bool has_pool(const Packet& packet) const {
    return pools_[class_of(packet.tlp)].header.size() > 0;
  }
  bool fits_one_for_all() const;
  Dllp take_one_for_all();

  std::array<Time, kFcClasses> periods_;     // next UpdateFC, whatever else has told of the class
  std::vector<std::uint64_t> on_dedicated_;  // uids of TLPs in the receive buffer
};

}  // namespace flitwise
