// SPDX-License-Identifier: Apache-2.0
/// Packets as JSON, with the standard's field names. docs/formats/tlp_json.md shows every key.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec/json_value.h"
#include "flitwise/dllp.h"
#include "flitwise/error.h"
#include "flitwise/tlp.h"
#include "tlp/flit_tlp_codec.h"
#include "tlp/tlp_fields.h"

namespace flitwise {

/// A TLP with all that its bytes hold.
struct TlpDocument {
  Tlp tlp;
  std::vector<std::uint8_t> payload;
  /// Reserved bits that were set, by DW from the first; shorter than the TLP or empty.
  std::vector<std::uint32_t> reserved;
  TlpForm form = TlpForm::kNonFlit;
  bool has_spare_ohc_a = false;  ///< flit mode: OHC-A is there, but nothing in it needs it
};

/// The document of decoded bytes: tlp and its payload place come from decode_tlp without error.
TlpDocument document_of(const Tlp& tlp, const std::vector<std::uint8_t>& bytes,
                        std::size_t payload_offset);
/// The same of decode_flit_mode.
TlpDocument document_of(const FlitTlpDecodeResult& decoded, const std::vector<std::uint8_t>& bytes);
/// The bytes of a document, ECRC included.
std::vector<std::uint8_t> bytes_of(const TlpDocument& document);

Json json_of(const TlpDocument& document);
Json json_of(const Dllp& dllp);

/// Missing fields get the defaults of docs/formats/tlp_json.md. Throws ConfigError with every
/// problem: unknown key (and the nearest), a field the type does not have, a value out of range, a
/// field that flit mode does not have.
TlpDocument tlp_from_json(const Json& object, const JsonSource& source,
                          TlpForm form = TlpForm::kNonFlit);
/// Throws ConfigError if the TLP breaks a rule of its fields.
void check_rules(const Tlp& tlp, const JsonSource& source);
/// `is_in_flit`: it may speak of shared credits. [LNK-11.24]
Dllp dllp_from_json(const Json& object, const JsonSource& source, bool is_in_flit = true);

/// What is wrong with the bytes of a packet.
struct PacketFlaw {
  std::string kind;      ///< "truncated", "crosses_4kib", ...
  std::string sentence;  ///< for people
  std::size_t offset;    ///< of the byte that shows it; the size where bytes are missing
};

struct PacketRead {
  Json json;  ///< docs/formats/tlp_json.md
  std::optional<PacketFlaw> flaw;
};

/// One TLP that fills the bytes. `checks`: one that breaks a rule of its fields is none.
PacketRead read_tlp(const std::vector<std::uint8_t>& bytes, TlpForm form, bool checks);

}  // namespace flitwise
