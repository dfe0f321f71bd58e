// SPDX-License-Identifier: Apache-2.0
// The table of operations, and the opcodes that transports make of it. [ROCE-3]
#include "network/roce_opcodes.h"

#include <array>

namespace flitwise {
namespace {

using Id = RoceHeaderId;

enum Transports : std::uint8_t { kRc = 1, kUc = 2, kUd = 4, kConnected = kRc | kUc, kAll = 7 };

struct Payload {
  std::uint16_t least, most;
};
constexpr Payload kNone{0, 0}, kAny{0, kMostRocePayload}, kSome{1, kMostRocePayload};

struct Operation {
  std::uint8_t code;
  const char* name;
  Transports transports;
  Payload payload;
  std::vector<Id> headers;
};

const std::vector<Operation>& operations() {
  static const std::vector<Operation> kOperations = {
      {0x00, "SEND_FIRST", kConnected, kSome, {}},
      {0x01, "SEND_MIDDLE", kConnected, kSome, {}},
      {0x02, "SEND_LAST", kConnected, kSome, {}},
      {0x03, "SEND_LAST_WITH_IMMEDIATE", kConnected, kSome, {Id::kImmDt}},
      {0x04, "SEND_ONLY", kAll, kAny, {}},
      {0x05, "SEND_ONLY_WITH_IMMEDIATE", kAll, kAny, {Id::kImmDt}},
      {0x06, "RDMA_WRITE_FIRST", kConnected, kSome, {Id::kReth}},
      {0x07, "RDMA_WRITE_MIDDLE", kConnected, kSome, {}},
      {0x08, "RDMA_WRITE_LAST", kConnected, kSome, {}},
      {0x09, "RDMA_WRITE_LAST_WITH_IMMEDIATE", kConnected, kSome, {Id::kImmDt}},
      {0x0a, "RDMA_WRITE_ONLY", kConnected, kAny, {Id::kReth}},
      {0x0b, "RDMA_WRITE_ONLY_WITH_IMMEDIATE", kConnected, kAny, {Id::kReth, Id::kImmDt}},
      {0x0c, "RDMA_READ_REQUEST", kRc, kNone, {Id::kReth}},
      {0x0d, "RDMA_READ_RESPONSE_FIRST", kRc, kSome, {Id::kAeth}},
      {0x0e, "RDMA_READ_RESPONSE_MIDDLE", kRc, kSome, {}},
      {0x0f, "RDMA_READ_RESPONSE_LAST", kRc, kSome, {Id::kAeth}},
      {0x10, "RDMA_READ_RESPONSE_ONLY", kRc, kAny, {Id::kAeth}},
      {0x11, "ACKNOWLEDGE", kRc, kNone, {Id::kAeth}},
      {0x12, "ATOMIC_ACKNOWLEDGE", kRc, kNone, {Id::kAeth, Id::kAtomicAckEth}},
      {0x13, "COMPARE_SWAP", kRc, kNone, {Id::kAtomicEth}},
      {0x14, "FETCH_ADD", kRc, kNone, {Id::kAtomicEth}},
      {0x16, "SEND_LAST_WITH_INVALIDATE", kRc, kSome, {Id::kIeth}},
      {0x17, "SEND_ONLY_WITH_INVALIDATE", kRc, kAny, {Id::kIeth}},
      {0x1c, "FLUSH", kRc, kNone, {Id::kFeth, Id::kReth}},
      {0x1d, "ATOMIC_WRITE", kRc, {8, 8}, {Id::kReth}},
  };
  return kOperations;
}

struct Transport {
  Transports bit;
  std::uint8_t base;
  const char* prefix;
  std::vector<Id> first;  // before the headers of the operation
};

std::vector<RoceOpcode> all_opcodes() {
  const std::vector<Transport> transports = {
      {kRc, 0x00, "RC_", {}}, {kUc, 0x20, "UC_", {}}, {kUd, 0x60, "UD_", {Id::kDeth}}};
  std::vector<RoceOpcode> all;
  for (const Transport& transport : transports) {
    for (const Operation& operation : operations()) {
      if ((operation.transports & transport.bit) != 0) {
        std::vector<Id> headers = transport.first;
        headers.insert(headers.end(), operation.headers.begin(), operation.headers.end());
        all.push_back({static_cast<std::uint8_t>(transport.base + operation.code),
                       std::string(transport.prefix) + operation.name, headers,
                       operation.payload.least, operation.payload.most});
      }
    }
  }
  all.push_back({kCnpOpcode, "CNP", {Id::kCnp}, 0, 0});
  return all;
}

}  // namespace

const std::vector<RoceOpcode>& roce_opcodes() {
  static const std::vector<RoceOpcode> kOpcodes = all_opcodes();
  return kOpcodes;
}

const RoceOpcode* roce_opcode(std::uint8_t code) {
  static const auto kByCode = [] {
    std::array<const RoceOpcode*, 256> by_code{};
    for (const RoceOpcode& opcode : roce_opcodes()) {
      by_code[opcode.code] = &opcode;
    }
    return by_code;
  }();
  return kByCode[code];
}

}  // namespace flitwise
