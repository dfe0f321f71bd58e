// SPDX-License-Identifier: Apache-2.0
/// The device's use of handles: looks one up for each message, allocates and evicts, says what has
/// to go out before a TLP that uses one, and does what software and the host order. Rules: src/dhi.
// Longer than 150 lines: TLPs and requests of CXL.cache ask, software and host order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dhi/device_handle_table.h"
#include "dhi/dhi_message.h"
#include "dhi/handle_store.h"
#include "dhi/negotiation.h"
#include "endpoint/line_seams.h"
#include "flitwise/result.h"
#include "stats/wait_book.h"

namespace flitwise {

class DhiAgent final : public Handles, public LineNames {
 public:
  DhiAgent(const EndpointConfig& config, const DeviceParts& parts, TagTable& requests)
      : config_(config), s_(parts), requests_(requests) {
    lines_.is_for_lines = true;
  }

  /// What host software has to know where it manages the handles. [DHI D12]
  struct SoftwareHooks {
    /// It sends, and has no handle.
    std::function<void(DomainId)> context_started = [](DomainId /*domain*/) {};
    std::function<void(DomainId)> context_ended = [](DomainId /*domain*/) {};
  };
  void set_software(SoftwareHooks hooks) { software_ = std::move(hooks); }

  /// The outcome of the negotiation; from now on handles are used, or not. Whatever was in the
  /// table is gone. [DHI D4, D5, D6]
  void negotiated(const Negotiated& outcome, bool is_software_managed);

  Answer acquire(const Transfer& transfer, const DeviceIdentity& identity, Op op,
                 std::size_t free_tags, Time now) override;
  bool is_active() const override { return is_active_; }
  void posted_sent(HandlePin pin) override { table_->sent(pin); }
  std::uint64_t posted_serial() const override { return table_ ? table_->posted_serial() : 0; }
  void request_ended(const OutstandingRequest& request, TransferStatus status) override;
  void let_go(const OutstandingRequest& request, bool is_given_up) override;
  void end_context(DomainId domain) override;

  // LineNames:
  Answer acquire_for_line(const Transfer& transfer, Time now) override;
  void line_over(HandlePin pin, Time now) override;
  const DeviceIdentity& identity_of(DomainId domain) const override {
    return s_.functions.identity_of(domain);
  }
  ContextId context_of(DomainId domain) const override { return s_.functions.context_of(domain); }
  void on_change(std::function<void()> changed) override { lines_.changed.swap(changed); }
  /// Something has changed that requests of CXL.cache may wait for.
  void look_again() {
    if ((lines_.stall.is_running() || tlps_.stall.is_running()) && lines_.changed) {
      lines_.changed();
    }
  }

  /// A DHI message from the host. Returns nullptr, or what has to be counted: alloc_refused, or
  /// what is wrong with the message, which then changes nothing. [DHI D8, D15, D16]
  const char* receive(const Packet& packet);
  /// Software's ALLOC, as if the message had come from the link. [DHI D12]
  HandleStatus install(const AllocMessage& message);
  /// Likewise its DEALLOC; drain() says when it is done. [DHI D15]
  void deallocate(const DeallocMessage& message);
  /// The contexts of domains 0 .. count-1 start before their first message: with allocate_at
  /// context_creation each has its handle from here on, if there is one. [DHI D13]
  void start_contexts(std::uint32_t count, bool counts, Time now);
  /// Entries of one function are gone at once. [DHI D4]
  void reset_function(Bdf bdf);

  /// Handles are given up by software's or the host's order, or with a context.
  bool is_draining() const { return has_dealloc_command_ || has_to_drain(); }
  /// Gives up those that are not in use any more; a flush finds out. True: software's DEALLOC is
  /// done. [DHI D10]
  bool drain(Time now);

  /// Whom a message from the host with a handle is for; nobody where there is no entry. [DHI D22]
  struct Addressee {
    std::optional<DeviceResolution> entry;
    Time latency{};
  };
  Addressee find_addressee(Dhi dhi);

