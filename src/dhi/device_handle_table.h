// SPDX-License-Identifier: Apache-2.0
/// The device's end of the handle table: which domain has which handle, who may be evicted, and
/// when. Rules in docs/rules/dhi.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/slot_list.h"
#include "dhi/handle_types.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

struct DeviceHandleTableConfig {
  HandleRange range;  ///< negotiated [DHI D6]
  VictimPolicy victim = VictimPolicy::kLru;
  bool prefer_ended = true;
  bool prefer_idle = true;
  DeallocMode dealloc = DeallocMode::kImplicit;
  HandleManagement management = HandleManagement::kDevice;
  std::uint8_t epoch = 0;  ///< negotiated [DHI D4]
};

enum class UseKind : std::uint8_t { kPosted, kNonPosted };

/// One use of a handle, kept by the user until it is over. A pin that outlives its residency (the
/// entry was reset) is ignored when it comes back.
struct HandlePin {
  Dhi dhi{};
  std::uint32_t residency = 0;  ///< 0: no pin
  explicit operator bool() const { return residency != 0; }
};

/// What a message without handle would have to wait for. [DHI D8, D9, D10]
enum class MissOutcome : std::uint8_t {
  kFreeHandle,         ///< allocate() may be called
  kVictimReady,        ///< allocate() may be called and will evict `victim`
  kWaitForSend,        ///< `victim` has a posted use that is not sent yet
  kWaitForCompletion,  ///< `victim` has a non-posted use without its last completion
  kWaitForPush,        ///< `victim` has a posted use not known pushed: a flush would tell
  kWaitForOrder,       ///< all that there is, is being given up on the host's order [DHI D15]
  kNotHere,  ///< software manages the handles [DHI D12], there are none, or all are kept [DHI S2]
};
struct Choice {
  MissOutcome outcome = MissOutcome::kNotHere;
  std::optional<Dhi> victim;
};

struct Allocation {
  Dhi dhi{};
  std::uint32_t residency = 0;         ///< for mark_applied()
  bool needs_dealloc_message = false;  ///< explicit mode: DEALLOC goes out before ALLOC [DHI D11]
  AllocMessage message;                ///< what goes upstream after this call [DHI D8]
};

/// What a handle stands for at the device. [DHI D22]
struct DeviceResolution {
  DomainId domain{};
  DeviceIdentity identity;
  bool is_trusted = false;
  std::uint16_t capabilities = 0;
  ContextId context{};
};

/// Counters since reset_statistics(). Unit: events.
struct DeviceHandleStatistics {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t allocs = 0;       ///< entries made
  std::uint64_t deallocs = 0;     ///< entries given up, evictions included, resets not
  std::uint64_t evictions = 0;    ///< entries given up for another domain
  std::uint64_t uses = 0;         ///< TLPs pinned
  std::uint64_t residencies = 0;  ///< residencies, ended or live, that carried at least one TLP
  /// Mean TLPs of a residency; 0 when there was none.
  double uses_per_residency() const {
    return residencies == 0 ? 0.0 : static_cast<double>(uses) / static_cast<double>(residencies);
  }
};

/// Keeps the entries of one table in the order in which they are offered as victims. All functions
/// are O(1). [DHI D9]
class ReplacementPolicy {
 public:
  virtual ~ReplacementPolicy() = default;

  virtual void inserted(Slot slot) = 0;  ///< REQUIRES: slot is not in the order.
  virtual void used(Slot slot) = 0;      ///< REQUIRES: slot is in the order.
  virtual void removed(Slot slot) = 0;   ///< REQUIRES: slot is in the order.

  virtual std::optional<Slot> first() const = 0;           ///< the next victim
  virtual std::optional<Slot> after(Slot slot) const = 0;  ///< the one to ask when slot will not do
};

/// FIFO: longest stay first; uses do not matter. LRU: longest unused first. LFU: fewest uses in
/// this residency first, among equals the longest unused; counts do not age.
std::unique_ptr<ReplacementPolicy> make_replacement_policy(VictimPolicy policy, unsigned slots);

/// Device end of the table [DHI D1]. find() and resolve() are array look-ups; choose() looks at
/// most at kVictimScan entries. All traffic is taken to use one traffic class (model).
///
/// Life of a use: find -> pin (held from here, D7) -> posted: sent() when the TLP enters the
/// transaction queues; over when pushed_through() covers its serial. Non-posted: completed() at the
/// last completion.
class DeviceHandleTable {
 public:
  /// model: entries looked at beyond the first when busy ones are passed over.
  static constexpr unsigned kVictimScan = 32;

  explicit DeviceHandleTable(const DeviceHandleTableConfig& config);

