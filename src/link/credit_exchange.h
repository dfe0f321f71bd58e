// SPDX-License-Identifier: Apache-2.0
/// Flow control of one link end, both halves: how it is initialised, what it tells the other end of
/// its buffers, and what it takes from what the other end tells. The same in DLLPs of their own and
/// in those of flits.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "flitwise/dllp.h"
#include "flitwise/time.h"
#include "link/credit_returns.h"
#include "link/replay_timer.h"
#include "link/transaction_queues.h"

namespace flitwise {

/// How often the InitFC triple is repeated at the least. [LNK-8.9]
inline constexpr Time kInitFcPeriod = Time::from_us(34);
/// An InitFC2 that comes so long after the own ones, and the flight there and back, is a repeated
/// one. model: our choice.
inline constexpr Time kHalfInitFcPeriod = Time::from_us(17);

class FlowControlInit {
 public:
  /// has_shared: three more InitFCs behind each triple tell of shared credits. [LNK-11.24]
  /// round_trip: of what is sent, to the other end and back.
  explicit FlowControlInit(bool has_shared = false, Time round_trip = {})
      : values_(has_shared ? 2 * kFcClasses : kFcClasses), round_trip_(round_trip) {}

  void start(Time now) { due_ = now; }
  void reset() { *this = FlowControlInit(values_ > kFcClasses, round_trip_); }

  /// When the next InitFC is due; never once active and told.
  Time deadline() const { return due_; }
  struct Step {
    DllpType type;
    FcClass fc_class;
    bool is_shared;
  };
  /// The InitFC to send now: P, NP, Cpl in this order, then a pause. REQUIRES: deadline() <= now.
  /// [LNK-8.9, LNK-8.10]
  Step take(Time now) {
    const Step step{fi1_ ? DllpType::kInitFc2 : DllpType::kInitFc1,
                    static_cast<FcClass>(position_ % kFcClasses), position_ >= kFcClasses};
    triple_began_ = position_ == 0 ? now : triple_began_;
    position_ = (position_ + 1) % values_;
    if (position_ == 0) {
      sent_triples_of_phase2_ += fi1_ ? 1 : 0;
      due_ = is_active() ? Time::never() : triple_began_ + kInitFcPeriod;
    }
    return step;
  }

  /// The values of a class came in; true if they set its limits: the first ones do. [LNK-8.11]
  bool receive_values(FcClass fc_class, Time now, bool is_shared = false) {
    const std::size_t value = static_cast<std::size_t>(fc_class) + (is_shared ? kFcClasses : 0U);
    const bool is_first = !std::exchange(seen_[value], true);
    if (!fi1_ &&
        std::find(seen_.begin(), seen_.begin() + values_, false) == seen_.begin() + values_) {
      fi1_ = true;
      position_ = 0;
      due_ = now;
    }
    return is_first;
  }
  /// Any InitFC2, UpdateFC or TLP came in. [LNK-8.10]
  void receive_second_phase() {
    fi2_ = fi2_ || fi1_;
    if (is_active() && position_ == 0) {
      due_ = Time::never();
    }
  }

  /// An InitFC2 came in. Long after the own ones could be answered it means that the other end has
  /// lost all of these and still waits for a sign, for which they go once more. [LNK-8.10]
  void receive_init_fc2(Time now) {
    if (is_active() && position_ == 0 && now >= triple_began_ + round_trip_ + kHalfInitFcPeriod) {
      due_ = now;
    }
  }

  bool is_active() const { return fi1_ && fi2_ && sent_triples_of_phase2_ > 0; }

 private:
  unsigned values_;
  Time round_trip_;
  std::array<bool, 2 * kFcClasses> seen_{};
  bool fi1_ = false;
  bool fi2_ = false;
  unsigned position_ = 0;
  unsigned sent_triples_of_phase2_ = 0;
  Time triple_began_{};
  Time due_ = Time::never();
};

class CreditExchange {
 public:
  /// `guideline`: UpdateFC latency while credits are freed steadily [LNK-8.15]. `queues` outlive
  /// it.
  CreditExchange(const LinkConfig& link, Time guideline, TransactionQueues& queues)
      : queues_(queues),
        returns_(link, guideline),
        shared_(has_shared_credits(link) ? std::make_unique<SharedReturns>(link, guideline)
                                         : nullptr),
        init_(shared_ != nullptr, flight_both_ways(link)) {
    if (shared_) {
      queues_.share_credits(link.shared_credits.merged);
    }
  }

