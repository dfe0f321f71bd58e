// SPDX-License-Identifier: Apache-2.0
// TLPs in the bytes of flits.
#include "link/flit_tlp_bytes.h"

#include <algorithm>
#include <utility>

#include "link/flit_framer.h"
#include "tlp/header_layout.h"

namespace flitwise {
namespace {

constexpr std::size_t kSecondHalfByte = std::size_t{4} * kSecondHalfDw;

std::size_t half_of(std::size_t byte) {
  return byte < kSecondHalfByte ? 0 : 1;
}

}  // namespace

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
