// SPDX-License-Identifier: Apache-2.0
// What surrounds the slots of a flit.
#include "cxl/flit_frame.h"

#include <algorithm>

#include "cxl/bit_string.h"
#include "cxl/flit_crc.h"
#include "cxl/protocol_id.h"

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

const CxlCrc& crc_in(CxlFlitForm form) {
  switch (form) {
    case CxlFlitForm::k68:
      return kCrc68;
    case CxlFlitForm::k256:
      return kCrc256;
    case CxlFlitForm::k256LatencyOptimised:
      break;
  }
  return kCrcOfHalf;
}

}  // namespace

CxlChecks checks_of(CxlFlitForm form) {
  switch (form) {
    case CxlFlitForm::k68:
      return {{{{kCxlProtocolIdBytes, 66, 66, 2}}}, 1};
    case CxlFlitForm::k256:
      return {{{{0, 242, 242, 8}}}, 1};
    case CxlFlitForm::k256LatencyOptimised:
      break;
  }
  return {{{{0, kFirstHalfCrcAt, kFirstHalfCrcAt, kHalfCrcBytes},
            {kHalfBytes, kSecondHalfCovered, kSecondHalfCrcAt, kHalfCrcBytes}}},
          2};
}

std::uint64_t crc_of(CxlFlitForm form, const CxlCheck& check, const std::uint8_t* flit) {
  return crc_of(crc_in(form), flit + check.first, check.end - check.first);
}

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
  for (const CxlCheck& check : checks_of(form)) {
    put_bits(flit.data() + check.at, 0, static_cast<std::uint32_t>(check.bytes * 8),
             crc_of(form, check, flit.data()));
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
  for (const CxlCheck& check : checks_of(form)) {
    if (bits_at(flit + check.at, 0, static_cast<std::uint32_t>(check.bytes * 8)) !=
        crc_of(form, check, flit)) {
      return check.at;
    }
  }
  return std::nullopt;
}

std::vector<std::uint8_t> crc_bytes_of(CxlFlitForm form, const std::vector<std::uint8_t>& flit) {
  std::vector<std::uint8_t> crc;
  for (const CxlCheck& check : checks_of(form)) {
    const auto first = flit.begin() + static_cast<std::ptrdiff_t>(check.at);
    crc.insert(crc.end(), first, first + static_cast<std::ptrdiff_t>(check.bytes));
  }
  return crc;
}

}  // namespace flitwise
