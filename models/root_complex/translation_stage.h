// SPDX-License-Identifier: Apache-2.0
/// Requests of one root port on their way through the translation agent. What is translated early
/// waits for what it may not pass: posted requests keep their order, and nothing passes them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

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
    std::uint64_t ticket = 0;
    WalkRequest request;
    WalkResult result;
    bool is_translated = false;  ///< it was for the agent; else it only keeps its place
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
  /// Something has to keep its place behind posted requests that are being translated.
  bool is_busy() const { return !entries_.empty(); }
  std::size_t size() const { return entries_.size(); }

  /// Asks the agent; serves the packet within this call if it may go at once.
  void translate(Entry entry, const WalkRequest& request, Time delay);
  /// Keeps the place of a packet that needs no translation. REQUIRES: is_busy()
  void hold(Entry entry);

 private:
  void translated(std::uint64_t ticket, const WalkResult& result, Time when) override;
  void invalidated() override { fence_ = next_ticket_; }
  bool is_drained() const override { return entries_.empty() || entries_.front().ticket >= fence_; }
  void release();
  /// By the ordering table of the link.
  bool may_pass_all_before(std::size_t index) const;

  TranslationAgent& agent_;
  Serve serve_;
  GoOn go_on_;
  std::deque<Entry> entries_;  // in order of arrival
  std::uint64_t next_ticket_ = 0;
  std::uint64_t fence_ = 0;  // tickets below it are from before the latest invalidation
  bool is_releasing_ = false;
};

}  // namespace flitwise
