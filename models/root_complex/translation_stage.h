// SPDX-License-Identifier: Apache-2.0
/// Requests of one root port on their way through the translation agent. What is translated early
/// waits for what it may not pass: posted requests keep their order, and nothing passes them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ats/translation_completion.h"
#include "ats/translation_request.h"
#include "common/slot_list.h"
#include "flitwise/packet.h"
#include "iommu/agent_seams.h"
#include "iommu/walk.h"
#include "link/posted_index.h"
#include "root_complex/port_output.h"
#include "routing/request_rules.h"
#include "stats/wait_book.h"

namespace flitwise {

class TranslationStage : private TranslationClient {
 public:
  /// A packet that goes on: the outcome of its translation, if it had one, counts from `when` on.
  struct Entry {
    PacketRef packet;
    DomainStanding standing;
    Slot ticket = 0;
    std::uint64_t arrival = 0;
    WalkRequest request{};
    WalkResult result{};
    bool is_translated = false;  ///< `result` says where it goes; else it only keeps its place
    bool is_known = false;
    Time when{};
    std::uint32_t posted_token = kNobody;

    bool is_posted() const { return fc_class(packet->tlp.type) == FcClass::kPosted; }
    /// There may be posted requests that it may pass, by an attribute or as it is of another class.
    bool is_relaxed() const {
      const Tlp& tlp = packet->tlp;
      return tlp.relaxed_ordering || tlp.id_based_ordering || tlp.tc != 0;
    }
  };
  /// Implemented by RootPort.
  class Server {
   public:
    /// It is the packet's turn; true: its receive buffer stays in use.
    virtual bool serve(const Entry& entry) = 0;
    /// Where to translate next for a Translation Request that needs another translation beside
    /// this one; none: it does not.
    virtual std::optional<std::uint64_t> next_after(const Entry& entry,
                                                    const WalkResult& result) = 0;
    /// Served after it was received: its buffer is free now.
    virtual void release(Packet& packet) = 0;

   protected:
    ~Server() = default;
  };

  TranslationStage(TranslationService& agent, Server& server) : agent_(agent), server_(server) {
    agent.attach(*this);
  }

  bool is_enabled() const { return agent_.is_enabled(); }
  bool is_busy() const { return order_.size() != 0; }
  /// Whatever may not pass a posted request has to keep its place behind one that is here.
  bool has_posted() const { return posted_.size() != 0; }
  std::size_t size() const { return order_.size(); }
  /// Waits behind posted requests that came before, with the translation known.
  WaitBook order_waits;

  /// Asks the agent; serves the packet within this call if it may go at once. True: its receive
  /// buffer stays in use, until release() where it is served later.
  bool translate(Entry entry, const WalkRequest& request, Time delay);
  /// Keeps the place of a packet for which the agent is not asked; its buffer stays in use
  /// likewise. REQUIRES: has_posted()
  void hold(Entry entry);

 private:
  void translated(std::uint64_t ticket, const WalkResult& result, Time when) override;
  void invalidated(const PhysicalPages& /*pages*/) override { fence_ = arrivals_; }
  bool is_drained() const override {
    return order_.size() == 0 || entries_[*order_.front()].arrival >= fence_;
  }
  Slot add(Entry entry);
  /// What may go goes, now that the outcome of `latest` is known.
  void release(Slot latest);
  void serve(Slot slot);
  /// By the ordering table of the link.
  bool may_go(Slot slot);
  const PostedIndex& posted_index();

  TranslationService& agent_;
  Server& server_;
  const Packet* received_ = nullptr;     // while the agent is asked for it
  bool is_held_ = false;                 // its buffer stays in use
  std::vector<Entry> entries_;           // by slot, which is the ticket
  SlotList order_{0}, free_{0};          // in order of arrival
  SlotList posted_{0}, completions_{0};  // of those in order_, likewise
  PostedIndex posted_index_;             // of posted_, or empty: nobody has asked
  std::size_t known_ = 0;                // of those in order_
  std::size_t relaxed_ = 0;              // likewise
  std::uint64_t arrivals_ = 0;
  std::uint64_t fence_ = 0;  // arrivals below it are from before the latest invalidation
  bool is_releasing_ = false;
  bool looks_at_all_ = false;  // one that is known has come and has not been looked at
};

/// Answers to Translation Requests at a root port: one translation after another, then all of them
/// in one or two completions. [ATR-21]
class TranslationReplies {
 public:
  TranslationReplies(unsigned rcb, unsigned split, PortOutput& output)
      : rcb_(rcb), split_(split), output_(output) {}

  /// Of one request on its way through the agent.
  struct Asked {
    std::uint64_t ticket;
    const Packet& packet;
    bool has_pasid;
    unsigned stu;
    bool is_from_cache() const { return (packet.tlp.address & kCacheSource) != 0; }
  };
  /// Takes one translation in; where to look for the next one, if it needs that.
  std::optional<std::uint64_t> next_after(const Asked& asked, const WalkResult& result);
  /// The last outcome is known: false where it refuses the request. A refusal behind the first
  /// translation ends the reply there. [ATR-01] [ATR-24] [IOM-7.1]
  bool answer(const Asked& asked, const WalkResult& result, Time when);

 private:
  struct Gather {
    std::uint64_t ticket;
    TranslationGather translations;
  };
  std::vector<Gather>::iterator find(std::uint64_t ticket);

  const unsigned rcb_, split_;
  PortOutput& output_;
  std::vector<Gather> gathers_;  // replies with more than one translation, as far as they are found
};

}  // namespace flitwise
