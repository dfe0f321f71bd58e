// SPDX-License-Identifier: Apache-2.0
#include "rdma/rdma_frame.h"

#include <algorithm>
#include <cstring>

#include "flitwise/error.h"
#include "network/addresses.h"

namespace flitwise {
namespace {

using Id = RoceHeaderId;

const RoceField& field_of(Id id, const char* key) {
  const auto& fields = header_of(id).fields;
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const RoceField& field) {
    return std::strcmp(field.key, key) == 0;
  });
  FLITWISE_CHECK(found != fields.end(), "no such field of a header");
  return *found;
}

/// A number of a packet, and its place in a frame.
struct Mapping {
  Id header;
  RoceField field;
  std::uint64_t (*get)(const RdmaPacket& packet);
  void (*set)(RdmaPacket& packet, std::uint64_t value);
};

template <auto Member>
Mapping mapping(Id header, const char* key) {
  return {header, field_of(header, key),
          [](const RdmaPacket& packet) { return static_cast<std::uint64_t>(packet.*Member); },
          [](RdmaPacket& packet, std::uint64_t value) {
            using Value = std::remove_reference_t<decltype(packet.*Member)>;
            packet.*Member = static_cast<Value>(value);
          }};
}

const std::vector<Mapping>& mappings() {
  using P = RdmaPacket;
  static const std::vector<Mapping> kAll = {mapping<&P::opcode>(Id::kBth, "opcode"),
                                            mapping<&P::is_solicited>(Id::kBth, "se"),
                                            mapping<&P::pad>(Id::kBth, "pad"),
                                            mapping<&P::version>(Id::kBth, "tver"),
                                            mapping<&P::partition>(Id::kBth, "p_key"),
                                            mapping<&P::queue_pair>(Id::kBth, "dest_qp"),
                                            mapping<&P::asks_for_ack>(Id::kBth, "ack_req"),
                                            mapping<&P::psn>(Id::kBth, "psn"),
                                            mapping<&P::address>(Id::kReth, "va"),
                                            mapping<&P::key>(Id::kReth, "r_key"),
                                            mapping<&P::length>(Id::kReth, "dma_length"),
                                            mapping<&P::syndrome>(Id::kAeth, "syndrome"),
                                            mapping<&P::messages>(Id::kAeth, "msn"),
                                            mapping<&P::address>(Id::kAtomicEth, "va"),
                                            mapping<&P::key>(Id::kAtomicEth, "r_key"),
                                            mapping<&P::operand>(Id::kAtomicEth, "swap_add"),
                                            mapping<&P::compare>(Id::kAtomicEth, "compare"),
                                            mapping<&P::original>(Id::kAtomicAckEth, "original"),
                                            mapping<&P::immediate>(Id::kImmDt, "data"),
                                            mapping<&P::immediate>(Id::kIeth, "r_key")};
  return kAll;
}

/// A number of an opcode, so many bytes behind the begin of BTH.
struct Number {
  const Mapping* mapping;
  std::size_t offset;
};

std::vector<Number> numbers_in(const RoceParts& parts) {
  std::vector<Number> numbers;
  for (std::size_t i = 0; i < parts.count; ++i) {
    const RoceParts::Header& header = parts.headers[i];
    for (const Mapping& one : mappings()) {
      if (header.at >= parts.bth && one.header == header.id) {
        numbers.push_back({&one, header.at - parts.bth});
      }
    }
  }
  return numbers;
}

/// A frame without payload, of which all others of its opcode are made, and what differs in them.
struct Prototype {
  RoceParts parts;
  ByteVector bytes;
  std::vector<Number> numbers;
};

Prototype prototype_of(std::uint8_t code) {
  Prototype made;
  if (const RoceOpcode* const opcode = roce_opcode(code)) {
    made.parts = make_roce(RoceShape{opcode}, made.bytes);
    made.numbers = numbers_in(made.parts);
  }
  return made;
}

const Prototype& prototype(std::uint8_t code) {
  static const std::vector<Prototype> kAll = [] {
    std::vector<Prototype> all;
    for (unsigned each = 0; each <= 0xff; ++each) {
      all.push_back(prototype_of(static_cast<std::uint8_t>(each)));
    }
    return all;
  }();
  return kAll[code];
}

}  // namespace

RoceParts make_frame(const RdmaPacket& packet, FrameEnds ends, ByteVector& bytes) {
  const Prototype& base = prototype(static_cast<std::uint8_t>(packet.opcode));
  FLITWISE_CHECK(base.parts.opcode != nullptr, "a packet without an opcode");
  RoceParts parts = base.parts;
  parts.payload_bytes = packet.payload_bytes;
  parts.pad = pad_of(packet.payload_bytes);
  parts.icrc = parts.payload + parts.payload_bytes + parts.pad;
  bytes.assign(parts.end(), 0);
  std::copy_n(base.bytes.begin(), parts.payload, bytes.begin());
  put(&bytes[parts.ip], roce_field::kTotalLength, parts.end() - parts.ip);
  put(&bytes[parts.udp], roce_field::kUdpLength, parts.end() - parts.udp);
  for (const Number& one : base.numbers) {
    put(&bytes[parts.bth + one.offset], one.mapping->field, one.mapping->get(packet));
  }
  // Addresses differ in their last bytes.
  constexpr std::size_t kMacTo = 5, kMacFrom = 11, kIpFrom = 15, kIpTo = 19;
  bytes[kMacFrom] = bytes[parts.ip + kIpFrom] = address_byte(ends.source);
  bytes[kMacTo] = bytes[parts.ip + kIpTo] = address_byte(ends.destination);
  return parts;
}

std::optional<RdmaPacket> packet_of(const ByteVector& bytes, RoceParts& parts) {
  const RoceRead read = read_roce(bytes.data(), bytes.size());
  if (read.flaw && !read.flaw->breaks_rule_only()) {
    return std::nullopt;
  }
  parts = read.parts;
  RdmaPacket packet;
  for (const Number& one : prototype(parts.opcode->code).numbers) {
    one.mapping->set(packet, get(&bytes[parts.bth + one.offset], one.mapping->field));
  }
  packet.payload_bytes = static_cast<std::uint32_t>(parts.payload_bytes);
  packet.is_intact = read.is_icrc_good;
  return packet;
}

}  // namespace flitwise
