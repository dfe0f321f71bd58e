// SPDX-License-Identifier: Apache-2.0
// Header and credit fields as bits.
#include "cxl/flit_header.h"

namespace flitwise {
namespace {

// Bits of the header of a 68-byte flit. [CXL-2.2]
constexpr unsigned kTypeBit = 0, kAckBit = 2, kByteEnablesBit = 3, kSizeBit = 4, kFormatsAt = 5,
                   kFormatBits = 3, kCreditsAt = 20, kCreditBits = 4, kProtocolBit = 3;
// Order of the classes in the header: response, request, data. [CXL-2.2] In the two bytes of a
// 256-byte flit: request, data, response. [CXL-4.5]
constexpr std::array kOrder68 = {CxlCredit::kRsp, CxlCredit::kReq, CxlCredit::kData};
constexpr std::array kOrder256 = {CxlCredit::kReq, CxlCredit::kData, CxlCredit::kRsp};
// Plain counts of one protocol: unverified. [CXL-4.5]
constexpr unsigned kCountBits256 = 5, kProtocolBit256 = 15;

constexpr std::uint32_t bit(bool value, unsigned at) {
  return (value ? 1U : 0U) << at;
}
constexpr bool is_set(std::uint32_t word, unsigned at) {
  return (word >> at & 1U) != 0;
}
constexpr std::uint32_t field(std::uint32_t word, unsigned at, unsigned bits) {
  return word >> at & ((1U << bits) - 1U);
}
constexpr CxlProtocol protocol_of(bool is_mem) {
  return is_mem ? CxlProtocol::kMem : CxlProtocol::kCache;
}

}  // namespace

std::uint32_t word_of(const CxlHeader68& header) {
  std::uint32_t word = bit(header.is_control, kTypeBit) | bit(header.is_ack, kAckBit) |
                       bit(header.has_byte_enables, kByteEnablesBit) |
                       bit(header.is_64_byte_transfer, kSizeBit);
  for (unsigned i = 0; i < kCxlSlots68; ++i) {
    word |= static_cast<std::uint32_t>(header.formats[i]) << (kFormatsAt + i * kFormatBits);
  }
  for (unsigned i = 0; i < kCxlCredits; ++i) {
    const CxlCreditField& credit = header.credits[static_cast<std::size_t>(kOrder68[i])];
    const std::uint32_t nibble =
        credit.code | bit(credit.protocol == CxlProtocol::kMem, kProtocolBit);
    word |= nibble << (kCreditsAt + i * kCreditBits);
  }
  return word;
}

CxlHeader68 cxl_header68_of(std::uint32_t word) {
  CxlHeader68 header;
  header.is_control = is_set(word, kTypeBit);
  header.is_ack = is_set(word, kAckBit);
  header.has_byte_enables = is_set(word, kByteEnablesBit);
  header.is_64_byte_transfer = is_set(word, kSizeBit);
  for (unsigned i = 0; i < kCxlSlots68; ++i) {
    header.formats[i] =
        static_cast<std::uint8_t>(field(word, kFormatsAt + i * kFormatBits, kFormatBits));
  }
  for (unsigned i = 0; i < kCxlCredits; ++i) {
    const std::uint32_t nibble = field(word, kCreditsAt + i * kCreditBits, kCreditBits);
    header.credits[static_cast<std::size_t>(kOrder68[i])] = {
        protocol_of(is_set(nibble, kProtocolBit)),
        static_cast<std::uint8_t>(field(nibble, 0, kProtocolBit))};
  }
  return header;
}

std::uint16_t word_of(const CxlCreditReturn256& credits) {
  std::uint32_t word = bit(credits.protocol == CxlProtocol::kMem, kProtocolBit256);
  for (unsigned i = 0; i < kCxlCredits; ++i) {
    word |= static_cast<std::uint32_t>(credits.counts[static_cast<std::size_t>(kOrder256[i])])
            << (i * kCountBits256);
  }
  return static_cast<std::uint16_t>(word);
}

CxlCreditReturn256 cxl_credit_return256_of(std::uint16_t word) {
  CxlCreditReturn256 credits;
  credits.protocol = protocol_of(is_set(word, kProtocolBit256));
  for (unsigned i = 0; i < kCxlCredits; ++i) {
    credits.counts[static_cast<std::size_t>(kOrder256[i])] =
        static_cast<std::uint8_t>(field(word, i * kCountBits256, kCountBits256));
  }
  return credits;
}

std::uint8_t format_code(const CxlSlotFormats& formats, CxlPlace place, const CxlSlot& slot) {
  switch (slot.kind) {
    case CxlSlot::Kind::kMessages:
      return slot.format;
    case CxlSlot::Kind::kData:
    case CxlSlot::Kind::kByteEnables:
      return kCxlDataFormat68;
    case CxlSlot::Kind::kEmpty:
      break;
  }
  return formats.in(place).begin()->code;
}

}  // namespace flitwise
