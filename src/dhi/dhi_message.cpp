// SPDX-License-Identifier: Apache-2.0
// Bits of the DHI messages, as docs/formats/dhi_messages.md lays them out.
#include "dhi/dhi_message.h"

#include "common/byte_vector.h"
#include "common/ranges.h"

namespace flitwise {
namespace {

enum Opcode : std::uint32_t {
  kAlloc = 1,
  kDeallocOne = 2,
  kDeallocRange = 3,
  kDeallocFunction = 4,
  kDeallocAll = 5,
  kDone = 6,
  kAllocContext = 7,
  kAllocAck = 8,
  kError = 9,
};

constexpr std::uint32_t kDoneStatusMask = 0xf;  // of the handle field
static_assert(kHandleStatuses == kDoneStatusMask + 1, "every code of four bits is a status");
constexpr std::uint32_t kFlagPasid = 8, kFlagTrusted = 4, kFlagPmr = 2, kFlagEr = 1;

std::uint32_t flags_of(const AllocMessage& message) {
  return (message.identity.pasid ? kFlagPasid : 0U) | (message.is_trusted ? kFlagTrusted : 0U) |
         (message.identity.privileged_mode_requested ? kFlagPmr : 0U) |
         (message.identity.execute_requested ? kFlagEr : 0U);
}

// ---- reading

struct Fields {
  std::uint32_t opcode, flags;
  std::uint8_t epoch;
  Dhi dhi;
};

bool is_too_wide(std::uint32_t handle) {
  return handle > kHandleMask;
}

DhiMessage read_alloc(const Fields& fields, const std::uint8_t* payload) {
  const std::uint32_t first = dw_at(payload);
  const std::uint32_t second = dw_at(payload + 4);
  const bool has_pasid = (fields.flags & kFlagPasid) != 0;
  const bool names_process = second != 0 || (fields.flags & (kFlagPmr | kFlagEr)) != 0;
  if ((second >> kPasidBits) != 0 || (!has_pasid && names_process)) {
    return DhiMessageError::kReservedBits;
  }
  const DeviceIdentity identity(Bdf{static_cast<std::uint16_t>(first >> 16)},
                                has_pasid ? OptionalId<Pasid>(Pasid{second}) : std::nullopt,
                                (fields.flags & kFlagPmr) != 0, (fields.flags & kFlagEr) != 0);
  const bool names_context = fields.opcode == kAllocContext;
  const std::optional<ContextId> context =
      ContextId::of_word(names_context ? dw_at(payload + 8) : 0);
  if (!context || names_context != static_cast<bool>(*context)) {
    return DhiMessageError::kReservedBits;
  }
  return AllocMessage{
      fields.dhi,   identity, (fields.flags & kFlagTrusted) != 0, static_cast<std::uint16_t>(first),
      fields.epoch, *context};
}

// Upstream it is the device's own and has no tag; downstream it is an order. [DHI D11] [DHI D15]
DhiMessage read_dealloc(const Fields& fields, const std::uint8_t* payload, bool is_upstream) {
  if (is_upstream && fields.flags != 0) {
    return DhiMessageError::kReservedBits;
  }
  DeallocMessage message;
  message.epoch = fields.epoch;
  message.dhi = fields.dhi;
  message.scope = static_cast<DeallocScope>(fields.opcode - kDeallocOne);
  const bool has_data =
      message.scope == DeallocScope::kRange || message.scope == DeallocScope::kFunction;
  const std::uint32_t data = has_data ? dw_at(payload) : 0;
  if (message.scope == DeallocScope::kRange) {
    if ((data >> 16) != 0) {
      return DhiMessageError::kReservedBits;
    }
    if (is_too_wide(data)) {
      return DhiMessageError::kHandleTooWide;
    }
    message.upper = Dhi{static_cast<std::uint16_t>(data)};
    if (to_int(message.upper) < to_int(message.dhi)) {
      return DhiMessageError::kBadScope;
    }
  } else if (message.scope != DeallocScope::kOne &&
             ((data & 0xffffU) != 0 || to_int(fields.dhi) != 0)) {
    return DhiMessageError::kReservedBits;
  } else {
    message.function.value = static_cast<std::uint16_t>(data >> 16);
  }
  return is_upstream ? DhiMessage{message}
                     : DhiMessage{DeallocOrder{message, static_cast<std::uint8_t>(fields.flags)}};
}

DhiMessage read_done(const Fields& fields) {
  const std::uint32_t status = to_int(fields.dhi);
  if ((status & ~kDoneStatusMask) != 0) {
    return DhiMessageError::kReservedBits;
  }
  return DeallocDone{static_cast<std::uint8_t>(fields.flags), static_cast<HandleStatus>(status),
                     fields.epoch};
}

DhiMessage read_report(const Fields& fields) {
  const auto status = static_cast<HandleStatus>(fields.flags);
  if (fields.opcode == kAllocAck) {
    return AllocAckMessage{fields.dhi, status, fields.epoch};
  }
  return HandleErrorMessage{fields.dhi, status, fields.epoch};
}

/// What an opcode asks for; an unknown one goes nowhere.
struct Form {
  unsigned payload_dw;
  bool goes_up, goes_down;
};
constexpr Form kForms[16] = {{},
                             {kAllocPayloadDw, true, false},
                             {0, true, true},  // kDeallocOne and on
                             {1, true, true},
                             {1, true, true},
                             {0, true, true},
                             {0, true, false},  // kDone
                             {kAllocContextPayloadDw, true, false},
                             {0, false, true},  // kAllocAck, kError
                             {0, false, true}};

// ---- writing

/// Writes header and payload of each kind of message.
struct MessageWriter {
  Tlp& tlp;
  std::vector<std::uint8_t>& payload;
  Bdf requester_id, destination;