  void start_window(Time now);
  /// In the window: messages that waited for a handle, and how long.
  StallCount stall(Time now) const { return stalls_so_far(now) - window_stall_; }
  DhiResult result(const std::string& device, Time now) const;
  std::uint64_t flushes() const { return counts_.flushes; }  ///< sent
  const DeviceHandleTable* table() const { return table_.get(); }

 private:
  struct Holder {
    bool has_started = false;  // it is known
    bool has_refusal = false;  // it goes in full until it starts again
  };
  /// Whose message asks for a handle: TLPs have one stream, requests of CXL.cache another.
  struct Asker {
    bool is_for_lines = false;
    DomainId waiting_domain{0xffff'ffff};  // its lookup has been counted already
    StallClock stall;
    std::function<void()> changed;  // may be empty
  };
  Holder& holder(DomainId domain);
  Answer ask(Asker& asker, const Transfer& transfer, const DeviceIdentity& identity, UseKind kind,
             Time now);
  Answer use(const Asker& asker, Dhi dhi, UseKind kind, const DeviceIdentity& identity,
             Time latency) {
    if (asker.is_for_lines && !table_->is_applied(dhi)) {
      return wait_for_host(asker, identity, latency);
    }
    return {Outcome::kHandle, dhi, table_->pin(dhi, kind), !table_->is_applied(dhi), latency};
  }
  Answer wait_for_host(const Asker& asker, const DeviceIdentity& identity, Time latency);
  Answer miss(const Asker& asker, DomainId domain, const DeviceIdentity& identity, UseKind kind);
  Answer wait_or_bypass(const Asker& asker, MissOutcome outcome, const DeviceIdentity& identity);
  StallCount stalls_so_far(Time now) const {
    return tlps_.stall.so_far(now) + lines_.stall.so_far(now);
  }
  Time allocate(DomainId domain, const DeviceIdentity& identity);
  const char* acknowledged(const AllocAckMessage& message);
  const char* reported(const HandleErrorMessage& message);
  const char* take(const DeallocOrder& order, Bdf addressed);
  void refused(Dhi dhi, DomainId domain, HandleStatus status);
  bool has_to_drain() const { return is_active_ && (table_->is_draining() || !orders_.empty()); }
  void answer_orders();
  Packet& add() { return *first_.emplace_back(s_.pool.make(PacketKind::kTlp)); }
  void send_dealloc(Dhi dhi, Bdf bdf);
  void request_flush(Bdf bdf);
  void send_first(const Transfer& cause, const DeviceIdentity& identity, Time now, Time latency);
  bool flushes_fail() const { return failed_flushes_ >= kMostFailedFlushes; }

  /// model: so many refused ones in a row, or one that had no answer, are enough.
  static constexpr unsigned kMostFailedFlushes = 4;

  const EndpointConfig config_;
  const DeviceParts s_;
  TagTable& requests_;
  bool is_active_ = false;
  bool is_software_managed_ = false;
  std::unique_ptr<DeviceHandleTable> table_;  // kept, so that pins of the past stay harmless
  std::unique_ptr<HandleStore> store_;
  UnappliedHandles unapplied_;
  std::vector<PacketRef> first_;  // scratch: what goes out before the present TLP
  bool flush_is_out_ = false;
  unsigned failed_flushes_ = 0;  // in a row
  bool can_flush_ = false;       // of the message at hand
  Asker tlps_, lines_;
  struct Counts {
    std::uint64_t deallocs = 0, bypasses = 0, flushes = 0, acks = 0, refused = 0, kept = 0;
  } counts_, window_;
  StallCount window_stall_;
  SoftwareHooks software_;
  bool has_dealloc_command_ = false;  // in the handle registers
  struct Order {
    DeallocOrder order;
    Bdf addressed;
    HandleStatus status = HandleStatus::kOk;  // else nothing is done
  };
  std::vector<Order> orders_;    // of the host, not answered; at most kDeallocOrders, oldest first
  std::vector<Holder> holders_;  // by domain under whose name a handle is kept
};

}  // namespace flitwise
