// SPDX-License-Identifier: Apache-2.0
// The table of fields of messages.
#include "tlp/message_fields.h"

#include <algorithm>

#include "tlp/message_use.h"

namespace flitwise {
namespace {

using MessageFormat = TlpField::Format;

/// Bits [high:low].
constexpr std::uint64_t bit_range(unsigned high, unsigned low) {
  return (~std::uint64_t{0} >> (63U - high)) & (~std::uint64_t{0} << low);
}
/// The same of DW2, which is the upper half of a header's word.
constexpr std::uint64_t dw2_bits(unsigned high, unsigned low) {
  return bit_range(high + 32U, low + 32U);
}
constexpr std::uint64_t kDw3 = bit_range(31, 0);

}  // namespace

const std::vector<MessageField>& message_fields() {
  constexpr auto kHeader = &MessageWords::header;
  constexpr auto kPayload = &MessageWords::payload;
  constexpr auto kNumber = MessageFormat::kNumber, kFlag = MessageFormat::kFlag,
                 kBdf = MessageFormat::kBdf, kHex = MessageFormat::kHex;
  static const std::vector<MessageField> kFields = {
      // [LNK-4.4]; the payload: [LNK-4.6]
      {"itag", msg::kInvalidateRequest, kNumber, &MessageWords::tag, bit_range(4, 0), 0, 0},
      {"destination_id", msg::kInvalidateRequest, kBdf, kHeader, dw2_bits(31, 16), 48, 0},
      {"untranslated_address", msg::kInvalidateRequest, kHex, kPayload, bit_range(63, 12), 0, 0},
      {"sized", msg::kInvalidateRequest, kFlag, kPayload, bit_range(11, 11), 11, 0},
      {"global_invalidate", msg::kInvalidateRequest, kFlag, kPayload, bit_range(0, 0), 0, 0},
      {"reserved_bits", msg::kInvalidateRequest, kHex, kHeader, dw2_bits(15, 0), 32, 0},
      {"reserved_dw3", msg::kInvalidateRequest, kHex, kHeader, kDw3, 0, 0},
      {"reserved_payload_bits", msg::kInvalidateRequest, kHex, kPayload, bit_range(10, 1), 0, 0},
      // [LNK-4.5]
      {"destination_id", msg::kInvalidateCompletion, kBdf, kHeader, dw2_bits(31, 16), 48, 0},
      {"completion_count", msg::kInvalidateCompletion, kNumber, kHeader, dw2_bits(2, 0), 32, 1},
      {"itag_vector", msg::kInvalidateCompletion, kHex, kHeader, kDw3, 0, 0},
      {"reserved_bits", msg::kInvalidateCompletion, kHex, kHeader, dw2_bits(15, 3), 32, 0},
      // [LNK-4.7]
      {"page_address", msg::kPageRequest, kHex, kHeader, bit_range(63, 12), 0, 0},
      {"prg_index", msg::kPageRequest, kNumber, kHeader, bit_range(11, 3), 3, 0},
      {"last_request", msg::kPageRequest, kFlag, kHeader, bit_range(2, 2), 2, 0},
      {"write_requested", msg::kPageRequest, kFlag, kHeader, bit_range(1, 1), 1, 0},
      {"read_requested", msg::kPageRequest, kFlag, kHeader, bit_range(0, 0), 0, 0},
      // [LNK-4.8]; the names: [PRI-10]
      {"destination_id", msg::kPrgResponse, kBdf, kHeader, dw2_bits(31, 16), 48, 0},
      {"response_code",
       msg::kPrgResponse,
       kNumber,
       kHeader,
       dw2_bits(15, 12),
       44,
       0,
       {"success", "invalid_request", "", "", "", "", "", "", "", "", "", "", "", "", "",
        "response_failure"}},
      {"prg_index", msg::kPrgResponse, kNumber, kHeader, dw2_bits(8, 0), 32, 0},
      {"reserved_bits", msg::kPrgResponse, kHex, kHeader, dw2_bits(11, 9), 32, 0},
      {"reserved_dw3", msg::kPrgResponse, kHex, kHeader, kDw3, 0, 0},
  };
  return kFields;
}

const MessageField* find_message_field(const std::string& key,
                                       const std::vector<std::uint64_t>& codes) {
  const auto& all = message_fields();
  const auto found = std::find_if(all.begin(), all.end(), [&](const MessageField& field) {
    return key == field.key && (codes.empty() || std::find(codes.begin(), codes.end(),
                                                           field.message_code) != codes.end());
  });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> messages_with(const std::string& key) {
  std::vector<std::string> messages;
  for (const MessageField& field : message_fields()) {
    if (key == field.key) {
      messages.push_back("message_code " + std::to_string(field.message_code) + " (" +
                         message_rule(field.message_code).name + ")");
    }
  }
  return messages;
}

std::vector<std::string> message_field_names(std::uint64_t message_code) {
  std::vector<std::string> names;
  for (const MessageField& field : message_fields()) {
    if (field.message_code == message_code) {
      names.emplace_back(field.key);
    }
  }
  return names;
}

}  // namespace flitwise
