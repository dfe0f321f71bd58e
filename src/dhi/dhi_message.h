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
inline constexpr unsigned kAllocContextPayloadDw = 3;  ///< the process, then its context

/// Why bytes that call themselves a DHI message are not one.
enum class DhiMessageError : std::uint8_t {
  kNotDhi,         ///< not a Vendor_Defined Type 1 message of ours
  kBadOpcode,      ///< unknown opcode
  kBadLength,      ///< payload missing, short or long for the opcode
  kReservedBits,   ///< a reserved bit is set, or a context that there cannot be
  kHandleTooWide,  ///< a handle field above 4,095
  kBadScope,       ///< DEALLOC range with its bounds the wrong way round
  kBadRouting,     ///< neither to the root complex (up) nor by ID (down), as the opcode asks for
  kPoisoned,       ///< EP: the contents are not to be trusted
  kNotOrdered,     ///< RO or IDO set: it could overtake [DHI D8]
};
const char* name_of(DhiMessageError error);

/// A DeallocMessage is the device's own DEALLOC, a DeallocOrder the host's.
using DhiMessage = std::variant<AllocMessage, DeallocMessage, AllocAckMessage, HandleErrorMessage,
                                DeallocOrder, DeallocDone, DhiMessageError>;

/// True for a message that parse() should look at; all others are somebody else's.
bool is_dhi_message(const Tlp& tlp);

/// Sets the whole header (RO=IDO=0, full identity) and the payload. ALLOC, DEALLOC and DONE go
/// upstream, the others by ID to `destination`. REQUIRES: no DhiMessageError. [DHI D8, D11, D15]
void write_dhi_message(Tlp& tlp, std::vector<std::uint8_t>& payload, Bdf requester_id,
                       const DhiMessage& message, Bdf destination = {});
/// The same into a packet, with its purpose set (an ERROR leaves it kNone).
void write_dhi_message(Packet& packet, Bdf requester_id, const DhiMessage& message,
                       Bdf destination = {});

/// Reads any header and any bytes; never throws.
DhiMessage parse_dhi_message(const Tlp& tlp, const std::uint8_t* payload, std::size_t bytes);

}  // namespace flitwise
