// SPDX-License-Identifier: Apache-2.0
// What surrounds the slots of a flit; header and credit fields as bits.
#include "cxl/flit_frame.h"

#include <type_traits>

#include "cxl/message_fields.h"

namespace flitwise {
namespace {

// Of a latency-optimised flit: 122 bytes and their checksum, 116 bytes, FEC, and the checksum of
// the second half. [CXL-4.4]
constexpr std::size_t kHalfBytes = kCxlBytes256 / 2, kHalfCrcBytes = 6,
                      kFirstHalfCrcAt = kHalfBytes - kHalfCrcBytes,
                      kSecondHalfCrcAt = kCxlBytes256 - kHalfCrcBytes,
                      kSecondHalfFecAt = kSecondHalfCrcAt - kCxlFecBytes;
// What the second one covers: not FEC, which is worked out over both. unverified [CXL-4.8]
constexpr std::size_t kSecondHalfCovered = kSecondHalfFecAt;

constexpr std::size_t fec_at(CxlFlitForm form) {
  return form == CxlFlitForm::k256LatencyOptimised ? kSecondHalfFecAt : kCxlBytes256 - kCxlFecBytes;
}

static_assert(credits_at(CxlFlitForm::k256) + 2 == body_bytes(CxlFlitForm::k256));
static_assert(credits_at(CxlFlitForm::k256LatencyOptimised) + 2 ==
              body_bytes(CxlFlitForm::k256LatencyOptimised));

/// A checksum of a flit.
struct Check {
  std::size_t first, end;  ///< bytes of the flit that it covers, the last one not included
  std::size_t at;          ///< its own first byte
};
constexpr Check kCheck68[] = {{kCxlProtocolIdBytes, 66, 66}};
constexpr Check kCheck256[] = {{0, 242, 242}};
constexpr Check kChecksOfHalves[] = {{0, kFirstHalfCrcAt, kFirstHalfCrcAt},
                                     {kHalfBytes, kSecondHalfCovered, kSecondHalfCrcAt}};
CxlRows<Check> checks_of(CxlFlitForm form) {
  return form == CxlFlitForm::k68    ? CxlRows<Check>(kCheck68)
         : form == CxlFlitForm::k256 ? CxlRows<Check>(kCheck256)
                                     : CxlRows<Check>(kChecksOfHalves);
}

std::uint64_t crc_of(CxlFlitForm form, const Check& check, const std::uint8_t* flit) {
  return crc_of(crc_in(form), flit + check.first, check.end - check.first);
}

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

std::vector<std::uint8_t> framed(CxlFlitForm form, const std::vector<std::uint8_t>& body,
                                 const std::array<std::uint8_t, kCxlFecBytes>& fec) {
  std::vector<std::uint8_t> flit(bytes_of(form));
  if (form == CxlFlitForm::k68) {
    std::fill_n(flit.begin(), kCxlProtocolIdBytes,
                static_cast<std::uint8_t>(CxlProtocolId::kCacheMem));
  } else {
    std::copy(fec.begin(), fec.end(), flit.begin() + static_cast<std::ptrdiff_t>(fec_at(form)));
  }
  for (std::size_t i = 0; i < body.size(); ++i) {
    flit[flit_offset(form, i)] = body[i];
  }
  for (const Check& check : checks_of(form)) {
    put_bits(flit.data() + check.at, 0, crc_in(form).bits, crc_of(form, check, flit.data()));
  }
  return flit;
}

std::vector<std::uint8_t> body_of(CxlFlitForm form, const std::uint8_t* flit) {
  std::vector<std::uint8_t> body(body_bytes(form));
  for (std::size_t i = 0; i < body.size(); ++i) {
    body[i] = flit[flit_offset(form, i)];
  }
  return body;
}

std::array<std::uint8_t, kCxlFecBytes> fec_of(CxlFlitForm form, const std::uint8_t* flit) {
  std::array<std::uint8_t, kCxlFecBytes> fec{};
  std::copy_n(flit + fec_at(form), fec.size(), fec.begin());
  return fec;
}

std::optional<std::size_t> find_bad_crc(CxlFlitForm form, const std::uint8_t* flit) {
  for (const Check& check : checks_of(form)) {
    if (bits_at(flit + check.at, 0, crc_in(form).bits) != crc_of(form, check, flit)) {
      return check.at;
    }
  }
  return std::nullopt;
}

std::vector<std::uint8_t> crc_bytes_of(CxlFlitForm form, const std::vector<std::uint8_t>& flit) {
  std::vector<std::uint8_t> crc;
  for (const Check& check : checks_of(form)) {
    const auto first = flit.begin() + static_cast<std::ptrdiff_t>(check.at);
    crc.insert(crc.end(), first, first + static_cast<std::ptrdiff_t>(crc_in(form).bits / 8));
  }
  return crc;
}

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