  // ---- use [DHI D7, D10]
  /// Handle of the domain; empty also while its entry drains.
  OptionalId<Dhi> find(DomainId domain) const;
  /// Counts one lookup (once per message, not per retry).
  void record_lookup(bool is_hit) {
    ++statistics_.lookups;
    statistics_.hits += is_hit ? 1 : 0;
  }
  /// Holds the entry for one TLP. REQUIRES: dhi was given by find() or allocate().
  HandlePin pin(Dhi dhi, UseKind kind);
  /// The posted TLP entered the queues; returns its serial. 0 when the residency is gone.
  std::uint64_t sent(HandlePin pin);
  /// The non-posted TLP has its last completion, or nothing sent later can come before it.
  void completed(HandlePin pin);
  /// It was given up, and may be on its way still, where a later ALLOC overtakes it: the handle
  /// goes to no other domain until the table is reset. Its domain goes on using it. True: it was
  /// not kept before. [DHI D10] [DHI S2]
  bool given_up(HandlePin pin);
  /// Serial of the last posted use sent; note it when a non-posted request with RO=IDO=0 is sent.
  std::uint64_t posted_serial() const { return posted_serial_; }
  /// All posted uses up to `serial` are at the host: such a request, sent after it, completed.
  void pushed_through(std::uint64_t serial);

  // ---- allocation [DHI D8, D9, D11]
  /// What a message whose domain has no handle would need now.
  Choice choose() const;
  /// REQUIRES: !find(domain); choose() says kFreeHandle or kVictimReady.
  Allocation allocate(DomainId domain, const DeviceIdentity& identity, bool is_trusted,
                      std::uint16_t capabilities, ContextId context = {});
  /// The host is known to have applied the allocation: RO and IDO may be used again. [DHI D8]
  void mark_applied(Dhi dhi, std::uint32_t residency);
  bool is_applied(Dhi dhi) const { return is_valid(dhi) && entries_[slot_of(dhi)].is_applied; }
  /// Software's ALLOC, in software-managed mode. In implicit mode it may replace an idle entry.
  /// [DHI D12]
  HandleStatus install(DomainId domain, const AllocMessage& message);

  // ---- deallocation [DHI D9, D10, D13, D15]
  /// Its context ended; the handle stays until pressure (lazy). Using it again revives it.
  void end_context(DomainId domain);
  /// No new uses: find() no longer gives the handle. [DHI D10]
  void drain(Dhi dhi);
  /// Drains all that the message covers.
  void drain(const DeallocMessage& message);
  /// A draining entry that is idle, oldest request first; those that are kept come last.
  std::optional<Dhi> drained() const;
  /// Orders apart.
  bool is_draining() const { return draining_.size() + kept_draining_.size() > 0; }
  bool is_idle(Dhi dhi) const { return is_valid(dhi) && is_idle(entries_[slot_of(dhi)]); }
  /// Gives the handle up; the caller then sends DEALLOC if it must. False: the host has no such
  /// entry, and needs none. REQUIRES: valid and idle.
  bool deallocate(Dhi dhi);

  /// The host has no such entry: no new uses, and no DEALLOC. The handle is free when nothing that
  /// a later ALLOC could overtake is under way: non-posted uses without completion. [DHI S2]
  void refused(Dhi dhi);

  // ---- orders of the host [DHI D15]
  /// Why an order cannot be carried out: its epoch, or handles beyond the range; kOk.
  HandleStatus check(const DeallocMessage& message) const;
  /// What it covers is not given away any more, before or after release(): no new uses, and no
  /// new allocation, which the host would free with the old one. REQUIRES: check() says kOk; tag
  /// below kDeallocOrders and not held. [DHI D10]
  void hold(unsigned tag, const DeallocMessage& message);
  bool is_held(unsigned tag) const { return orders_[tag].is_held; }
  /// Nothing that the order covers is in use any more.
  bool is_drained(unsigned tag) const;
  /// Gives its handles up, all at once; they can be allocated again. REQUIRES: is_drained().
  void release(unsigned tag);
  /// Handles of the function are being given up: it gets no new one.
  bool is_held(Bdf function) const;

  // ---- reset [DHI D4]
  /// FLR: entries of one function go at once.
  void reset_function(Bdf function);
  /// Hot reset, re-negotiation: all entries go.
  void reset(HandleRange range, std::uint8_t epoch);
  std::uint8_t epoch() const { return config_.epoch; }

  // ---- queries
  std::optional<DeviceResolution> resolve(Dhi dhi) const;  ///< while it is given out
  /// What it stands for in a message from the host, who still has what was given up without a
  /// DEALLOC, until the handle is another's. [DHI D11] [DHI D22]
  std::optional<DeviceResolution> resolve_for_host(Dhi dhi) const;
  /// Whose the handle is, while it is still in that residency.
  std::optional<DomainId> owner(Dhi dhi, std::uint32_t residency) const;
  HandleRange range() const { return config_.range; }
  const DeviceHandleStatistics& statistics() const { return statistics_; }
  void reset_statistics() {
    statistics_ = {};
    ++period_;
  }

