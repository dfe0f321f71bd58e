// SPDX-License-Identifier: Apache-2.0
// Flits as events: one of the flit, and behind it those of its slots and their messages.
#include "system/cxl_flit_script.h"

#include <fmt/format.h>

namespace flitwise {
namespace {

using json_value::Json;

// Flat: the slots have events of their own, and credits stand beside the other fields.
Json flit_event(const Json& flit, const ByteVector& bytes) {
  Json event = flit;
  event.erase("slots");
  if (event.contains("credits")) {
    const Json credits = event["credits"];
    event.erase("credits");
    event.update(credits);
  }
  event["hex"] = json_value::hex_bytes(bytes.data(), bytes.size());
  return event;
}

// "D2H Req + 2 D2H Rsp": the valid ones.
std::string text_of(const Json& messages) {
  std::string text, last;
  std::size_t count = 0;
  const auto flush = [&] {
    if (count > 0) {
      text += (text.empty() ? "" : " + ") + (count > 1 ? fmt::format("{} {}", count, last) : last);
    }
    count = 0;
  };
  for (const Json& message : messages) {
    if (message.is_null()) {
      continue;
    }
    const auto channel = message["channel"].get<std::string>();
    if (channel != last) {
      flush();
    }
    last = channel;
    ++count;
  }
  flush();
  return text;
}

}  // namespace

void CxlFlitScript::encode(const EncodeCxlOp& op, std::uint32_t token) {
  const CxlFlitKind kind = cxl_flit_kind_of(op.flit, {});
  for (const ByteVector& bytes : written_.bytes_of(op.flit, {})) {
    tell(shown_, kind, bytes, token);
  }
}

void CxlFlitScript::decode(const DecodeCxlOp& op, std::uint32_t token) {
  tell(read_, op.kind, op.bytes, token);
}

void CxlFlitScript::tell(CxlFlitStream& stream, const CxlFlitKind& kind, const ByteVector& bytes,
                         std::uint32_t token) {
  const CxlFlitStream::Read read = stream.read(kind, bytes);
  if (read.error) {
    output_.error(token, name_of(*read.error), fmt::format("byte {}", read.error_offset));
    return;
  }
  output_.write(token, "cxl_flit", flit_event(read.json, bytes));
  const Json slots = read.json.value("slots", Json::array());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Json slot = {{"slot", i}};
    slot.update(slots[i]);
    const Json messages = slots[i].value("messages", Json::array());
    if (slot.contains("messages")) {
      slot["messages"] = text_of(messages);
    }
    if (slot.value("messages", "data") == "") {
      continue;  // empty
    }
    output_.write(token, "cxl_slot", slot);
    for (std::size_t place = 0; place < messages.size(); ++place) {
      if (!messages[place].is_null()) {
        Json message = {{"slot", i}, {"place", place}};
        message.update(messages[place]);
        output_.write(token, "cxl_message", message);
      }
    }
  }
}

}  // namespace flitwise
