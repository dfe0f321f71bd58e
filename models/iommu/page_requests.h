// SPDX-License-Identifier: Apache-2.0
/// Page requests on their way through the agent: each is checked against its context, and then
/// recorded for software in the order of arrival or answered by the agent itself. Rules:
/// src/iommu/page_request_queue.h.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "ats/ats_messages.h"
#include "iommu/page_request_queue.h"
#include "iommu/translation_client.h"

namespace flitwise {

class PageRequests : private TranslationClient {
 public:
  /// What the agent around it does. `delay` counts from now.
  class Host {
   public:
    virtual ~Host() = default;
    /// May the function ask for pages? `client` hears of the outcome, perhaps within this call.
    virtual void check_context(TranslationClient& client, std::uint64_t ticket,
                               const WalkRequest& request, std::uint32_t token) = 0;
    /// Drops what the IOTLB has of the page. pasid: that of the request, or RID_PASID.
    /// [IOM-8.2] [PAS-01]
    virtual void forget_page(const PageRequest& request, Pasid pasid) = 0;
    /// record_written() follows, in the order of the calls.
    virtual void write_record(std::uint64_t address, const PageRequestRecord& record,
                              Time delay) = 0;
    virtual void respond(const PrgResponse& response, Time delay) = 0;
    virtual void interrupt(const IommuInterrupt& interrupt) = 0;
  };

  /// responds_with_pasid: PRG Response PASID Required of the functions. [PRI-36]
  PageRequests(PageRequestOverflow overflow, bool responds_with_pasid, IommuRegisters& registers,
               Host& host)
      : queue_(overflow),
        responds_with_pasid_(responds_with_pasid),
        registers_(registers),
        host_(host) {}

  /// token: of the packet, for fault events.
  void receive(const PageRequest& request, std::uint32_t token);
  /// Memory has the oldest record that it was given, or refuses it.
  void record_written(bool is_ok);

  /// Nothing is on its way, and software has taken all records: what PD waits for. [IQU-15]
  bool is_drained() const { return is_quiet() && queue_.is_drained(registers_); }
  bool is_quiet() const { return waiting_.empty() && recorded_.empty(); }
  std::uint64_t received() const { return received_; }
  std::uint64_t dropped() const { return queue_.dropped(); }
  std::string waiting() const;

 private:
  struct Entry {
    PageRequest request;
    std::uint64_t ticket = 0;
    bool is_known = false;
    bool is_allowed = false;  // by its context
    Pasid pasid{};            // that it counts under
    Time when{};
  };
  void translated(std::uint64_t ticket, const WalkResult& result, Time when) override;
  void proceed();
  void admit(const Entry& entry);
  void carry_out(PageRequestAction action, const PageRequest& request, Time delay);

  PageRequestQueue queue_;
  const bool responds_with_pasid_;
  IommuRegisters& registers_;
  Host& host_;
  std::deque<Entry> waiting_;         // for their contexts, in order of arrival
  std::deque<PageRequest> recorded_;  // on their way to memory
  std::uint64_t next_ticket_ = 0;
  std::uint64_t received_ = 0;
  bool is_proceeding_ = false;
};

}  // namespace flitwise
