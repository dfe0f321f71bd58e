// SPDX-License-Identifier: Apache-2.0
/// The fields of a TLP header, a row each: its name, which TLPs have it, how it is written for
/// people, and where its bits stand in both modes. Encoders, decoders and JSON go by this table.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/field_access.h"
#include "flitwise/tlp.h"

namespace flitwise {

/// Which mode's bytes a TLP has.
enum class TlpForm : std::uint8_t { kNonFlit, kFlit };

/// Which TLPs a field, or a place of its bits, belongs to.
using TlpPart = bool (*)(const Tlp& tlp);
/// Neither completion nor message.
bool is_plain_request(const Tlp& tlp);

/// Bits of a field: `width` bits, of which the lowest is bit `from` of the field and bit `shift` of
/// a DW of the header.
struct TlpBits {
  TlpPart is_of = nullptr;         ///< null: all that have the field
  std::uint8_t dw = 0, shift = 0;  ///< 4 and 5 are OHC-A and OHC-B
  std::uint8_t width = 0;          ///< 0: no place
  std::uint8_t from = 0;
  std::uint64_t mask() const { return (std::uint64_t{1} << width) - 1; }
};
using TlpPlaces = std::array<TlpBits, 4>;
inline constexpr unsigned kOhcADw = 4, kOhcBDw = 5;
using HeaderDws = std::array<std::uint32_t, 6>;

struct TlpField {
  /// How people see it: 5, true, a word, 01:02.3, 0x1000, 0x00001000.
  enum class Format : std::uint8_t { kNumber, kFlag, kWord, kBdf, kHex, kHexDw };

  const char* key;  ///< its name in JSON
  Format format;
  TlpPart is_of;
  FieldAccess<Tlp> value;
  std::uint64_t most;                ///< numbers
  std::array<TlpPlaces, 2> places;   ///< by TlpForm
  std::vector<std::string> words{};  ///< kWord: by value
};

/// In the order in which JSON has them. Type, Fmt, prefixes and OHC are none of these.
const std::vector<TlpField>& tlp_fields();

/// The DWs of the header, all but Fmt, Type and what says which OHC there is; behind them those of
/// OHC-A and OHC-B, all but the PASID.
HeaderDws header_bits(const Tlp& tlp, TlpForm form);
/// Sets what stands in a DW of the header. REQUIRES: type and width of the TLP are set.
void take_header_dw(std::uint32_t dw, unsigned index, TlpForm form, Tlp& tlp);

}  // namespace flitwise
