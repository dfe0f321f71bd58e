// SPDX-License-Identifier: Apache-2.0
/// What a function shell and the engines on it say to each other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "endpoint/bar_map.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"
#include "hca/structure_registers.h"
#include "tlp/splitter.h"
#include "workload/workload.h"

namespace flitwise {

struct DeviceControl;

/// One piece of work for the shell: it becomes one or more TLPs of one domain, in address order.
struct Transfer {
  Op op = Op::kWrite;  ///< kWrite, kRead or kMsi
  DomainId domain{};
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;                      ///< 0: a zero-length read
  Time issue{};                                 ///< when the engine asked
  Time ready{};                                 ///< from when on it was due
  std::uint32_t token = 0;                      ///< engine's own, comes back in finished()
  bool counts = true;                           ///< belongs to the measured part
  std::uint16_t steering_tag = kNoSteeringTag;  ///< of a write, which has TH then [PIO-8.3]
  bool ends_context = false;                    ///< the domain's context ends with it
  bool keeps_order = false;                     ///< it passes nothing: RO and IDO are 0
  /// Of a static structure of its function; the address lies in it then. [EP-5]
  std::optional<StaticStructure> structure = {};
  const std::uint8_t* data = nullptr;  ///< bytes to write; null: a pattern
};

/// A transfer that is being cut into TLPs, and where it stands: `piece` is the TLP that goes next.
struct TransferCursor {
  std::uint32_t transfer = 0;  ///< slot of the request path
  RequestSplitter splitter{0, 0, 128};
  RequestPiece piece;
};

enum class TransferStatus : std::uint8_t {
  kDone,
  kUnsupportedRequest,
  kCompleterAbort,
  kTimeout,
  kPoisoned,      ///< an answer came whose data is not to be used [LNK-9.26]
  kContextEnded,  ///< it was never sent, or not to its end: its context or its function is gone
};

/// A transfer is over: a write when its last TLP is queued for the link, a read when its last byte
/// has come through the pipeline.
struct TransferEnd {
  std::uint32_t token = 0;
  Op op = Op::kWrite;
  TransferStatus status = TransferStatus::kDone;
  Time when{};
};

/// A source of work on a function shell: DMA, credit returns of PIO, SDMA, what a port receives.
class Engine {
 public:
  virtual ~Engine() = default;
  /// The next transfer, or false where there is none now.
  virtual bool next(Time now, Transfer& transfer) = 0;
  /// When next() is worth asking again though nothing came back; never if only finished() can
  /// change that.
  virtual Time next_at() const = 0;
  virtual void finished(const TransferEnd& end) = 0;
  /// Bytes that came back for a read, `offset` into the transfer.
  virtual void data(std::uint32_t /*token*/, std::uint64_t /*offset*/,
                    const std::uint8_t* /*bytes*/, std::size_t /*size*/) {}
  /// Claims what it has in BAR 0, when it is put on a device.
  virtual void claim(BarMap& /*map*/) {}
  /// All work has been given out and has come back.
  virtual bool is_done() const = 0;
  /// What it waits for, for a deadlock report: "3 reads wait for ..."; empty where for nothing.
  virtual std::string waits_for() const = 0;
};

/// A source of TLPs as they stand, past the rules of the function shell: tags, identity, handles
/// and lengths are whatever it says.
class RawEngine {
 public:
  virtual ~RawEngine() = default;
  /// Whether memory and I/O requests of that function may leave, which is Bus Master Enable; of
  /// nullopt: requests that ask for the PF's enable alone.
  using MaySend = std::function<bool(std::optional<Bdf>)>;
  /// The next TLP, sized; null: none now. Endpoint::wake() when there is one again. Messages and
  /// completions come whatever `may_send` says.
  virtual PacketRef next(const MaySend& may_send) = 0;
  /// Software has written Device Control of the PF, or a reset has cleared it.
  virtual void controlled(const DeviceControl& /*control*/) {}
  /// A completion that no request of the shell waits for; true: this engine has waited for it.
  virtual bool complete(const Packet& packet, Time now) = 0;
  /// The first of its requests that has waited for the completion timeout, or, where the link is
  /// lost, that is out at all: it waits no longer. Null: there is none. [LNK-9.18] [LNK-10.6]
  virtual PacketRef give_up_next(Time /*now*/, bool /*is_link_lost*/) { return {}; }
  /// When a request may have waited for so long; never where none is out.
  virtual Time next_timeout(Time /*now*/) const { return Time::never(); }
  /// All TLPs have been given out, and what they wait for has come.
  virtual bool is_done() const = 0;
  /// What it waits for, for a deadlock report; empty where for nothing.
  virtual std::string waits_for() const = 0;
};

}  // namespace flitwise
