// SPDX-License-Identifier: Apache-2.0
// DLP, CRC and FEC of flits, and TLPs in their bytes.
#include "link/flit_bytes.h"

#include <boost/crc.hpp>

#include <algorithm>
#include <utility>

#include "common/byte_vector.h"
#include "link/flit_framer.h"
#include "tlp/crc.h"
#include "tlp/dllp_codec.h"
#include "tlp/header_layout.h"

namespace flitwise {
namespace {

constexpr std::size_t kDllpContent = kDllpBytes - 2;  // its CRC is the flit's
constexpr unsigned kPriorBit = 5, kOtherBit = 4;

constexpr std::size_t kSecondHalfByte = std::size_t{4} * kSecondHalfDw;

std::size_t half_of(std::size_t byte) {
  return byte < kSecondHalfByte ? 0 : 1;
}

using FlitCrc =
    boost::crc_optimal<64, kFlitCrcPolynomial, ~std::uint64_t{0}, ~std::uint64_t{0}, false, false>;
constexpr unsigned kFieldOrder = 255;  // of the group of GF(256)

/// Powers of the field's generator and their logarithms.
struct FieldTables {
  std::array<std::uint8_t, kFieldOrder> power{};
  std::array<std::uint8_t, 256> log{};
};
constexpr FieldTables make_tables() {
  FieldTables tables;
  unsigned value = 1;
  for (unsigned i = 0; i < kFieldOrder; ++i) {
    tables.power[i] = static_cast<std::uint8_t>(value);
    tables.log[value] = static_cast<std::uint8_t>(i);
    value <<= 1;
    value ^= value > 0xff ? kFecFieldPolynomial : 0U;
  }
  return tables;
}
constexpr FieldTables kField = make_tables();

// value times the generator to the power `exponent`
std::uint8_t shifted(std::uint8_t value, std::size_t exponent) {
  return value == 0 ? std::uint8_t{0} : kField.power[(kField.log[value] + exponent) % kFieldOrder];
}

/// One of the interleaved groups, as a Reed-Solomon code word whose place 0 is its last byte. A
/// word without error has both sums 0: of its bytes, and of its bytes shifted by their places.
class Group {
 public:
  Group(FlitBytes& flit, std::size_t group) : flit_(flit) {
    for (std::size_t at = group; at < flit::kBytes; at += flit::kFecGroups) {
      last_ = at;
    }
    size_ = last_ / flit::kFecGroups + 1;
  }

  // Sets the last two bytes, places 1 and 0, so that both sums become 0.
  void protect() {
    std::uint8_t& high = flit_[at(1)];
    std::uint8_t& low = flit_[at(0)];
    high = low = 0;
    const Sums sums = sum();
    // high + low = plain and 2 high + low = weighted, so that 3 high = plain + weighted.
    const unsigned log_of_three = kField.log[3];
    high = shifted(sums.plain ^ sums.weighted, kFieldOrder - log_of_three);
    low = sums.plain ^ high;
  }

  // True and the byte's place in the flit if one was wrong and has been set right.
  bool mend(std::size_t& mended) {
    const Sums sums = sum();
    if (sums.plain == 0 || sums.weighted == 0) {
      return false;  // nothing wrong, or more than one byte
    }
    const std::size_t place =
        (kField.log[sums.weighted] + kFieldOrder - kField.log[sums.plain]) % kFieldOrder;
    if (place >= size_) {
      return false;
    }
    mended = at(place);
    flit_[mended] ^= sums.plain;
    return true;
  }

 private:
  struct Sums {
    std::uint8_t plain = 0, weighted = 0;
  };

  std::size_t at(std::size_t place) const { return last_ - place * flit::kFecGroups; }
  Sums sum() const {
    Sums sums;
    for (std::size_t place = 0; place < size_; ++place) {
      sums.plain ^= flit_[at(place)];
      sums.weighted ^= shifted(flit_[at(place)], place);
    }
    return sums;
  }

