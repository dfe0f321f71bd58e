// SPDX-License-Identifier: Apache-2.0
#include "rdma/rdma_frame.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <cstring>

#include "flitwise/error.h"
#include "network/addresses.h"
#include "network/ipv4_header.h"

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

template <auto Member>
Mapping mapping_of_echo(const char* key) {
  return {Id::kEcho, field_of(Id::kEcho, key),
          [](const RdmaPacket& packet) { return static_cast<std::uint64_t>(packet.echo.*Member); },
          [](RdmaPacket& packet, std::uint64_t value) {
            using Value = std::remove_reference_t<decltype(packet.echo.*Member)>;
            packet.echo.*Member = static_cast<Value>(value);
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
                                            mapping<&P::immediate>(Id::kIeth, "r_key"),
                                            mapping_of_echo<&AckEcho::session>("session"),
                                            mapping_of_echo<&AckEcho::is_marked>("ce"),
                                            mapping_of_echo<&AckEcho::psn>("psn"),
                                            mapping_of_echo<&AckEcho::hold_ns>("hold_ns"),
                                            mapping<&P::sack>(Id::kSack, "bitmap")};
  return kAll;
}

/// A number of an opcode: in the 8 bytes of a frame that end so many bytes behind the begin of BTH,
/// and begin behind that of the frame.
struct Number {
  const Mapping* mapping;
  std::size_t end, shift;
  std::uint64_t mask;

  std::uint64_t read(const std::uint8_t* bth) const {
    return boost::endian::load_big_u64(bth + end - kWord) >> shift & mask;
  }
  void write(std::uint8_t* bth, std::uint64_t value) const {
    std::uint8_t* const word = bth + end - kWord;
    const std::uint64_t others = boost::endian::load_big_u64(word) & ~(mask << shift);
    boost::endian::store_big_u64(word, others | (value & mask) << shift);
  }

 private:
  static constexpr std::size_t kWord = 8;
};

std::vector<Number> numbers_in(const RoceParts& parts) {
  std::vector<Number> numbers;
  for (std::size_t i = 0; i < parts.count; ++i) {
    const RoceParts::Header& header = parts.headers[i];
    for (const Mapping& one : mappings()) {
      if (header.at >= parts.bth && one.header == header.id) {
        const std::size_t end = header.at - parts.bth + one.field.end();
        numbers.push_back({&one, end, one.field.shift(), one.field.most()});
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

constexpr unsigned kVariants = 4;  // of extensions, at most

// Which of them, for an opcode.
unsigned variant_of(std::uint8_t code, const RoceExtensions& extensions) {
  switch (info_of(static_cast<RdmaOpcode>(code)).kind) {
    case RdmaPacketKind::kAck: return extensions.has_echo + 2U * extensions.has_sack;
    case RdmaPacketKind::kWrite: return extensions.has_place ? 1 : 0;
    default: return 0;
  }
}

Prototype prototype_of(std::uint8_t code, unsigned variant) {
  const RoceExtensions kAll[kVariants] = {
      {}, {true, false, true}, {false, true, false}, {true, true, false}};
  Prototype made;
  if (const RoceOpcode* const opcode = roce_opcode(code);
      opcode != nullptr && variant_of(code, kAll[variant]) == variant) {
    RoceShape shape{opcode};
    shape.extensions = kAll[variant];
    made.parts = make_roce(shape, made.bytes);
    made.numbers = numbers_in(made.parts);
    if (code == kCnpOpcode) {
      put(&made.bytes[made.parts.bth], field_of(Id::kBth, "becn"), 1);
    }
  }
  return made;
}

const Prototype& prototype(std::uint8_t code, const RoceExtensions& extensions) {
  static const std::vector<Prototype> kAll = [] {
    std::vector<Prototype> all;
    for (unsigned each = 0; each < 0x100 * kVariants; ++each) {
      all.push_back(prototype_of(static_cast<std::uint8_t>(each / kVariants), each % kVariants));
    }
    return all;
  }();
  return kAll[code * kVariants + variant_of(code, extensions)];
}

const Prototype& prototype_for(const RdmaPacket& packet) {
  return prototype(static_cast<std::uint8_t>(packet.opcode),
                   {packet.has_echo, packet.has_sack, packet.names_place});
}

}  // namespace

std::uint32_t wire_bytes_of(const RdmaPacket& packet) {
  return wire_bytes_of(prototype_for(packet).parts.payload + packet.payload_bytes +
                       pad_of(packet.payload_bytes) + kIcrcBytes);
}

RoceParts make_frame(const RdmaPacket& packet, FrameEnds ends, ByteVector& bytes) {
  const Prototype& base = prototype_for(packet);
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
    one.write(&bytes[parts.bth], one.mapping->get(packet));
  }
  // Addresses differ in their last bytes.
  constexpr std::size_t kMacTo = 5, kMacFrom = 11, kIpFrom = 15, kIpTo = 19;
  bytes[kMacFrom] = bytes[parts.ip + kIpFrom] = address_byte(ends.source);
  bytes[kMacTo] = bytes[parts.ip + kIpTo] = address_byte(ends.destination);
  return parts;
}

std::optional<RdmaPacket> packet_of(const ByteVector& bytes, RoceParts& parts,
                                    const RoceExtensions& extensions) {
  const RoceRead read = read_roce(bytes.data(), bytes.size(), extensions);
  if (read.flaw && !read.flaw->breaks_rule_only()) {
    return std::nullopt;
  }
  parts = read.parts;
  RdmaPacket packet;
  for (const Number& one : prototype(parts.opcode->code, extensions).numbers) {
    one.mapping->set(packet, one.read(&bytes[parts.bth]));
  }
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  packet.has_echo = extensions.has_echo && info.kind == RdmaPacketKind::kAck;
  packet.has_sack = extensions.has_sack && info.kind == RdmaPacketKind::kAck;
  packet.names_place =
      extensions.has_place && info.kind == RdmaPacketKind::kWrite && !info.is_first;
  packet.payload_bytes = static_cast<std::uint32_t>(parts.payload_bytes);
  packet.is_intact = read.is_icrc_good;
  packet.is_ip_intact = !read.flaw || read.flaw->error != RoceError::kIpChecksum;
  constexpr unsigned kCongested = 3;  // of the two ECN bits
  const unsigned class_of_traffic = bytes[parts.ip + 1];
  packet.is_marked = ((parts.is_ipv6 ? class_of_traffic >> 4 : class_of_traffic) & 3) == kCongested;
  return packet;
}

bool has_ends(const ByteVector& bytes, const RoceParts& parts, FrameEnds ends) {
  const std::uint8_t* const ip = &bytes[parts.ip];
  return !parts.is_ipv6 &&
         boost::endian::load_big_u32(ip + kIpv4SourceAt) == ipv4_of_port(ends.source) &&
         boost::endian::load_big_u32(ip + kIpv4DestinationAt) == ipv4_of_port(ends.destination);
}

}  // namespace flitwise
