// SPDX-License-Identifier: Apache-2.0
/// Random well-formed TLPs of every kind, and hex helpers of the packet tests.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "common/byte_vector.h"
#include "flitwise/tlp.h"

namespace flitwise::test {

/// Bytes of a hex string; blanks are skipped.
inline ByteVector from_hex(const std::string& text) {
  ByteVector bytes;
  std::string pair;
  for (const char c : text) {
    if (c == ' ') {
      continue;
    }
    pair += c;
    if (pair.size() == 2) {
      bytes.push_back(static_cast<std::uint8_t>(std::stoul(pair, nullptr, 16)));
      pair.clear();
    }
  }
  return bytes;
}

class RandomTlp {
 public:
  explicit RandomTlp(std::uint64_t seed) : engine_(seed) {}

  /// A well-formed TLP of this kind.
  Tlp make(TlpType type) {
    Tlp tlp;
    tlp.type = type;
    tlp.tag = static_cast<std::uint16_t>(below(1024));
    tlp.requester_id = Bdf{static_cast<std::uint16_t>(below(65536))};
    tlp.has_ecrc = flip();
    tlp.is_poisoned = flip();
    tlp.id_is_handle = flip();
    if (is_configuration(type) || is_io(type)) {
      fill_config_or_io(tlp);
    } else {
      tlp.tc = static_cast<std::uint8_t>(below(8));
      tlp.id_based_ordering = flip();
      tlp.relaxed_ordering = flip();
      tlp.no_snoop = flip();
      if (is_completion(type)) {
        fill_completion(tlp);
      } else if (is_message(type)) {
        fill_message(tlp);
      } else {
        fill_memory(tlp);
      }
    }
    fill_prefixes(tlp);
    return tlp;
  }

  ByteVector payload(const Tlp& tlp) {
    ByteVector bytes(data_bytes(tlp));
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(below(256));
    }
    return bytes;
  }

  std::uint32_t below(std::uint32_t limit) {
    return std::uniform_int_distribution<std::uint32_t>(0, limit - 1)(engine_);
  }
  bool flip() { return below(2) == 1; }

 private:
  void fill_config_or_io(Tlp& tlp) {
    tlp.length_dw = 1;
    tlp.first_be = static_cast<std::uint8_t>(below(16));
    if (is_configuration(tlp.type)) {
      tlp.completer_id = Bdf{static_cast<std::uint16_t>(below(65536))};
      tlp.register_offset = static_cast<std::uint16_t>(below(1024) * 4);
    } else {
      tlp.address = below(1U << 30) * 4ULL;
    }
  }

  void fill_completion(Tlp& tlp) {
    constexpr std::array<CplStatus, 4> kAll = {CplStatus::kSC, CplStatus::kUR, CplStatus::kRRS,
                                               CplStatus::kCA};
    tlp.completer_id = Bdf{static_cast<std::uint16_t>(below(65536))};
    tlp.status = kAll[below(4)];
    tlp.byte_count = static_cast<std::uint16_t>(1 + below(4096));
    tlp.lower_address = static_cast<std::uint8_t>(below(128));
    tlp.length_dw = static_cast<std::uint16_t>(has_data(tlp.type) ? 1 + below(1024) : 0);
  }

  void fill_message(Tlp& tlp) {
    constexpr std::array<MsgRouting, 3> kVendor = {MsgRouting::kToRootComplex, MsgRouting::kById,
                                                   MsgRouting::kBroadcast};
    tlp.is_4dw = true;
    tlp.message_code = flip() ? msg::kVendorType0 : msg::kVendorType1;
    tlp.routing = kVendor[below(3)];
    if (tlp.type == TlpType::kMsg && flip()) {
      tlp.message_code = msg::kPageRequest;
      tlp.routing = MsgRouting::kToRootComplex;
    }
    tlp.message_dw2 = below(0xffffffffU);
    tlp.message_dw3 = below(0xffffffffU);
    tlp.length_dw = static_cast<std::uint16_t>(has_data(tlp.type) ? 1 + below(1024) : 0);
  }

  void fill_memory(Tlp& tlp) {
    tlp.is_4dw = flip();
    tlp.at = flip() ? AddressType::kUntranslated : AddressType::kTranslated;
    tlp.address = (tlp.is_4dw ? std::uint64_t{1 + below(1U << 20)} << 32 : 0U) |
                  (std::uint64_t{below(1U << 20)} << 12);
    if (is_atomic(tlp.type)) {
      const std::uint16_t operand_dw = static_cast<std::uint16_t>(1U << below(2));
      tlp.length_dw =
          tlp.type == TlpType::kCas ? static_cast<std::uint16_t>(2 * operand_dw) : operand_dw;
      tlp.address += 8ULL * below(512);
      return;
    }
    const std::uint32_t first_dw = below(1024);
    tlp.address += 4ULL * first_dw;
    tlp.length_dw = static_cast<std::uint16_t>(1 + below(1024 - first_dw));
    tlp.processing_hint = static_cast<std::uint8_t>(below(4));
    tlp.first_be = static_cast<std::uint8_t>((0xfU << below(4)) & 0xfU);
    tlp.last_be =
        tlp.length_dw == 1 ? std::uint8_t{0} : static_cast<std::uint8_t>(0xfU >> below(4));
    if (tlp.length_dw == 1) {
      tlp.first_be = static_cast<std::uint8_t>(below(16));
    }
  }

  void fill_prefixes(Tlp& tlp) {
    const bool may_have_pasid =
        (is_memory_request(tlp.type) && tlp.type != TlpType::kMRdLk) ||
        (tlp.type == TlpType::kMsg && tlp.message_code == msg::kPageRequest);
    tlp.has_pasid = may_have_pasid && flip();
    if (tlp.has_pasid) {
      tlp.pasid = static_cast<Pasid>(below(1U << kPasidBits));
      tlp.privileged_mode_requested = flip();
      tlp.execute_requested = flip();
    }
    if (below(4) != 0) {
      return;
    }
    const unsigned locals = below(2);
    const unsigned end_ends = below(3);
    for (unsigned i = 0; i < locals + end_ends; ++i) {
      const std::uint32_t type = i < locals ? 0x8eU : 0x9eU;
      tlp.other_prefixes[tlp.other_prefix_count++] = type << 24 | below(1U << 24);
    }
    if (tlp.has_pasid) {
      tlp.prefixes_before_pasid = static_cast<std::uint8_t>(locals + below(end_ends + 1));
    }
  }

  std::mt19937_64 engine_;
};

}  // namespace flitwise::test
