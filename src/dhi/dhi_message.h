// SPDX-License-Identifier: Apache-2.0
/// DHI ALLOC, DEALLOC, DONE, ALLOC_ACK and ERROR as vendor-defined messages; layout in
/// docs/formats/dhi_messages.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "dhi/handle_types.h"
#include "flitwise/packet.h"
#include "flitwise/tlp.h"

namespace flitwise {

/// model: see kModelVendor.
inline constexpr std::uint16_t kHandleVendorId = kModelVendor;

inline constexpr unsigned kAllocPayloadDw = 2;

/// Why bytes that call themselves a DHI message are not one.
enum class DhiMessageError : std::uint8_t {
  kNotDhi,         ///< not a Vendor_Defined Type 1 message of ours
  kBadOpcode,      ///< unknown opcode
  kBadLength,      ///< payload missing, short or long for the opcode
  kReservedBits,   ///< a reserved bit is set
  kHandleTooWide,  ///< a handle field above 4,095
  kBadScope,       ///< DEALLOC range with its bounds the wrong way round
  kBadStatus,      ///< unknown status code
  kBadRouting,     ///< neither to the root complex (up) nor by ID (down), as the opcode asks for
  kPoisoned,       ///< EP: the contents are not to be trusted
  kNotOrdered,     ///< RO or IDO set: it could overtake [DHI D8]
};
const char* name_of(DhiMessageError error);

using DhiMessage = std::variant<AllocMessage, DeallocMessage, AllocAckMessage, HandleErrorMessage,
                                DeallocOrder, DeallocDone, DhiMessageError>;

/// True for a message that parse() should look at; all others are somebody else's.
bool is_dhi_message(const Tlp& tlp);

/// Upstream. Sets the whole header (RO=IDO=0, full identity) and the payload. [DHI D8, D11]
void write_alloc(Tlp& tlp, std::vector<std::uint8_t>& payload, Bdf requester_id,
                 const AllocMessage& message);
/// Upstream; kRange and kFunction carry one DW of payload.
void write_dealloc(Tlp& tlp, std::vector<std::uint8_t>& payload, Bdf requester_id,
                   const DeallocMessage& message);
/// The host's: downstream, by ID to `destination`. [DHI D15]
void write_order(Tlp& tlp, std::vector<std::uint8_t>& payload, Bdf requester_id, Bdf destination,
                 const DeallocOrder& order);
/// The answer to it: upstream, from the function that it went to.
void write_done(Tlp& tlp, std::vector<std::uint8_t>& payload, Bdf requester_id,
                const DeallocDone& done);
/// Downstream, by ID to `destination`.
void write_alloc_ack(Tlp& tlp, std::vector<std::uint8_t>& payload, Bdf requester_id,
                     Bdf destination, const AllocAckMessage& message);
void write_error(Tlp& tlp, std::vector<std::uint8_t>& payload, Bdf requester_id, Bdf destination,
                 const HandleErrorMessage& message);

/// The same into a packet, with its purpose set (an ERROR has none).
inline void write_alloc(Packet& packet, Bdf requester_id, const AllocMessage& message) {
  packet.purpose = HandlePurpose::kAlloc;
  write_alloc(packet.tlp, packet.payload, requester_id, message);
}
inline void write_dealloc(Packet& packet, Bdf requester_id, const DeallocMessage& message) {
  packet.purpose = HandlePurpose::kDealloc;
  write_dealloc(packet.tlp, packet.payload, requester_id, message);
}
inline void write_order(Packet& packet, Bdf requester_id, Bdf destination,
                        const DeallocOrder& order) {
  packet.purpose = HandlePurpose::kDealloc;
  write_order(packet.tlp, packet.payload, requester_id, destination, order);
}
inline void write_done(Packet& packet, Bdf requester_id, const DeallocDone& done) {
  packet.purpose = HandlePurpose::kAck;
  write_done(packet.tlp, packet.payload, requester_id, done);
}
inline void write_alloc_ack(Packet& packet, Bdf requester_id, Bdf destination,
                            const AllocAckMessage& message) {
  packet.purpose = HandlePurpose::kAck;
  write_alloc_ack(packet.tlp, packet.payload, requester_id, destination, message);
}
inline void write_error(Packet& packet, Bdf requester_id, Bdf destination,
                        const HandleErrorMessage& message) {
  write_error(packet.tlp, packet.payload, requester_id, destination, message);
}

/// Reads any header and any bytes; never throws.
DhiMessage parse_dhi_message(const Tlp& tlp, const std::uint8_t* payload, std::size_t bytes);

}  // namespace flitwise
