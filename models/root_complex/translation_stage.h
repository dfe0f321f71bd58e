// SPDX-License-Identifier: Apache-2.0
/// Requests of one root port on their way through the translation agent. What is translated early
/// waits for what it may not pass: posted requests keep their order, and nothing passes them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dhi/slot_list.h"
#include "flitwise/packet.h"
#include "iommu/translation_agent.h"

namespace flitwise {

class TranslationStage : private TranslationClient {
 public:
  /// A packet that goes on: the outcome of its translation, if it had one, counts from `when` on.
  struct Entry {
    PacketRef packet;
    bool is_trusted = false;
    std::uint16_t capabilities = 0;
    Slot ticket = 0;
    std::uint64_t arrival = 0;
    WalkRequest request;
    WalkResult result;
    bool is_translated = false;  ///< `result` says where it goes; else it only keeps its place
    bool is_known = false;
    Time when{};
  };
  using Serve = std::function<void(const Entry&)>;

  /// Whether a Translation Request needs another translation beside this one: then `next` is where.
  using GoOn =
      std::function<bool(const Entry& entry, const WalkResult& result, std::uint64_t& next)>;

  TranslationStage(TranslationAgent& agent, Serve serve, GoOn go_on)
      : agent_(agent), serve_(std::move(serve)), go_on_(std::move(go_on)) {
    agent.attach(*this);
  }

  bool is_enabled() const { return agent_.is_enabled(); }
  bool is_busy() const { return order_.size() != 0; }
  /// Whatever may not pass a posted request has to keep its place behind one that is here.
  bool has_posted() const { return posted_ != 0; }
  std::size_t size() const { return order_.size(); }
  /// Waits behind posted requests that came before, with the translation known.
  WaitBook& order_waits() { return order_waits_; }
  const WaitBook& order_waits() const { return order_waits_; }

  /// Asks the agent; serves the packet within this call if it may go at once.
  void translate(Entry entry, const WalkRequest& request, Time delay);
  /// Keeps the place of a packet for which the agent is not asked. REQUIRES: has_posted()
  void hold(Entry entry);

 private:
  void translated(std::uint64_t ticket, const WalkResult& result, Time when) override;
  void invalidated() override { fence_ = arrivals_; }
  bool is_drained() const override {
    return order_.size() == 0 || entries_[*order_.front()].arrival >= fence_;
  }
  Slot add(Entry entry);
  /// What may go goes, now that the outcome of `latest` is known.
  void release(Slot latest);
  void serve(Slot slot);
  bool is_posted(Slot slot) const;
  /// By the ordering table of the link.
  bool may_go(Slot slot) const;

  TranslationAgent& agent_;
  Serve serve_;
  GoOn go_on_;
  std::vector<Entry> entries_;   // by slot, which is the ticket
  SlotList order_{0}, free_{0};  // in order of arrival
  std::size_t posted_ = 0;       // of those in order_
  std::size_t known_ = 0;        // of those in order_
  std::uint64_t arrivals_ = 0;
  std::uint64_t fence_ = 0;  // arrivals below it are from before the latest invalidation
  bool is_releasing_ = false;
  bool looks_at_all_ = false;  // one that is known has come and has not been looked at
  WaitBook order_waits_;
};

}  // namespace flitwise
