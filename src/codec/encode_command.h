// SPDX-License-Identifier: Apache-2.0
/// `flitwise encode` and `flitwise decode`: packets between JSON and bytes.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace flitwise {

/// JSON (an object, a list or one object a line) from in, overridden by sets ("key=value"), to one
/// line of hex digits a packet. Without input the packet is made of sets alone. kind: tlp, dllp,
/// flit, cxl, roce. Returns the exit code: 0, 2 for bad input (nothing goes to out), 64 for an
/// unknown kind.
int encode_command(const std::string& kind, const std::vector<std::string>& sets, std::istream& in,
                   std::ostream& out, std::ostream& err);

/// Hex digits (all of hex_args are one packet; without them, in has one packet a line; flits may be
/// cut into lines anyhow) to one line of JSON a packet. sets: framing=gen1|gen3 for framed bytes,
/// flit_mode=true for TLPs of flit mode, rest_dw=N for flits that begin with the rest of a TLP,
/// check=false to let malformed TLPs and RoCEv2 frames through; of kind cxl: flit, direction,
/// identity_bits. Returns as encode_command does.
int decode_command(const std::string& kind, const std::vector<std::string>& sets,
                   const std::vector<std::string>& hex_args, std::istream& in, std::ostream& out,
                   std::ostream& err);

}  // namespace flitwise
