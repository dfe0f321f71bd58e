// SPDX-License-Identifier: Apache-2.0
// TLPs and flits as events: one of the flit, and behind it those of its DLLP and its TLPs.
#include "system/codec_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/flit_json.h"
#include "codec/packet_read.h"
#include "common/byte_vector.h"

namespace flitwise {
namespace {

using json_value::Json;

Json with_hex(Json fields, const std::uint8_t* bytes, std::size_t count) {
  fields["hex"] = json_value::hex_bytes(bytes, count);
  return fields;
}

Json with_hex(Json fields, const ByteVector& bytes) {
  return with_hex(std::move(fields), bytes.data(), bytes.size());
}

// Of a malformed packet its bytes alone.
Json json_or_hex(PacketRead packet, const ByteVector& bytes) {
  return packet.flaw ? with_hex(std::move(packet.json), bytes) : std::move(packet.json);
}

}  // namespace

void CodecScript::encode(const EncodeTlpOp& op, std::uint32_t token) {
  output_.write(token, "tlp",
                with_hex(json_or_hex(read_tlp(op.bytes, op.form, false), op.bytes), op.bytes));
}

void CodecScript::decode(const DecodeTlpOp& op, std::uint32_t token) {
  PacketRead packet = read_tlp(op.bytes, op.form, op.checks);
  if (packet.flaw) {
    output_.error(token, packet.flaw->kind, fmt::format("byte {}", packet.flaw->offset));
    return;
  }
  output_.write(token, "tlp", with_hex(std::move(packet.json), op.bytes));
}

void CodecScript::encode(const EncodeFlitOp& op, std::uint32_t token) {
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

void CodecScript::decode(const DecodeFlitOp& op, std::uint32_t token) {
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
  output_.write(token, "flit", with_hex(std::move(flit), bytes.data(), bytes.size()));
  if (!dllp.is_null()) {
    output_.write(token, "dllp", dllp);
  }
}

}  // namespace flitwise
