// SPDX-License-Identifier: Apache-2.0
// TLPs and flits as events: one of the flit, and behind it those of its DLLP and its TLPs.
#include "system/codec_script.h"

#include <fmt/format.h>

#include "link/flit_json.h"
#include "tlp/packet_read.h"

namespace flitwise {
namespace {

using json_value::Json;

Json with_hex(Json fields, const std::uint8_t* bytes, std::size_t count) {
  fields["hex"] = json_value::hex_bytes(bytes, count);
  return fields;
}

Json with_hex(Json fields, const std::vector<std::uint8_t>& bytes) {
  return with_hex(std::move(fields), bytes.data(), bytes.size());
}

// DWs of a TLP that began before, where the first of the flit is the rest of one.
std::uint64_t rest_dw_of(const FlitPlan& plan) {
  const bool is_rest = !plan.tlps.empty() && plan.tlps.front().began_before;
  return is_rest ? plan.tlps.front().bytes.size() / 4 : 0;
}

}  // namespace

void CodecScript::encode(const EncodeTlpOp& op, std::uint32_t token) {
  PacketRead packet = read_tlp(op.bytes, op.form, false);
  Json fields = packet.flaw ? Json::object() : std::move(packet.json);
  output_.write(token, "tlp", with_hex(std::move(fields), op.bytes));
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
  tell({rest_dw_of(op.plan), false}, written_.write({op.plan}), token);
}

void CodecScript::decode(const DecodeFlitOp& op, std::uint32_t token) {
  tell(op.options, op.flits, token);
}

void CodecScript::tell(const FlitReadOptions& options, const std::vector<FlitBytes>& flits,
                       std::uint32_t token) {
  FlitsRead read = read_flits(flits, options);
  for (std::size_t i = 0; i < read.flits.size(); ++i) {
    Json& flit = read.flits[i];
    const Json dllp = flit.value("dllp", Json());
    const Json tlps = flit["tlps"];
    for (const char* key : {"dllp", "tlps", "check"}) {
      flit.erase(key);
    }
    output_.write(token, "flit", with_hex(std::move(flit), flits[i].data(), flits[i].size()));
    if (!dllp.is_null()) {
      output_.write(token, "dllp", dllp);
    }
    for (const Json& tlp : tlps) {
      output_.write(token, "tlp", tlp);
    }
  }
  if (read.flaw) {
    output_.error(token, read.flaw->kind,
                  fmt::format("flit {}, byte {}", read.flaw_flit + 1, read.flaw->offset));
  }
}

}  // namespace flitwise