  void operator()(const AllocMessage& message) const {
    start(kUp, message.context ? kAllocContext : kAlloc, flags_of(message), message.epoch,
          message.dhi);
    add_data((static_cast<std::uint32_t>(message.identity.bdf.value) << 16) | message.capabilities);
    add_data(message.identity.pasid ? to_int(*message.identity.pasid) : 0U);
    if (message.context) {
      add_data(message.context.word());
    }
  }
  void operator()(const DeallocMessage& message) const { dealloc(kUp, {message, 0}); }
  void operator()(const DeallocOrder& order) const { dealloc(kDown, order); }
  void operator()(const DeallocDone& done) const {
    start(kUp, kDone, done.tag, done.epoch, Dhi{static_cast<std::uint16_t>(done.status)});
  }
  void operator()(const AllocAckMessage& message) const { report(kAllocAck, message); }
  void operator()(const HandleErrorMessage& message) const { report(kError, message); }
  void operator()(DhiMessageError /*error*/) const {}

 private:
  static constexpr MsgRouting kUp = MsgRouting::kToRootComplex, kDown = MsgRouting::kById;

  /// [DHI D8] Always RO=IDO=0, and the sender named in full.
  void start(MsgRouting routing, std::uint32_t opcode, std::uint32_t flags, std::uint8_t epoch,
             Dhi dhi) const {
    const Bdf target = routing == kUp ? Bdf{} : destination;
    tlp = Tlp{};
    tlp.type = TlpType::kMsg;
    tlp.routing = routing;
    tlp.message_code = msg::kVendorType1;
    tlp.requester_id = requester_id;
    tlp.message_dw2 = (static_cast<std::uint32_t>(target.value) << 16) | kHandleVendorId;
    tlp.message_dw3 =
        opcode << 28 | flags << 24 | static_cast<std::uint32_t>(epoch) << 16 | to_int(dhi);
    payload.clear();
  }
  void add_data(std::uint32_t value) const {
    tlp.type = TlpType::kMsgD;
    ++tlp.length_dw;
    put_dw(payload, value);
  }
  /// A DEALLOC of either direction.
  void dealloc(MsgRouting routing, const DeallocOrder& order) const {
    const DeallocMessage& message = order.message;
    const bool names_handle =
        message.scope == DeallocScope::kOne || message.scope == DeallocScope::kRange;
    start(routing, kDeallocOne + static_cast<std::uint32_t>(message.scope), order.tag,
          message.epoch, names_handle ? message.dhi : Dhi{});
    if (message.scope == DeallocScope::kRange) {
      add_data(to_int(message.upper));
    } else if (message.scope == DeallocScope::kFunction) {
      add_data(static_cast<std::uint32_t>(message.function.value) << 16);
    }
  }
  template <class Report>
  void report(Opcode opcode, const Report& message) const {
    start(kDown, opcode, static_cast<std::uint32_t>(message.status), message.epoch, message.dhi);
  }
};

}  // namespace

bool is_dhi_message(const Tlp& tlp) {
  return (tlp.type == TlpType::kMsg || tlp.type == TlpType::kMsgD) &&
         tlp.message_code == msg::kVendorType1 && (tlp.message_dw2 & 0xffffU) == kHandleVendorId;
}

void write_dhi_message(Tlp& tlp, std::vector<std::uint8_t>& payload, Bdf requester_id,
                       const DhiMessage& message, Bdf destination) {
  std::visit(MessageWriter{tlp, payload, requester_id, destination}, message);
}

void write_dhi_message(Packet& packet, Bdf requester_id, const DhiMessage& message,
                       Bdf destination) {
  // In the order of DhiMessage; an ERROR has none.
  constexpr HandlePurpose kPurposes[] = {HandlePurpose::kAlloc,   HandlePurpose::kDealloc,
                                         HandlePurpose::kAck,     HandlePurpose::kNone,
                                         HandlePurpose::kDealloc, HandlePurpose::kAck};
  packet.purpose = kPurposes[message.index()];
  write_dhi_message(packet.tlp, packet.payload, requester_id, message, destination);
}

DhiMessage parse_dhi_message(const Tlp& tlp, const std::uint8_t* payload, std::size_t bytes) {
  if (!is_dhi_message(tlp)) {
    return DhiMessageError::kNotDhi;
  }
  const std::uint32_t word = tlp.message_dw3;
  const std::uint32_t opcode = word >> 28;
  const Form& form = kForms[opcode];
  if (!form.goes_up && !form.goes_down) {
    return DhiMessageError::kBadOpcode;
  }
  const unsigned wanted_dw = form.payload_dw;
  if (tlp.type != (wanted_dw == 0 ? TlpType::kMsg : TlpType::kMsgD) || bytes != wanted_dw * 4U ||
      (wanted_dw != 0 && tlp.length_dw != wanted_dw)) {
    return DhiMessageError::kBadLength;
  }
  if (tlp.is_poisoned) {
    return DhiMessageError::kPoisoned;
  }
  if (tlp.relaxed_ordering || tlp.id_based_ordering) {
    return DhiMessageError::kNotOrdered;
  }
  const bool is_upstream = tlp.routing == MsgRouting::kToRootComplex;
  const bool is_downstream = tlp.routing == MsgRouting::kById;
  if (!(is_upstream && form.goes_up) && !(is_downstream && form.goes_down)) {
    return DhiMessageError::kBadRouting;
  }
  if (tlp.id_is_handle || (is_upstream && (tlp.message_dw2 >> 16) != 0)) {
    return DhiMessageError::kReservedBits;
  }
  if (is_too_wide(word & 0xffffU)) {
    return DhiMessageError::kHandleTooWide;
  }
  const Fields fields{opcode, (word >> 24) & 0xfU, static_cast<std::uint8_t>(word >> 16),
                      Dhi{static_cast<std::uint16_t>(word)}};
  if (opcode == kAlloc || opcode == kAllocContext) {
    return read_alloc(fields, payload);
  }
  if (opcode == kDone) {
    return read_done(fields);
  }
  return opcode <= kDeallocAll ? read_dealloc(fields, payload, is_upstream) : read_report(fields);
}

const char* name_of(DhiMessageError error) {
  static constexpr const char* kNames[] = {"not_dhi",       "bad_opcode",      "bad_length",
                                           "reserved_bits", "handle_too_wide", "bad_scope",
                                           "bad_routing",   "poisoned",        "not_ordered"};
  return name_in(kNames, error);
}

}  // namespace flitwise
