// SPDX-License-Identifier: Apache-2.0
/// Page requests on their way through the agent: each is checked against its context, and then
/// recorded for software in the order of arrival or answered by the agent itself. Rules:
/// src/iommu/agent_queues.h.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "ats/ats_messages.h"
#include "iommu/agent_queues.h"
#include "iommu/agent_seams.h"

namespace flitwise {

class PageRequests : private TranslationClient {
 public:
  /// responds_with_pasid: PRG Response PASID Required of the functions. [PRI-36] The others outlive
  /// it.
  PageRequests(PageRequestOverflow overflow, bool responds_with_pasid, IommuRegisters& registers,
               AgentTranslations& translations, AgentMemory& memory, AgentEvents& events)
      : queue_(overflow),
        never_answers_dropped_(overflow == PageRequestOverflow::kDrop),
        responds_with_pasid_(responds_with_pasid),
        registers_(registers),
        translations_(translations),
        memory_(memory),
        events_(events) {}

  /// token: of the packet, for fault events.
  void receive(const PageRequest& request, std::uint32_t token);
  /// Memory has the oldest record that it was given, or refuses it, at `when`.
  void memory_done(bool is_ok, Time when);
  /// Records whose time has come are there for software.
  void work(Time t);
  Time next_due() const { return written_.empty() ? Time::never() : written_.front().when; }

  /// Nothing is on its way, and software has taken all records: what PD waits for. [IQU-15]
  bool is_drained() const override { return is_quiet() && queue_.is_drained(registers_); }
  bool is_quiet() const { return waiting_.empty() && recorded_.empty(); }
  std::uint64_t received() const { return received_; }
  std::uint64_t dropped() const { return queue_.dropped(); }
  std::string waiting(const char* at) const;

 private:
  struct Entry {
    PageRequest request;
    std::uint64_t ticket = 0;
    bool is_known = false;
    bool is_allowed = false;  // by its context
    Pasid pasid{};            // that it counts under
    Time when{};
  };
  struct Written {
    Time when;
    bool is_ok;
  };
  void translated(std::uint64_t ticket, const WalkResult& result, Time when) override;
  void proceed();
  void admit(const Entry& entry);
  void respond(std::optional<PrgCode> answer, const PageRequest& request, Time delay);

  PageRequestQueue queue_;
  const bool never_answers_dropped_;
  const bool responds_with_pasid_;
  IommuRegisters& registers_;
  AgentTranslations& translations_;
  AgentMemory& memory_;
  AgentEvents& events_;
  std::deque<Entry> waiting_;         // for their contexts, in order of arrival
  std::deque<PageRequest> recorded_;  // on their way to memory
  std::deque<Written> written_;       // the first of them, as far as memory has answered
  std::uint64_t next_ticket_ = 0;
  std::uint64_t received_ = 0;
  bool is_proceeding_ = false;
};

}  // namespace flitwise
