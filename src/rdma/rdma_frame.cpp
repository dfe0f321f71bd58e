// SPDX-License-Identifier: Apache-2.0
#include "rdma/rdma_frame.h"

#include <algorithm>
#include <cstring>

#include "flitwise/error.h"

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

/// Calls action(mapping, first byte of its header) for each number that the frame has.
template <class Action>
void for_each_number(const RoceParts& parts, Action action) {
  for (std::size_t i = 0; i < parts.count; ++i) {
    if (parts.headers[i].at >= parts.bth) {
      for (const Mapping& one : mappings()) {
        if (one.header == parts.headers[i].id) {
          action(one, parts.headers[i].at);
        }
      }
    }
  }
}

/// A frame without payload, of which all others of its opcode are made.
struct Prototype {
  RoceParts parts;
  ByteVector bytes;
};

Prototype prototype_of(std::uint8_t code) {
  Prototype made;
  if (const RoceOpcode* const opcode = roce_opcode(code)) {
    made.parts = make_roce(RoceShape{opcode}, made.bytes);
  }
  return made;
}

const Prototype& prototype(RdmaOpcode opcode) {
  static const std::vector<Prototype> kAll = [] {
    std::vector<Prototype> all;
    for (unsigned code = 0; code <= 0xff; ++code) {
      all.push_back(prototype_of(static_cast<std::uint8_t>(code)));
    }
    return all;
  }();
  return kAll[static_cast<std::uint8_t>(opcode)];
}

}  // namespace

RoceParts make_frame(const RdmaPacket& packet, unsigned end, ByteVector& bytes) {
  const Prototype& base = prototype(packet.opcode);
  FLITWISE_CHECK(base.parts.opcode != nullptr, "a packet without an opcode");
  RoceParts parts = base.parts;
  parts.payload_bytes = packet.payload_bytes;
  parts.pad = pad_of(packet.payload_bytes);
  parts.icrc = parts.payload + parts.payload_bytes + parts.pad;
  bytes.assign(parts.end(), 0);
  std::copy_n(base.bytes.begin(), parts.payload, bytes.begin());
  put(&bytes[parts.ip], roce_field::kTotalLength, parts.end() - parts.ip);
  put(&bytes[parts.udp], roce_field::kUdpLength, parts.end() - parts.udp);
  for_each_number(parts, [&](const Mapping& one, std::size_t at) {
    put(&bytes[at], one.field, one.get(packet));
  });
  if (end != 0) {  // addresses the other way round
    constexpr std::size_t kMac = 6, kIp = 4, kIpSource = 12;
    std::swap_ranges(bytes.begin(), bytes.begin() + kMac, bytes.begin() + kMac);
    const auto source = bytes.begin() + static_cast<std::ptrdiff_t>(parts.ip + kIpSource);
    std::swap_ranges(source, source + kIp, source + kIp);
  }
  return parts;
}

std::optional<RdmaPacket> packet_of(const ByteVector& bytes, RoceParts& parts) {
  const RoceRead read = read_roce(bytes.data(), bytes.size());
  if (read.flaw && !read.flaw->breaks_rule_only()) {
    return std::nullopt;
  }
  parts = read.parts;
  RdmaPacket packet;
  for_each_number(parts, [&](const Mapping& one, std::size_t at) {
    one.set(packet, get(&bytes[at], one.field));
  });
  packet.payload_bytes = static_cast<std::uint32_t>(parts.payload_bytes);
  packet.is_intact = read.is_icrc_good;
  return packet;
}

}  // namespace flitwise
