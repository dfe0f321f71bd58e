// SPDX-License-Identifier: Apache-2.0
/// The fields of the messages of ATS and PRI, a row each: its name, the Message Code that it
/// belongs to, and its bits. Packet JSON, scripts and cases go by this table. The model's own
/// encoders (ats/ats_messages.h) do not, so that a case notices a bit that these put in a wrong
/// place. [LNK-4.4] to [LNK-4.8]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flitwise/tlp.h"
#include "tlp/tlp_fields.h"

namespace flitwise {

/// Where such a message keeps its fields.
struct MessageWords {
  std::uint64_t header = 0;   ///< DW2 in [63:32], DW3 in [31:0]
  std::uint64_t payload = 0;  ///< its first eight bytes, the first one in [63:56] [LNK-4.3]
  std::uint64_t tag = 0;
};

inline constexpr unsigned kPayloadWordBytes = sizeof(MessageWords::payload);

struct MessageField {
  const char* key;  ///< its name in JSON
  std::uint8_t message_code;
  TlpField::Format format;
  std::uint64_t MessageWords::*word;
  /// Its bits there. Reserved ones may lie apart; they keep the places of their DW or payload.
  std::uint64_t mask;
  std::uint8_t shift;   ///< of the value in the word
  std::uint64_t least;  ///< 1 where code 0 is one more than the highest number [INV-09]
  std::vector<std::string> words{};  ///< names of values, "" where there is none

  /// Highest value, with all bits of the field set.
  std::uint64_t most() const { return (mask >> shift) + least; }
  std::uint64_t get(const MessageWords& from) const {
    const std::uint64_t bits = (from.*word & mask) >> shift;
    return bits < least ? most() : bits;
  }
  /// Does the value set other bits as well?
  bool goes_beyond(std::uint64_t value) const {
    return least == 0 && (value << shift & ~mask) != 0;
  }
  /// REQUIRES: least <= value <= most(), and it does not go beyond.
  void set(MessageWords& to, std::uint64_t value) const {
    to.*word = (to.*word & ~mask) | (value << shift & mask);
  }
  bool is_in_payload() const { return word == &MessageWords::payload; }
  bool is_of(const Tlp& tlp) const {
    return is_message(tlp.type) && tlp.message_code == message_code &&
           (has_data(tlp.type) || !is_in_payload());
  }
};

/// By Message Code, from the first bit of each message to its last; reserved bits behind the
/// others.
const std::vector<MessageField>& message_fields();
/// The first row of that name and, where `codes` has any, one of these Message Codes; null if none.
const MessageField* find_message_field(const std::string& key,
                                       const std::vector<std::uint64_t>& codes = {});
/// Messages that have the field, as "message_code 4 (page_request)".
std::vector<std::string> messages_with(const std::string& key);
/// Names of the fields of one message.
std::vector<std::string> message_field_names(std::uint64_t message_code);

}  // namespace flitwise
