// SPDX-License-Identifier: Apache-2.0
/// Closed forms for a PCIe link: the published pcie-bench model, and the bounds that the simulator
/// is judged by. Bandwidths in Gb/s (1e9 bits/s) of payload. See docs/validation.md.
#pragma once

#include <cstdint>

namespace flitwise {

/// What the formulas know of a link.
struct LinkShape {
  unsigned generation = 3;  ///< 1..6
  unsigned lanes = 8;
  unsigned mps_bytes = 256;
  unsigned mrrs_bytes = 512;
};

/// Bytes around the payload of each TLP: framing, sequence number, LCRC (8 bytes in all), prefix,
/// header, ECRC.
struct TlpOverhead {
  unsigned write = 24;
  unsigned read_request = 24;
  unsigned completion = 20;

  /// A PASID prefix and an ECRC add 4 bytes each; completions carry no prefix.
  static constexpr TlpOverhead of(bool is_4dw, bool has_pasid, bool has_ecrc) {
    const unsigned ecrc = has_ecrc ? 4 : 0;
    const unsigned request = 8 + (is_4dw ? 16U : 12U) + (has_pasid ? 4U : 0U) + ecrc;
    return {request, request, 20 + ecrc};
  }
};

/// Bits per second of the lanes after line coding, in Gb/s. [LNK-5.1]
double raw_gbps(unsigned generation, unsigned lanes);

/// What the published model leaves for TLPs: raw less 8 bytes for an Ack and 8 for an UpdateFC
/// every AckLimit symbols, and a SKP ordered set of 4 symbols every 1538. Too low for a real link:
/// see docs/validation.md.
double published_tlp_gbps(const LinkShape& link);

/// Payload bandwidth of the published model for transfers of `bytes`. REQUIRES: bytes >= 1.
double published_write_gbps(const LinkShape& link, std::uint64_t bytes,
                            const TlpOverhead& overhead);
double published_read_gbps(const LinkShape& link, std::uint64_t bytes, const TlpOverhead& overhead);
/// Reads and writes of the same size at the same time; for each of the two.
double published_read_write_gbps(const LinkShape& link, std::uint64_t bytes,
                                 const TlpOverhead& overhead);

/// No link is faster than this: raw * s / (n * overhead + s), n = ceil(s / MPS).
double write_ceiling_gbps(const LinkShape& link, std::uint64_t bytes, unsigned overhead_bytes);
/// The ceiling less what physical layer and DLLPs took of this direction, as counted shares 0..1.
double expected_write_gbps(const LinkShape& link, std::uint64_t bytes, unsigned overhead_bytes,
                           double phy_share, double dllp_share);

/// Share of write bandwidth that `added` more bytes in each TLP cost: added * n over the bytes then
/// sent; 4n / (28n + s) for a PASID prefix on a 4DW header.
double share_lost(unsigned mps_bytes, std::uint64_t bytes, unsigned overhead_bytes, unsigned added);

/// TLPs that one residency of a handle must carry before it pays: bytes spent on ALLOC and DEALLOC
/// over bytes saved in each TLP. Infinite where nothing is saved. [DHI D8, D11]
double break_even_tlps(double alloc_bytes, double dealloc_bytes, double saved_bytes_per_tlp);

/// Time of `bytes` on the wire. Unit: ns.
double serialisation_ns(const LinkShape& link, std::uint64_t bytes);

/// A burst of writes with an Ack after every `tlps_per_ack` TLPs and an UpdateFC after every
/// `tlps_per_update` on the same lanes, 8 bytes each (the worked example of WP350). Unit: ns.
double write_burst_ns(const LinkShape& link, unsigned writes, unsigned payload_bytes,
                      unsigned overhead_bytes, unsigned tlps_per_ack, unsigned tlps_per_update);

/// Share of the wire that is payload in flit mode, saturated: s / (h + s) of the 236 TLP bytes of
/// each 256, for writes of `bytes` that fit one TLP with `overhead_bytes` of header and OHC; whole
/// DWs. [LNK-11.1]
double flit_mode_efficiency(std::uint64_t bytes, unsigned overhead_bytes);
/// Probability that FEC cannot correct a flit: two wrong bytes or more in one of its three groups,
/// bits wrong independently with `bit_error_rate`. [LNK-11.8]
double uncorrectable_flit_rate(double bit_error_rate);

/// Smallest number of things in flight that hides `latency_ns` when each takes `each_ns`: header
/// credits, tags.
unsigned in_flight_to_saturate(double latency_ns, double each_ns);

}  // namespace flitwise
