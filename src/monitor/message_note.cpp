// SPDX-License-Identifier: Apache-2.0
// Messages as short texts.
#include "monitor/message_note.h"

#include <fmt/format.h>

#include "cxl/channels.h"

namespace flitwise {
namespace {

bool has_address(CxlChannel channel) {
  return channel == CxlChannel::kD2hReq || channel == CxlChannel::kH2dReq ||
         channel == CxlChannel::kM2sReq || channel == CxlChannel::kM2sRwd ||
         channel == CxlChannel::kS2mBiSnp;
}

}  // namespace

std::string text_of(const MessageNote& note) {
  const char* const opcode = cxl_opcode_name(note.channel, note.opcode);
  return fmt::format("#{} {}{}{} id {}{}", note.uid, info_of(note.channel).name,
                     opcode == nullptr ? "" : " ", opcode == nullptr ? "" : opcode, note.id,
                     has_address(note.channel) ? fmt::format(" at {:#x}", note.address) : "");
}

}  // namespace flitwise
