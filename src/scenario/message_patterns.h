// SPDX-License-Identifier: Apache-2.0
/// Named fields of the messages of ATS and PRI (tlp/message_fields.h) in what a case says of
/// events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/value_test.h"

namespace flitwise::scenario {

/// Message Codes that a pattern names; none where it may be any.
std::vector<std::uint64_t> named_codes(const config::Value& pattern);

/// Complains of a field that none of these messages has, since no event would have it.
void check_message_field(const std::string& field, const config::Place& place,
                         const std::vector<std::uint64_t>& codes, const Spot& spot);

/// The values of a pattern's field as events have them: names as their numbers, identities as
/// bus:device.function. Complains of one that no message can have. Other fields stay as they are.
config::Value as_in_events(const config::Value::Entry& entry,
                           const std::vector<std::uint64_t>& codes, const Spot& spot);

}  // namespace flitwise::scenario
