// SPDX-License-Identifier: Apache-2.0
// What surrounds the slots of a flit.
#include "cxl/flit_frame.h"

#include <algorithm>

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

}  // namespace flitwise
