// SPDX-License-Identifier: Apache-2.0
/// The device's use of handles: looks one up for each message, allocates and evicts, and says which
/// messages of its own have to go out first. Rules: src/dhi.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "dhi/device_handle_table.h"
#include "dhi/dhi_message.h"
#include "dhi/handle_store.h"
#include "dhi/negotiation.h"
#include "dhi/unapplied_handles.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "flitwise/result.h"

namespace flitwise {

class DhiAgent {
 public:
  DhiAgent(const DeviceConfig& device, PacketPool& pool);

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
  bool is_active() const { return is_active_; }

  enum class Outcome : std::uint8_t { kFull, kHandle, kWait };
  struct Answer {
    Outcome outcome = Outcome::kFull;
    Dhi dhi{};
    HandlePin pin;
    bool must_keep_order = false;  ///< RO and IDO have to be 0 [DHI D8]
    Time latency{};                ///< of the table
  };
  /// The handle for one TLP. Messages that have to go out before it are appended to `first`:
  /// DEALLOC, ALLOC, and a flush (an MRd packet without tag and address). kWait: ask again when
  /// something has completed. [DHI D7, D8, D9]
  Answer acquire(DomainId domain, const DeviceIdentity& identity, UseKind kind, bool can_flush,
                 std::vector<PacketRef>& first);

  /// Facts from the shell. [DHI D10]
  void posted_sent(HandlePin pin) { table_->sent(pin); }  // REQUIRES: the pin came from acquire()
  std::uint64_t posted_serial() const { return table_ ? table_->posted_serial() : 0; }
  void nonposted_done(HandlePin pin) { table_->completed(pin); }  // likewise
  /// Likewise; it may be on its way. True: from now on the handle is kept. [DHI S2]
  bool nonposted_given_up(HandlePin pin);
  void pushed_through(std::uint64_t serial);
  void flush_done(std::uint64_t serial);
  /// The flush was refused, or had no answer: it says nothing. After some in a row nobody waits
  /// for one any more: a message that needs another's handle goes in full, whatever
  /// device.dhi.on_miss says. Each such message tries one flush, so that the device recovers.
  void flush_failed(bool was_answered);
  std::uint64_t flushes() const { return counts_.flushes; }  ///< sent
  void end_context(DomainId domain);
  /// The context starts: with allocate_at context_creation it has its handle from here on, if there
  /// is one. Messages are appended to `first`. Returns the latency of the table. [DHI D13]
  Time start_context(DomainId domain, const DeviceIdentity& identity,
                     std::vector<PacketRef>& first);

  /// Software's ALLOC and DEALLOC; a DEALLOC is done when drain() says so. [DHI D12, D15]
  HandleStatus install(DomainId domain, const AllocMessage& message);
  void deallocate(const DeallocMessage& message);
  /// The host's DEALLOC, addressed to one function of the device, whose function 0 is `base`. It is
  /// taken whatever is under way. Returns nullptr, or why it is dropped.
  /// [DHI D15]
  const char* take(const DeallocOrder& order, Bdf addressed, Bdf base);
  /// Gives up what the host asked for, as far as it is not in use any more; DONE is appended to
  /// `first` for each order. [DHI D10] [DHI D15]
  void answer_orders(std::vector<PacketRef>& first);
  std::size_t orders() const { return orders_.size(); }  ///< not answered
  /// Handles are being given up, now or soon.
  bool is_draining() const { return is_active_ && (table_->is_draining() || !orders_.empty()); }
  /// Gives up what has drained; what has to go out for that is appended to `first`. [DHI D10]
  void drain(Bdf bdf, bool can_flush, std::vector<PacketRef>& first);
  /// Entries of one function are gone at once. [DHI D4]
  void reset_function(Bdf bdf);

  /// A DHI message from the host. Returns nullptr, or what has to be counted: alloc_refused, or
  /// what is wrong with the message, which then changes nothing. [DHI D8, D16]
  const char* receive(const DhiMessage& message);

  /// Whom a message from the host with a handle is for; nobody where there is no entry. [DHI D22]
  struct Addressee {
    std::optional<DeviceResolution> entry;
    Time latency{};
  };
  Addressee find_addressee(Dhi dhi);

  DhiResult result(const std::string& device) const;
  void start_window();
  DeviceHandleTable* table() { return table_.get(); }
  const DeviceHandleTable* table() const { return table_.get(); }

 private:
  Answer use(Dhi dhi, UseKind kind, Time latency);
  Answer miss(DomainId domain, const DeviceIdentity& identity, UseKind kind,
              std::vector<PacketRef>& first);
  Answer wait_or_bypass(MissOutcome outcome, const DeviceIdentity& identity,
                        std::vector<PacketRef>& first);
  Time allocate(DomainId domain, const DeviceIdentity& identity, std::vector<PacketRef>& first);
  const char* acknowledged(const AllocAckMessage& message);
  const char* reported(const HandleErrorMessage& message);
  void refused(Dhi dhi, DomainId domain, HandleStatus status);
  Packet& add(std::vector<PacketRef>& first);
  void send_dealloc(Dhi dhi, Bdf bdf, std::vector<PacketRef>& first);
  void request_flush(Bdf bdf, std::vector<PacketRef>& first);
  bool is_new_context(DomainId domain);
  bool flushes_fail() const { return failed_flushes_ >= kMostFailedFlushes; }

  /// model: so many refused ones in a row, or one that had no answer, are enough.
  static constexpr unsigned kMostFailedFlushes = 4;

  const DeviceConfig config_;
  PacketPool& pool_;
  bool is_active_ = false;
  bool is_software_managed_ = false;
  std::unique_ptr<DeviceHandleTable> table_;  // kept, so that pins of the past stay harmless
  std::unique_ptr<HandleStore> store_;
  UnappliedHandles unapplied_;
  bool flush_is_out_ = false;
  unsigned failed_flushes_ = 0;           // in a row
  bool can_flush_ = false;                // of the message at hand
  DomainId waiting_domain_{0xffff'ffff};  // its lookup has been counted already
  struct Counts {
    std::uint64_t deallocs = 0, bypasses = 0, flushes = 0, acks = 0, refused = 0, kept = 0;
  } counts_, window_;
  SoftwareHooks software_;
  struct Order {
    DeallocOrder order;
    Bdf addressed;
    HandleStatus status = HandleStatus::kOk;  // else nothing is done
  };
  std::vector<Order> orders_;  // of the host, not answered; at most kDeallocOrders, oldest first
  std::vector<bool> has_started_;  // contexts that are known, by domain
  std::vector<bool> has_refusal_;  // domains that go in full until their context starts again
};

}  // namespace flitwise
