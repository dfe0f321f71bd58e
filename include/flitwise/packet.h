// SPDX-License-Identifier: Apache-2.0
/// The one thing that travels: a TLP, a DLLP, a bit-packed message or a flit with its size by
/// cause, its identity, its payload and the times at which it passed each hop. Counted references,
/// pooled. What stands on the wire stays once sent; beside it hops stamp their time, links note
/// which credits were used, switches drop a note that the wire does not carry, the root port notes
/// whom a handle stands for, and the requester whether a read was its whole request.
#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "flitwise/dllp.h"
#include "flitwise/ids.h"
#include "flitwise/time.h"
#include "flitwise/tlp.h"

namespace flitwise {

enum class TlpViolation : std::uint8_t;  // tlp/tlp_check.h

struct Flit;        // flitwise/flit.h
struct CxlMessage;  // flitwise/cxl.h

/// Those with contents of their own last.
enum class PacketKind : std::uint8_t { kTlp, kDllp, kMessage, kFlit, kCxl };

/// Bits of one packet by cause, as they will stand on the wire; line coding and idle are the wire's
/// own. Unit: bit.
struct WireSize {
  std::uint32_t header = 0;
  std::uint32_t identity = 0;  ///< what is there only to name the domain
  std::uint32_t payload = 0;
  std::uint32_t padding = 0;
  std::uint32_t framing = 0;
  std::uint32_t crc = 0;
  std::uint32_t dllp = 0;
  std::uint32_t fec = 0;
  std::uint32_t idle = 0;    ///< fill of a flit
  std::uint32_t replay = 0;  ///< of TLPs that share a flit with new ones and are sent again
  std::uint32_t total() const {
    return header + identity + payload + padding + framing + crc + dllp + fec + idle + replay;
  }
};

/// Places where a packet is stamped with the time, in the order of a request's life
/// (docs/life_of_a_tlp.md).
enum class Hop : std::uint8_t {
  kIssue,      ///< the engine asked for it
  kHandle,     ///< its identity is settled: handle found, allocated or bypassed
  kQueued,     ///< accepted by the transaction queues of its first link
  kSent,       ///< first symbol on its first wire
  kReceived,   ///< last symbol checked and accepted by the data link layer of the last link
  kResolved,   ///< root port: handle turned back into BDF and PASID
  kMemory,     ///< write: committed; read: data there
  kCompleted,  ///< the requester has its last completion
};
inline constexpr int kHops = 8;
inline constexpr Time kNotStamped{-1};
const char* name_of(Hop hop);  ///< "issue", "handle", ...

/// What a packet carries for DHI's sake; its wire bytes are counted as identity. [DHI D8, D11]
enum class HandlePurpose : std::uint8_t { kNone, kAlloc, kDealloc, kFlush, kAck };

class PacketPool;

/// What several write TLPs of one request have in common: the request is over with its last byte in
/// memory. Counted references, pooled like packets.
class WriteRequest {
 public:
  std::uint64_t bytes_left = 0;  ///< not in memory yet
  Time last{};                   ///< when the latest of the others came there

 private:
  friend class PacketPool;
  friend void intrusive_ptr_add_ref(WriteRequest* request);
  friend void intrusive_ptr_release(WriteRequest* request);

