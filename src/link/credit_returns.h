// SPDX-License-Identifier: Apache-2.0
/// Receive half of flow control: the pools of one virtual channel, and when which UpdateFC is due.
#pragma once

#include <array>

#include "flitwise/config.h"
#include "flitwise/dllp.h"
#include "flitwise/packet.h"
#include "link/flow_control.h"

namespace flitwise {

/// The longest time between two UpdateFCs of a class that is not infinite. [LNK-8.12]
inline constexpr Time kUpdateFcPeriod = Time::from_us(30);

class CreditReturns {
 public:
  /// `guideline`: UpdateFC latency while credits are freed steadily. [LNK-8.15]
  CreditReturns(const LinkConfig& link, Time guideline);

  /// A TLP was accepted; false: it came without credits.
  bool receive(const Tlp& tlp);
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
  bool is_conserved() const;
  /// True while some class has news for the other end that only a timer will bring.
  bool has_unadvertised() const;

 private:
  struct Pools {
    CreditPool header;
    CreditPool data;
    std::uint32_t header_low = 0;  // at or below: the sender may be blocked
    std::uint32_t data_low = 0;
  };
  std::array<Pools, kFcClasses> pools_;
  std::array<Time, kFcClasses> due_;
  Time guideline_;
};

}  // namespace flitwise
