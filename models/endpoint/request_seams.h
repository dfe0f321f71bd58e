// SPDX-License-Identifier: Apache-2.0
/// What the parts of a device share, and what those that make requests ask of each other, as in
/// device_seams.h.
#pragma once

#include <cstdint>
#include <vector>

#include "common/packet_sizer.h"
#include "endpoint/device_functions.h"
#include "endpoint/device_seams.h"
#include "endpoint/engine.h"
#include "endpoint/outstanding_requests.h"

namespace flitwise {

/// What the parts of a device share.
struct DeviceParts {
  PacketPool& pool;
  const PacketSizer& sizer;
  const DeviceFunctions& functions;
  const RequestControl& control;
  DeviceOutput& output;
  DeviceEvents& events;
};

/// What can be sent next.
enum class NextTransfer : std::uint8_t {
  kSend,  ///< a transfer is being cut into TLPs, or one that had waited goes on
  kNew,   ///< an engine may give one
  kFull,  ///< none can be taken
};

/// Transfers of the engines on their way to become TLPs. Implemented by RequestPath.
class TransferPath {
 public:
  virtual NextTransfer next(Time now) = 0;
  /// After kNew: this one is taken.
  virtual void begin(Engine& engine, const Transfer& transfer, Time now) = 0;
  /// One TLP of the present transfer; false where it has to wait. REQUIRES: next() said kSend, or
  /// begin().
  virtual bool send_next(Time now) = 0;
  /// A packet has been given to the link.
  virtual void sent(const Packet& packet, HandlePin posted_pin) = 0;
  /// A completion; false: no request waits for it.
  virtual bool complete(Packet& packet, Time now) = 0;
  virtual void check_timeouts(Time now) = 0;
  /// Tells engines of transfers that are over by now.
  virtual void end_due(Time now) = 0;
  virtual Time next_end() const = 0;  ///< never: none

 protected:
  ~TransferPath() = default;
};

/// Tags, for parts that make requests of their own. Implemented by RequestPath.
class TagTable {
 public:
  virtual std::size_t free_tags(unsigned function) = 0;
  /// The read gets a tag and waits for its completions; a flush belongs to no transfer.
  virtual void open_read(Packet& packet, HandlePin pin, Time now) = 0;
  /// Likewise a Translation Request, which the slot stands for.
  virtual void open_translation(unsigned function, const PacketRef& packet, HandlePin pin,
                                std::uint32_t slot, Time now) = 0;
  virtual void close_translation(unsigned function, std::uint16_t tag) = 0;
  /// The transfer will never come to its data: what of it is out goes on alone.
  virtual void fail(std::uint32_t transfer, TransferStatus status, Time now) = 0;

 protected:
  ~TagTable() = default;
};

/// Handles of the domains. Implemented by DhiAgent.
class Handles {
 public:
  enum class Outcome : std::uint8_t {
    kFull,
    kHandle,
    kWait,
    kUnnamed,  ///< requests of CXL.cache: no handle, and the message has no room for the identity
  };
  struct Answer {
    Outcome outcome = Outcome::kFull;
    Dhi dhi{};
    HandlePin pin;
    bool must_keep_order = false;  ///< RO and IDO have to be 0 [DHI D8]
    Time latency{};                ///< of the table
  };
  /// The handle for one TLP of the transfer, of this kind; what has to go out first goes: DEALLOC,
  /// ALLOC and a flush. kWait: ask again when something has completed. [DHI D7, D8, D9]
  virtual Answer acquire(const Transfer& transfer, const DeviceIdentity& identity, Op op,
                         std::size_t free_tags, Time now) = 0;
  virtual bool is_active() const = 0;
  /// A posted use has been given to the link.
  virtual void posted_sent(HandlePin pin) = 0;
  /// Of the last posted use so far. [DHI D10]
  virtual std::uint64_t posted_serial() const = 0;
  /// The request has ended, with what it has shown of others.
  virtual void request_ended(const OutstandingRequest& request, TransferStatus status) = 0;
  /// Its handle is not in use any more. is_given_up: there was no answer.
  virtual void let_go(const OutstandingRequest& request, bool is_given_up) = 0;
  virtual void end_context(DomainId domain) = 0;

 protected:
  ~Handles() = default;
};

/// Which TLP goes out translated, and which has to wait. Implemented by TranslatedPath.
class Translations {
 public:
  enum class Step : std::uint8_t { kGo, kParked, kWait };
  struct Route {
    Step step = Step::kGo;
    Time latency{};  ///< of the look-up
  };
  /// kSend: this parked transfer goes on. kFull: another could not be parked, and the wait for room
  /// is counted.
  virtual NextTransfer next(TransferCursor& cursor, Time now) = 0;
  /// After kNew: this one is taken.
  virtual void begun(const Transfer& transfer, std::uint32_t slot, Time now) = 0;
  /// How the next TLP of the present transfer goes; kParked: the transfer waits here.
  virtual Route route(const Transfer& transfer, const DeviceIdentity& identity,
                      const TransferCursor& cursor, Time now) = 0;
  /// Address, AT and IDO of that TLP; returns whether it names its PASID.
  virtual bool apply_route(Tlp& tlp, const DeviceIdentity& identity, const RequestPiece& piece) = 0;
  /// A read has its tag. is_flush: it is none of the present transfer.
  virtual void read_opened(unsigned function, std::uint16_t tag, bool is_flush) = 0;
  /// The routed TLP is on its way; has_more: the transfer has another one.
  virtual void piece_gone(bool has_more) = 0;
  /// All TLPs of the present transfer are.
  virtual void transfer_gone(Time now) = 0;
  /// The transfers of the function that wait here are given up, and the present one where it is one
  /// of them. Adds those that wait to `given_up`.
  virtual void drop(unsigned function, bool is_present, std::vector<std::uint32_t>& given_up) = 0;
  /// The read has its last completion, or will never have it.
  virtual void read_ended(unsigned function, std::uint16_t tag, const Tlp& request,
                          TransferStatus status, Time now) = 0;
  /// A Translation Completion for the request.
  virtual void complete(unsigned function, const Packet& packet, const OutstandingRequest& request,
                        Time now) = 0;
  /// It will have no answer. [ATR-25]
  virtual void give_up(unsigned function, const OutstandingRequest& request, Time now) = 0;
  /// The last transfer of a context is over.
  virtual void end_context(DomainId domain, bool counts, Time now) = 0;

 protected:
  ~Translations() = default;
};

}  // namespace flitwise
