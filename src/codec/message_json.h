// SPDX-License-Identifier: Apache-2.0
/// Named fields of the messages of ATS and PRI in packet JSON (docs/formats/tlp_json.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/json_reader.h"
#include "codec/packet_json.h"
#include "tlp/message_fields.h"

namespace flitwise {

/// A value of the field; what is wrong with it, or nothing. A named value may be its number as
/// well.
Complaint read_message_value(const MessageField& field, const Json& value, std::uint64_t& out);
/// The value as JSON has it; a named one as its number.
Json message_value_json(const MessageField& field, std::uint64_t value);

/// Sets the fields that the object names in the message. Bits that no name gives stay as they are.
/// `reader` gets a complaint where the message has no such field, a value is out of range, or a
/// number beside the name says something else. REQUIRES: all other fields have been read.
void read_message_fields(JsonReader& reader, TlpDocument& document);

/// What may stand in place of a field that none of these messages has: the messages that have it,
/// or the fields that these have, the nearest one behind them.
std::string expected_in_place_of(const std::string& key, const std::vector<std::uint64_t>& codes);

/// What a packet as JSON says in one of these fields, null where it has no such field.
Json message_field_of(const Json& packet, const std::string& key);

}  // namespace flitwise
