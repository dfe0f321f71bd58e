// SPDX-License-Identifier: Apache-2.0
/// Bytes of a packet as JSON, or what is wrong with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec/json_value.h"
#include "codec/packet_json.h"

namespace flitwise {

struct PacketFlaw {
  std::string kind;      ///< "truncated", "crosses_4kib", ...
  std::string sentence;  ///< for people
  std::size_t offset;    ///< of the byte that shows it; the size where bytes are missing
};

struct PacketRead {
  json_value::Json json;  ///< docs/formats/tlp_json.md
  std::optional<PacketFlaw> flaw;
};

/// One TLP that fills the bytes. `checks`: one that breaks a rule of its fields is none.
PacketRead read_tlp(const std::vector<std::uint8_t>& bytes, TlpForm form, bool checks);

}  // namespace flitwise
