// SPDX-License-Identifier: Apache-2.0
// TLPs, frames and flits as events: one of a flit, and behind it those of what it holds.
#include <fmt/format.h>

#include <algorithm>

#include "codec/flit_json.h"
#include "codec/roce_json.h"
#include "common/byte_vector.h"
#include "script/script_session.h"

namespace flitwise {
namespace {

template <class Bytes>
Json with_hex(Json fields, const Bytes& bytes) {
  fields["hex"] = json_value::hex_bytes(bytes);
  return fields;
}

std::string at_byte(std::size_t offset) {
  return fmt::format("byte {}", offset);
}

// Of a malformed packet its bytes alone.
Json json_or_hex(PacketRead packet, const ByteVector& bytes) {
  return packet.flaw ? with_hex(std::move(packet.json), bytes) : std::move(packet.json);
}

// Flat: the slots have events of their own, and credits stand beside the other fields.
Json flit_event(const Json& flit, const ByteVector& bytes) {
  Json event = flit;
  event.erase("slots");
  if (event.contains("credits")) {
    const Json credits = event["credits"];
    event.erase("credits");
    event.update(credits);
  }
  return with_hex(std::move(event), bytes);
}

// "D2H Req + 2 D2H Rsp": the valid ones.
std::string text_of(const Json& messages) {
  std::vector<std::pair<std::string, std::size_t>> runs;  // of one channel
  for (const Json& message : messages) {
    if (message.is_null()) {
      continue;
    }
    const auto channel = message["channel"].get<std::string>();
    if (runs.empty() || runs.back().first != channel) {
      runs.emplace_back(channel, 0);
    }
    ++runs.back().second;
  }
  std::string text;
  for (const auto& [channel, count] : runs) {
    text +=
        (text.empty() ? "" : " + ") + (count > 1 ? fmt::format("{} {}", count, channel) : channel);
  }
  return text;
}

}  // namespace

void CodecScript::run(const FrameOp& op, std::uint32_t token) {
  ByteVector framed;
  if (op.is_dllp) {
    std::array<std::uint8_t, 6> dllp{};
    std::copy_n(op.bytes.begin(), dllp.size(), dllp.begin());
    frame_dllp(op.framing, dllp, framed);
  } else {
    frame_tlp(op.framing, op.sequence, op.bytes, op.is_nullified, framed);
  }
  output_.write(token, "frame", with_hex({{"unit", op.is_dllp ? "dllp" : "tlp"}}, framed));
}

void CodecScript::run(const UnframeOp& op, std::uint32_t token) {
  const auto unframe = op.is_dllp ? unframe_dllp : unframe_tlp;
  const FrameResult result = unframe(op.framing, op.bytes.data(), op.bytes.size());
  if (result.error) {
    output_.error(token, name_of(*result.error), at_byte(result.error_offset));
    return;
  }
  Json fields = {{"unit", op.is_dllp ? "dllp" : "tlp"}};
  if (!op.is_dllp) {
    fields["seq"] = result.sequence;
    fields["nullified"] = result.is_nullified;
  }
  fields["hex"] = json_value::hex_bytes(op.bytes.data() + result.offset, result.bytes);
  output_.write(token, "frame", fields);
}

void CodecScript::run(const EncodeTlpOp& op, std::uint32_t token) {
  output_.write(token, "tlp",
                with_hex(json_or_hex(read_tlp(op.bytes, op.form, false), op.bytes), op.bytes));
}

void CodecScript::run(const DecodeTlpOp& op, std::uint32_t token) {
  PacketRead packet = read_tlp(op.bytes, op.form, op.checks);
  if (packet.flaw) {
    output_.error(token, packet.flaw->kind, at_byte(packet.flaw->offset));
    return;
  }
  output_.write(token, "tlp", with_hex(std::move(packet.json), op.bytes));
}

void CodecScript::run(const EncodeFlitOp& op, std::uint32_t token) {
  auto tlp = op.plan.tlps.begin();
  for (const WrittenFlit& flit : written_.write({op.plan})) {
    DlpBytes dlp{};
    std::copy_n(flit.bytes.begin() + flit::kTlpBytes, dlp.size(), dlp.begin());
    tell(json_of(decode_dlp(dlp).value()), flit.bytes, token);
    for (std::size_t i = 0; i < flit.tlps; ++i, ++tlp) {
      output_.write(token, "tlp", json_or_hex(read_flit_tlp(*tlp, false), tlp->bytes));
    }
  }
}

void CodecScript::run(const DecodeFlitOp& op, std::uint32_t token) {
  FlitsRead read = read_flits(op.flits, op.options);
  for (std::size_t i = 0; i < read.flits.size(); ++i) {
    const Json tlps = read.flits[i]["tlps"];
    read.flits[i].erase("tlps");
    read.flits[i].erase("check");
    tell(std::move(read.flits[i]), op.flits[i], token);
    for (const Json& tlp : tlps) {
      output_.write(token, "tlp", tlp);
    }
  }
  if (read.flaw) {
    output_.error(token, read.flaw->kind,
                  fmt::format("flit {}, byte {}", read.flaw_flit + 1, read.flaw->offset));
  }
}

void CodecScript::tell(Json flit, const FlitBytes& bytes, std::uint32_t token) {
  const Json dllp = flit.value("dllp", Json());
  flit.erase("dllp");
  output_.write(token, "flit", with_hex(std::move(flit), bytes));
  if (!dllp.is_null()) {
    output_.write(token, "dllp", dllp);
  }
}

void CodecScript::run(const EncodeCxlOp& op, std::uint32_t token) {
  const CxlFlitKind kind = cxl_flit_kind_of(op.flit, {});
  for (const ByteVector& bytes : cxl_written_.bytes_of(op.flit, {})) {
    tell_cxl(cxl_shown_, kind, bytes, token);
  }
}

void CodecScript::run(const DecodeCxlOp& op, std::uint32_t token) {
  tell_cxl(cxl_read_, op.kind, op.bytes, token);
}

void CodecScript::run(const DecodeRoceOp& op, std::uint32_t token) {
  PacketRead frame = read_roce_frame(op.bytes, op.checks);
  if (frame.flaw) {
    output_.error(token, frame.flaw->kind, at_byte(frame.flaw->offset));
    return;
  }
  output_.write(token, "roce", with_hex(std::move(frame.json), op.bytes));
}

void CodecScript::tell_cxl(CxlFlitStream& stream, const CxlFlitKind& kind, const ByteVector& bytes,
                           std::uint32_t token) {
  const CxlFlitStream::Read read = stream.read(kind, bytes);
  if (read.error) {
    output_.error(token, name_of(*read.error), at_byte(read.error_offset));
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