  void start(Time now) { init_.start(now); }
  /// The link has gone down. [LNK-10.7]
  void reset() {
    returns_.reset();
    if (shared_) {
      shared_->reset();
    }
    init_.reset();
  }

  Time deadline() const {
    const Time own = std::min(init_.deadline(), returns_.deadline());
    return shared_ ? std::min(own, shared_->deadline()) : own;
  }
  /// The flow-control DLLP that is due: InitFC before UpdateFC. REQUIRES: deadline() <= now.
  Dllp take(Time now) {
    if (init_.deadline() <= now) {
      const FlowControlInit::Step step = init_.take(now);
      const Dllp dllp = step.is_shared ? shared_->dllp(step.type, step.fc_class)
                                       : returns_.dllp(step.type, step.fc_class);
      if (init_.is_active()) {
        activate(now);
      }
      return dllp;
    }
    return shared_ && shared_->deadline() < returns_.deadline() ? shared_->take(now)
                                                                : returns_.take(now);
  }
  /// A flow-control DLLP has come in.
  void receive(const Dllp& dllp, Time now) {
    const bool is_of_shared = dllp.is_shared || dllp.type == DllpType::kOptimizedUpdateFc;
    if (dllp.vc != 0 || (is_of_shared && !shared_)) {
      return;  // there is VC0 only [LNK-N.7]; there are no shared credits
    }
    const bool is_update = is_update_fc(dllp.type);
    // Whatever says the limits first sets them: an InitFC2 may come where the InitFC1 got lost.
    // [LNK-8.11]
    if (!is_update && init_.receive_values(dllp.fc_class, now, dllp.is_shared)) {
      dllp.is_shared ? queues_.shared_gates().initialise(dllp)
                     : queues_.gates(dllp.fc_class).initialise(dllp);
    }
    if (dllp.type == DllpType::kInitFc1) {
      return;
    }
    const bool was_active = init_.is_active();
    init_.receive_second_phase();
    if (!was_active && init_.is_active()) {
      activate(now);
    }
    if (was_active && dllp.type == DllpType::kInitFc2) {
      init_.receive_init_fc2(now);
    }
    if (is_update) {
      is_of_shared ? queues_.shared_gates().update(dllp)
                   : queues_.gates(dllp.fc_class).update(dllp);
      queues_.note_stalls(now);
    }
  }
  /// A TLP was accepted; false: it came without credits.
  bool accept(const Packet& packet) {
    init_.receive_second_phase();
    return shared_ && shared_->claim(packet) ? shared_->receive(packet.tlp)
                                             : returns_.receive(packet.tlp);
  }
  /// The receive buffer of a TLP is free again.
  void free(const Packet& packet, Time now) {
    if (shared_ && shared_->release(packet)) {
      shared_->free(packet.tlp, now);
    } else {
      returns_.free(packet.tlp, now);
    }
  }

  bool is_active() const { return init_.is_active(); }
  /// Initialised, and no InitFC is owed to the other end.
  bool is_settled() const { return init_.is_active() && init_.deadline() == Time::never(); }
  bool is_conserved() const {
    return returns_.is_conserved() && (!shared_ || shared_->is_conserved());
  }
  bool has_unadvertised() const {
    return returns_.has_unadvertised() || (shared_ && shared_->has_unadvertised());
  }

 private:
  void activate(Time now) {
    returns_.activate(now);
    if (shared_) {
      shared_->activate(now);
    }
  }

  TransactionQueues& queues_;
  CreditReturns returns_;
  std::unique_ptr<SharedReturns> shared_;  // null: no shared credits
  FlowControlInit init_;
};

}  // namespace flitwise
