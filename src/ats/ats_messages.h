// SPDX-License-Identifier: Apache-2.0
/// The four messages of ATS and PRI as fields: what both ends read from and write into a TLP.
/// [LNK-4.4] to [LNK-4.8]
#pragma once

#include <boost/endian/conversion.hpp>
#include <cstdint>

#include "ats/translation_entry.h"
#include "flitwise/ids.h"
#include "flitwise/tlp.h"

namespace flitwise {

inline constexpr unsigned kItags = 32;               ///< ITag values 0..31
inline constexpr unsigned kPrgIndices = 512;         ///< PRG Index values 0..511
inline constexpr unsigned kInvalidateBodyBytes = 8;  ///< payload of an Invalidate Request

/// Eight payload bytes in wire order, the most significant one first. [LNK-4.3]
inline std::uint64_t load_wire_u64(const std::uint8_t* bytes) {
  return boost::endian::load_big_u64(bytes);
}
inline void store_wire_u64(std::uint8_t* bytes, std::uint64_t value) {
  boost::endian::store_big_u64(bytes, value);
}

struct InvalidateRequest {
  Bdf agent;                  ///< the translation agent that asks
  Bdf function;               ///< whose ATC it is
  std::uint8_t itag = 0;      ///< 0..31
  PageRange range;            ///< untranslated addresses
  bool is_undefined = false;  ///< the received size was reserved [SFE-08]
  bool is_global = false;     ///< all PASIDs; counts only beside a PASID
  OptionalId<Pasid> pasid;
};

/// `body` receives kInvalidateBodyBytes of payload. REQUIRES: itag < 32; the range is encodable.
Tlp invalidate_request_tlp(const InvalidateRequest& request, std::uint8_t* body);
/// REQUIRES: a MsgD with this Message Code and eight bytes of payload (check_format).
InvalidateRequest invalidate_request_of(const Tlp& tlp, const std::uint8_t* body);

struct InvalidateCompletion {
  Bdf agent;
  Bdf function;
  std::uint8_t tc = 0;
  std::uint8_t completion_count = 1;  ///< copies in all, 1..8 [INV-09]
  std::uint32_t itag_vector = 0;      ///< bit n: ITag n [INV-11]
};

Tlp invalidate_completion_tlp(const InvalidateCompletion& completion);
/// REQUIRES: a Msg with this Message Code.
InvalidateCompletion invalidate_completion_of(const Tlp& tlp);

struct PageRequest {
  Bdf function;
  OptionalId<Pasid> pasid;
  bool privileged = false;      ///< PMR of the PASID prefix
  bool execute = false;         ///< ER of the PASID prefix
  std::uint64_t page = 0;       ///< untranslated address, [11:0] = 0
  std::uint16_t prg_index = 0;  ///< 0..511
  bool is_last = false;
  bool write = false;
  bool read = false;
  bool relaxed_ordering = false;

  /// L without any access, for a PASID: all its page requests are behind it. [PRI-06]
  bool is_stop_marker() const { return is_last && !read && !write && pasid.has_value(); }
};

Tlp page_request_tlp(const PageRequest& request);
/// REQUIRES: a Msg with this Message Code.
PageRequest page_request_of(const Tlp& tlp);

/// Response Code of a PRG Response as it counts. [PRI-10]
enum class PrgCode : std::uint8_t { kSuccess = 0, kInvalidRequest = 1, kResponseFailure = 0xf };
/// Every unused code means Response Failure. [PRI-10]
PrgCode prg_code_of(std::uint8_t wire_code);

struct PrgResponse {
  Bdf agent;
  Bdf function;
  std::uint16_t prg_index = 0;  ///< 0..511
  std::uint8_t code = 0;        ///< as on the wire, 0..15
  OptionalId<Pasid> pasid;
  bool is_by_handle = false;  ///< function and PASID are behind a handle [DHI D21]
};

Tlp prg_response_tlp(const PrgResponse& response);
/// REQUIRES: a Msg with this Message Code.
PrgResponse prg_response_of(const Tlp& tlp);

/// The agent's answer to a group, from its last request. wants_pasid: PRG Response PASID Required
/// of the function; a Response Failure names the PASID in any case. [PRI-36] [PRI-37]
PrgResponse prg_response_to(const PageRequest& last, Bdf agent, PrgCode code, bool wants_pasid);

}  // namespace flitwise