  PacketPool* pool_ = nullptr;
  std::uint32_t references_ = 0;
};

using WriteRequestRef = boost::intrusive_ptr<WriteRequest>;

/// What of a packet starts anew whenever the pool hands it out.
struct PacketFields {
  std::uint64_t uid = 0;  ///< unique in a run
  PacketKind kind = PacketKind::kTlp;
  HandlePurpose purpose = HandlePurpose::kNone;
  bool counts = true;  ///< belongs to the measured part of the run (after run.warmup)
  /// The only TLP of its engine's request; of a read also the last one to be answered. Not a wire
  /// field.
  bool is_whole_request = true;
  bool length_only = false;  ///< payload bytes are not carried, only counted
  /// Its data is the protocol's own, such as a translation: no payload, and no payload_bytes.
  bool has_protocol_data = false;
  bool is_raw =
      false;  ///< made as it stands by a script or a hostile device, or answers such a one
  bool answers_io_or_cfg_write =
      false;  ///< what a Cpl does not say, but who made it knows; not a wire field [LNK-9.6]
  /// Flit mode with shared credits: on the link that it was sent on last it takes dedicated ones of
  /// a class that has both, and a local prefix says so. [LNK-11.25]
  bool uses_dedicated_credits = false;
  /// Its bytes do not decode: the receiver counts this violation and drops it. tlp then holds what
  /// flow control charges, size what the wire carries.
  std::optional<TlpViolation> malformed;
  bool has_bad_ecrc = false;  ///< it bears an ECRC that does not fit it [LNK-12.6]
  Tlp tlp;
  Dllp dllp;
  DomainId domain{};          ///< whose message it is; not a wire field
  DeviceIdentity identity;    ///< the same in full, whatever the wire carries; not a wire field
  bool has_identity = false;  ///< the field above is set: the packet comes from an engine
  std::optional<DeviceIdentity> resolved;  ///< what the host found behind the handle
  /// Of that process, where a handle names one: what the engine means, and what the host, or the
  /// device of what comes down, found. Not wire fields. [DHI D22]
  ContextId context, resolved_context;
  std::uint32_t request = 0;  ///< engine's own index of the request it belongs to; not a wire field
  std::uint32_t payload_bytes = 0;  ///< enabled bytes, what a user would call the payload
  WireSize size;
};

class Packet : public PacketFields {
 public:
  /// length_dw * 4 bytes unless length_only; keeps its capacity in the pool.
  std::vector<std::uint8_t> payload;
  std::array<Time, kHops> stamps;
  WriteRequestRef write;            ///< MWr: the request that it is a part of, if it is not whole
  std::unique_ptr<Flit> flit;       ///< kFlit: never null
  std::unique_ptr<CxlMessage> cxl;  ///< kCxl, a message of CXL.cache or CXL.mem: never null

  void stamp(Hop hop, Time now) { stamps[static_cast<std::size_t>(hop)] = now; }
  Time stamped(Hop hop) const { return stamps[static_cast<std::size_t>(hop)]; }

  ~Packet();
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;

 private:
  friend class PacketPool;
  friend void intrusive_ptr_add_ref(Packet* packet);
  friend void intrusive_ptr_release(Packet* packet);
  Packet() = default;

  PacketPool* pool_ = nullptr;
  std::uint32_t references_ = 0;
};

/// Made as it stands, as against an answer to such a packet.
inline bool is_sent_raw(const Packet& packet) {
  return packet.is_raw && packet.stamped(Hop::kIssue) != kNotStamped;
}

using PacketRef = boost::intrusive_ptr<Packet>;

/// Owns every packet of a run. Not thread-safe. Must outlive all references.
class PacketPool {
 public:
  PacketPool() = default;
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  /// A clean packet: defaults everywhere, fresh uid, no stamps.
  /// Payload of so many bytes is for the caller to fill: they are those of an older packet.
  PacketRef make(PacketKind kind, std::size_t payload_bytes = 0);
  /// A request for the write TLPs that it will be cut into.
  WriteRequestRef make_write(std::uint64_t bytes);
  std::size_t in_use() const { return all_.size() - free_.size(); }
  std::size_t allocated() const { return all_.size(); }

 private:
  friend void intrusive_ptr_release(Packet* packet);
  friend void intrusive_ptr_release(WriteRequest* request);
  /// Never inline: letting go of a reference is common, and of the last one rare.
  [[gnu::noinline]] void recycle(Packet* packet);
  static void add_contents(Packet& packet);

  std::vector<std::unique_ptr<WriteRequest>> all_writes_;  // packets refer to them
  std::vector<WriteRequest*> free_writes_;
  std::vector<std::unique_ptr<Packet>> all_;
  std::vector<Packet*> free_;
  std::uint64_t next_uid_ = 1;
};

inline void intrusive_ptr_add_ref(WriteRequest* request) {
  ++request->references_;
}
inline void intrusive_ptr_release(WriteRequest* request) {
  if (--request->references_ == 0) {
    request->pool_->free_writes_.push_back(request);
  }
}
inline void intrusive_ptr_add_ref(Packet* packet) {
  ++packet->references_;
}
inline void intrusive_ptr_release(Packet* packet) {
  if (--packet->references_ == 0) {
    packet->pool_->recycle(packet);
  }
}

}  // namespace flitwise