 private:
  struct Entry : DeviceResolution {
    std::uint64_t last_serial = 0;    // of the last posted use sent
    std::uint32_t residency = 0;      // counts up with each new owner
    std::uint32_t nonposted = 0;      // without last completion
    std::uint32_t unsent = 0;         // posted, pinned and not sent
    std::uint32_t counted_since = 0;  // statistics period in which the residency was counted
    std::uint16_t orders = 0;         // bit n: order n covers it; then it stands in no list
    bool is_valid = false;
    bool has_ended = false;
    bool is_applied = false;
    bool is_at_host = true;
    bool is_left = false;  // at the host alone: given up without a DEALLOC
    bool is_kept = false;  // for no other domain, also when it is not valid any more: no victim
  };

  Slot slot_of(Dhi dhi) const {
    return static_cast<Slot>(to_int(dhi) - to_int(config_.range.lower));
  }
  Dhi dhi_of(Slot slot) const {
    return Dhi{static_cast<std::uint16_t>(slot + to_int(config_.range.lower))};
  }
  bool is_valid(Dhi dhi) const {
    return config_.range.contains(dhi) && entries_[slot_of(dhi)].is_valid;
  }
  Entry* pinned(HandlePin pin);
  bool is_idle(const Entry& entry) const;
  MissOutcome readiness(Slot slot) const;
  std::optional<Slot> pick_victim() const;
  std::optional<Slot> first_idle(const SlotList& list) const;
  template <class Next>
  std::optional<Slot> first_idle(std::optional<Slot> slot, Next next) const;
  void fill(Slot slot, DomainId domain, const AllocMessage& message);
  bool clear(Slot slot);  // as deallocate()
  void forget_domain(Slot slot);
  void forget_left(const DeallocMessage& message);
  void take_off_lists(Slot slot);
  /// Calls `act` for the slot of each valid entry that the message covers.
  template <class Act>
  void each_valid(const DeallocMessage& message, Act act);
  static bool covers(const DeallocMessage& message, Dhi dhi, Bdf function);

  DeviceHandleTableConfig config_;
  std::vector<Entry> entries_;        // by slot: handle minus lower bound
  std::vector<Slot> slot_of_domain_;  // by DomainId
  // Victims stand in these, entries that are kept do not.
  std::unique_ptr<ReplacementPolicy> policy_;
  SlotList free_;
  SlotList ended_;
  SlotList draining_;
  SlotList kept_draining_;  // given up by the device as the others are, and not free then
  struct Order {
    DeallocMessage message;
    bool is_held = false;
    std::vector<Slot> slots;  // that it covers
  };
  static_assert(kDeallocOrders <= 16, "Entry::orders has a bit for each");
  std::array<Order, kDeallocOrders> orders_;  // by tag
  std::uint64_t posted_serial_ = 0;
  std::uint64_t pushed_through_ = 0;
  std::uint32_t last_residency_ = 0;
  std::uint32_t period_ = 1;
  DeviceHandleStatistics statistics_;
};

/// Handles whose ALLOC is under way: the device does not know yet that the host has them. The
/// answer of the host tells (ALLOC_ACK), or the completion of a read that was sent behind the
/// ALLOC. [DHI D8]
class UnappliedHandles {
 public:
  struct One {
    Dhi dhi;
    std::uint32_t residency;
  };
  bool empty() const { return all_.empty(); }
  void clear() {
    all_.clear();
    covered_ = 0;
  }
  void add(Dhi dhi, std::uint32_t residency) { all_.push_back({dhi, residency}); }
  /// The oldest of the handle: answers come in the order of the ALLOCs.
  std::optional<One> find(Dhi dhi) const {
    const auto one = position(dhi);
    return one == all_.end() ? std::nullopt : std::optional<One>(*one);
  }
  /// The oldest of the handle is forgotten. REQUIRES: there is one.
  void remove(Dhi dhi) {
    const auto one = position(dhi);
    covered_ -= static_cast<std::size_t>(one - all_.begin()) < covered_ ? 1 : 0;
    all_.erase(one);
  }
  /// A read goes out that covers all of them, or none.
  void flush_sent(bool covers_all) { covered_ = covers_all ? all_.size() : 0; }
  /// It has come back: `apply(one)` for each that it covered, and these are forgotten.
  template <class Apply>
  void flush_done(Apply apply) {
    const auto covered = all_.begin() + static_cast<std::ptrdiff_t>(covered_);
    std::for_each(all_.begin(), covered, apply);
    all_.erase(all_.begin(), covered);
    covered_ = 0;
  }

 private:
  std::vector<One>::const_iterator position(Dhi dhi) const {
    return std::find_if(all_.begin(), all_.end(), [&](const One& one) { return one.dhi == dhi; });
  }

  std::vector<One> all_;     // oldest first
  std::size_t covered_ = 0;  // the first so many, by the flush that is out
};

}  // namespace flitwise
