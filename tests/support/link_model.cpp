// SPDX-License-Identifier: Apache-2.0
// The formulas, one function each.
#include "support/link_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "link/replay_timer.h"

namespace flitwise {

namespace {

constexpr double kDllpOnWire = 8;
constexpr double kSkpShare = 4.0 / 1538;  ///< 4 symbols, at the longest allowed distance

double pieces(std::uint64_t bytes, unsigned limit) {
  return std::ceil(static_cast<double>(bytes) / limit);
}

/// Bytes that a write of `bytes` puts on the wire.
double written(const LinkShape& link, std::uint64_t bytes, unsigned overhead) {
  return pieces(bytes, link.mps_bytes) * overhead + static_cast<double>(bytes);
}

double requested(const LinkShape& link, std::uint64_t bytes, const TlpOverhead& overhead) {
  return pieces(bytes, link.mrrs_bytes) * overhead.read_request;
}

}  // namespace

double raw_gbps(unsigned generation, unsigned lanes) {
  constexpr double kRates[] = {2.5, 5, 8, 16, 32, 64};
  const double coding = generation <= 2 ? 0.8 : generation <= 5 ? 128.0 / 130 : 1.0;
  return kRates[generation - 1] * lanes * coding;
}

double published_tlp_gbps(const LinkShape& link) {
  const double limit = ack_limit_symbols(link.generation, link.lanes, link.mps_bytes);
  const double left = 1 - kDllpOnWire / limit - kDllpOnWire / limit - kSkpShare;
  return raw_gbps(link.generation, link.lanes) * left;
}

double published_write_gbps(const LinkShape& link, std::uint64_t bytes,
                            const TlpOverhead& overhead) {
  return published_tlp_gbps(link) * static_cast<double>(bytes) /
         written(link, bytes, overhead.write);
}

double published_read_gbps(const LinkShape& link, std::uint64_t bytes,
                           const TlpOverhead& overhead) {
  const double up = requested(link, bytes, overhead);
  const double down = written(link, bytes, overhead.completion);
  return published_tlp_gbps(link) * static_cast<double>(bytes) / std::max(up, down);
}

double published_read_write_gbps(const LinkShape& link, std::uint64_t bytes,
                                 const TlpOverhead& overhead) {
  const double up = written(link, bytes, overhead.write) + requested(link, bytes, overhead);
  const double down = written(link, bytes, overhead.completion);
  return published_tlp_gbps(link) * static_cast<double>(bytes) / std::max(up, down);
}

double write_ceiling_gbps(const LinkShape& link, std::uint64_t bytes, unsigned overhead_bytes) {
  return raw_gbps(link.generation, link.lanes) * static_cast<double>(bytes) /
         written(link, bytes, overhead_bytes);
}

double expected_write_gbps(const LinkShape& link, std::uint64_t bytes, unsigned overhead_bytes,
                           double phy_share, double dllp_share) {
  return write_ceiling_gbps(link, bytes, overhead_bytes) * (1 - phy_share) * (1 - dllp_share);
}

double share_lost(unsigned mps_bytes, std::uint64_t bytes, unsigned overhead_bytes,
                  unsigned added) {
  const double n = pieces(bytes, mps_bytes);
  return added * n / ((overhead_bytes + added) * n + static_cast<double>(bytes));
}

double break_even_tlps(double alloc_bytes, double dealloc_bytes, double saved_bytes_per_tlp) {
  if (!(saved_bytes_per_tlp > 0)) {
    return std::numeric_limits<double>::infinity();
  }
  return (alloc_bytes + dealloc_bytes) / saved_bytes_per_tlp;
}

double serialisation_ns(const LinkShape& link, std::uint64_t bytes) {
  return static_cast<double>(bytes) * 8 / raw_gbps(link.generation, link.lanes);
}

double write_burst_ns(const LinkShape& link, unsigned writes, unsigned payload_bytes,
                      unsigned overhead_bytes, unsigned tlps_per_ack, unsigned tlps_per_update) {
  const double dllps = pieces(writes, tlps_per_ack) + pieces(writes, tlps_per_update);
  return writes * serialisation_ns(link, payload_bytes + overhead_bytes) +
         dllps * serialisation_ns(link, static_cast<std::uint64_t>(kDllpOnWire));
}

double flit_mode_efficiency(std::uint64_t bytes, unsigned overhead_bytes) {
  const auto payload = static_cast<double>(bytes);
  const double data = std::ceil(payload / 4) * 4;
  return payload / (overhead_bytes + data) * 236 / 256;
}

double uncorrectable_flit_rate(double bit_error_rate) {
  const double wrong_byte = -std::expm1(8 * std::log1p(-bit_error_rate));
  double all_good = 1;
  for (const double bytes : {86.0, 85.0, 85.0}) {
    const double others_right = std::pow(1 - wrong_byte, bytes - 1);
    all_good *= others_right * (1 - wrong_byte) + bytes * wrong_byte * others_right;
  }
  return 1 - all_good;
}

unsigned in_flight_to_saturate(double latency_ns, double each_ns) {
  return static_cast<unsigned>(std::ceil(latency_ns / each_ns));
}

}  // namespace flitwise
