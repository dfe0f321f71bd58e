// SPDX-License-Identifier: Apache-2.0
// Header and credit fields as bits.
#include "cxl/flit_header.h"

#include <type_traits>

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

/// Calls visit(at, bits, field) for each field.
template <class Header, class Visit>
void visit_fields68(Header& header, Visit visit) {
  visit(kTypeBit, 1U, header.is_control);
  visit(kAckBit, 1U, header.is_ack);
  visit(kByteEnablesBit, 1U, header.has_byte_enables);
  visit(kSizeBit, 1U, header.is_64_byte_transfer);
  for (unsigned i = 0; i < kCxlSlots68; ++i) {
    visit(kFormatsAt + i * kFormatBits, kFormatBits, header.formats[i]);
  }
  for (unsigned i = 0; i < kCxlCredits; ++i) {
    auto& credit = header.credits[static_cast<std::size_t>(kOrder68[i])];
    visit(kCreditsAt + i * kCreditBits, kProtocolBit, credit.code);
    visit(kCreditsAt + i * kCreditBits + kProtocolBit, 1U, credit.protocol);
  }
}
template <class Credits, class Visit>
void visit_fields256(Credits& credits, Visit visit) {
  visit(kProtocolBit256, 1U, credits.protocol);
  for (unsigned i = 0; i < kCxlCredits; ++i) {
    visit(i * kCountBits256, kCountBits256, credits.counts[static_cast<std::size_t>(kOrder256[i])]);
  }
}

/// Puts a field into a word, or takes it from there.
auto put_into(std::uint32_t& word) {
  return [&word](unsigned at, unsigned /*bits*/, auto field) {
    word |= static_cast<std::uint32_t>(field) << at;
  };
}
auto take_from(std::uint32_t word) {
  return [word](unsigned at, unsigned bits, auto& field) {
    field = static_cast<std::decay_t<decltype(field)>>(word >> at & ((1U << bits) - 1U));
  };
}

}  // namespace

std::uint32_t word_of(const CxlHeader68& header) {
  std::uint32_t word = 0;
  visit_fields68(header, put_into(word));
  return word;
}

CxlHeader68 cxl_header68_of(std::uint32_t word) {
  CxlHeader68 header;
  visit_fields68(header, take_from(word));
  return header;
}

std::uint16_t word_of(const CxlCreditReturn256& credits) {
  std::uint32_t word = 0;
  visit_fields256(credits, put_into(word));
  return static_cast<std::uint16_t>(word);
}

CxlCreditReturn256 cxl_credit_return256_of(std::uint16_t word) {
  CxlCreditReturn256 credits;
  visit_fields256(credits, take_from(word));
  return credits;
}

}  // namespace flitwise