  FlitBytes& flit_;
  std::size_t last_ = 0;
  std::size_t size_ = 0;
};

std::uint64_t crc_of(const FlitBytes& flit) {
  FlitCrc crc;
  crc.process_bytes(flit.data(), kFlitCrcAt);
  return crc.checksum();
}

}  // namespace

DlpBytes encode(const FlitDlp& dlp) {
  DlpBytes bytes{};
  bytes[0] = static_cast<std::uint8_t>(
      (dlp.usage & 3U) << 6 | bit_at(dlp.prior_was_payload, kPriorBit) |
      bit_at(dlp.other.has_value(), kOtherBit) | static_cast<unsigned>(dlp.command) << 2 |
      ((dlp.sequence >> 8) & 3U));
  bytes[1] = static_cast<std::uint8_t>(dlp.sequence);
  if (dlp.other) {
    for (unsigned i = 0; i < kDllpContent; ++i) {
      bytes[kDlpTypeAt + i] = static_cast<std::uint8_t>(*dlp.other >> (24 - 8 * i));
    }
  } else {
    const auto dllp = encode(dlp.dllp);
    std::copy_n(dllp.begin(), kDllpContent, bytes.begin() + kDlpTypeAt);
  }
  return bytes;
}

std::optional<FlitDlp> decode_dlp(const DlpBytes& bytes) {
  FlitDlp dlp;
  dlp.usage = static_cast<std::uint8_t>(bytes[0] >> 6);
  dlp.prior_was_payload = has_bit(bytes[0], kPriorBit);
  dlp.command = static_cast<ReplayCommand>((bytes[0] >> 2) & 3U);
  dlp.sequence = static_cast<std::uint16_t>((bytes[0] & 3U) << 8 | bytes[1]);
  if (has_bit(bytes[0], kOtherBit)) {
    dlp.other = dw_at(bytes.data() + kDlpTypeAt);
    return dlp;
  }
  const bool is_shared = has_bit(bytes[kDlpTypeAt], kSharedCreditsBit);
  const auto type = static_cast<std::uint8_t>(bytes[kDlpTypeAt] & ~bit_at(true, kSharedCreditsBit));
  const std::uint16_t crc = dllp_crc16({type, bytes[3], bytes[4], bytes[5]});
  const std::array<std::uint8_t, kDllpBytes> whole = {type,
                                                      bytes[3],
                                                      bytes[4],
                                                      bytes[5],
                                                      static_cast<std::uint8_t>(crc & 0xffU),
                                                      static_cast<std::uint8_t>(crc >> 8)};
  const DllpDecodeResult dllp = decode_dllp(whole.data(), whole.size());
  if (dllp.error || (is_shared && !is_flow_control(dllp.dllp.type))) {
    return std::nullopt;
  }
  dlp.dllp = dllp.dllp;
  dlp.dllp.is_shared = is_shared;
  return dlp;
}

void protect_flit(FlitBytes& flit) {
  const std::uint64_t crc = crc_of(flit);
  for (unsigned i = 0; i < flit::kCrcBytes; ++i) {
    flit[kFlitCrcAt + i] = static_cast<std::uint8_t>(crc >> (56 - 8 * i));
  }
  for (std::size_t group = 0; group < flit::kFecGroups; ++group) {
    Group(flit, group).protect();
  }
}

FlitRepair mend_flit(FlitBytes& flit) {
  FlitRepair repair;
  for (std::size_t group = 0; group < flit::kFecGroups; ++group) {
    if (std::size_t place = 0; Group(flit, group).mend(place)) {
      repair.mended.push_back(place);
    }
  }
  std::sort(repair.mended.begin(), repair.mended.end());
  std::uint64_t seen = 0;
  for (unsigned i = 0; i < flit::kCrcBytes; ++i) {
    seen = seen << 8 | flit[kFlitCrcAt + i];
  }
  repair.is_good = seen == crc_of(flit);
  return repair;
}

TlpBytePacker::Filled TlpBytePacker::fill() {
  Filled filled;
  std::array<unsigned, 2> starts{};
  std::size_t at = 0;
  while (at < flit::kTlpBytes && has_work()) {
    if (!is_begun_) {
      std::size_t& nops = waiting_.front().nops;
      if (nops > 0) {
        at = std::min<std::size_t>(at + 4 * nops, flit::kTlpBytes);
        nops = 0;
        continue;
      }
      unsigned& in_half = starts[half_of(at)];
      if (in_half == kMostStartsInHalf) {
        at = at < kSecondHalfByte ? kSecondHalfByte : flit::kTlpBytes;
        continue;
      }
      ++in_half;
      ++filled.begun;
      is_begun_ = true;
    }
    const std::vector<std::uint8_t>& tlp = waiting_.front().tlp;
    const std::size_t count = std::min<std::size_t>(tlp.size() - sent_, flit::kTlpBytes - at);
    std::copy_n(tlp.begin() + static_cast<std::ptrdiff_t>(sent_), count,
                filled.bytes.begin() + static_cast<std::ptrdiff_t>(at));
    at += count;
    sent_ += count;
    filled.taken = at;
    if (sent_ == tlp.size()) {
      waiting_.pop_front();
      sent_ = 0;
      is_begun_ = false;
    }
  }
  return filled;
}

FoundTlps find_tlps(const std::vector<std::uint8_t>& bytes, std::size_t rest_bytes) {
  FoundTlps found;
  const auto take = [&](std::size_t at, std::size_t count) {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    FoundTlp tlp;
    tlp.start = at;
    tlp.bytes.assign(first, first + static_cast<std::ptrdiff_t>(count));
    found.tlps.push_back(std::move(tlp));
    return at + count;
  };
  std::size_t at = 0;
  std::size_t nops = 0;
  std::size_t half = 0;  // of all flits, and the TLPs that begin in it [LNK-11.3]
  unsigned begun = 0;
  if (rest_bytes > 0 && !bytes.empty()) {
    at = take(0, std::min(rest_bytes, bytes.size()));
    found.tlps.back().began_before = true;
    found.tlps.back().ends_beyond = rest_bytes > bytes.size();
  }
  while (at < bytes.size()) {
    nops = at % flit::kTlpBytes == 0 ? 0 : nops;
    if (bytes[at] == flit_type::kNop) {
      at += 4;
      ++nops;
      continue;
    }
    const std::size_t its_half = 2 * (at / flit::kTlpBytes) + half_of(at % flit::kTlpBytes);
    begun = its_half == half ? begun + 1 : 1;
    half = its_half;
    if (begun > kMostStartsInHalf && !found.ninth_at) {
      found.ninth_at = at;
    }
    const std::size_t left = bytes.size() - at;
    const FlitTlpFront front = read_flit_tlp_front(&bytes[at], left);
    if (front.error) {
      found.error = front.error;
      found.error_at = at + front.error_offset;
      return found;
    }
    const bool ends_beyond = !front.is_complete || front.bytes() > left;
    at = take(at, ends_beyond ? left : front.bytes());
    found.tlps.back().ends_beyond = ends_beyond;
    found.tlps.back().nops = std::exchange(nops, 0);
  }
  return found;
}

}  // namespace flitwise
