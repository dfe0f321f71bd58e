// SPDX-License-Identifier: Apache-2.0
// Operations on registers of configuration space and of the translation agent.
#include "common/page.h"
#include "script/op_reader.h"

namespace flitwise {
namespace {

// The row of a table that `reg` names; nothing where the line has `offset` in its place.
template <class Row>
const Row* read_name(OpReader& in, const std::vector<Row>& table) {
  if (in.has("reg") == in.has("offset")) {
    in.complain("", "expected either reg, the name of a register, or offset");
  }
  std::vector<std::string> names;
  for (const Row& row : table) {
    names.emplace_back(row.name);
  }
  std::optional<std::size_t> place;
  in.word("reg", names, place);
  return place ? &table[*place] : nullptr;
}

// A number, or a list of bits by their names.
void read_value(OpReader& in, const AgentRegister* named, std::uint64_t& value) {
  std::vector<std::string> names;
  for (std::size_t i = 0; named != nullptr && i < named->bits.size(); ++i) {
    names.emplace_back(named->bits[i].name);
  }
  in.field(in.need("value"), [&](const Json& json) -> Complaint {
    if (!json.is_array()) {
      return json_value::read_number(json, 0, kAnyNumber, value);
    }
    if (names.empty()) {
      return json_value::shown(json) + " seen; expected a number: no bits of it have names";
    }
    for (const Json& item : json) {
      std::size_t place = 0;
      if (Complaint complaint = json_value::read_word(item, names, place); !complaint.empty()) {
        return complaint;
      }
      value |= named->bits[place].mask;
    }
    return {};
  });
}

}  // namespace

void read_op(OpReader& in, CfgOp& op) {
  in.bdf(in.need("bdf"), op.target);
  op.named = read_name(in, config_registers());
  in.number("offset", 0, kPageBytes - 1, op.offset);
  op.bytes = op.named == nullptr ? 4 : op.named->bytes;
  in.number("bytes", 1, op.bytes, op.bytes);
  if (op.bytes == 3 || op.offset % op.bytes != 0) {
    in.complain("bytes", "expected 1, 2 or 4 that divide offset");
  }
  if (op.is_write) {
    in.number(in.need("value"), 0, (std::uint64_t{1} << (8 * op.bytes)) - 1, op.value);
  }
}

void read_op(OpReader& in, IommuOp& op) {
  constexpr std::uint64_t kLastOffset = 0xffc;
  const AgentRegister* const named = read_name(in, agent_registers());
  in.number("offset", 0, kLastOffset, op.offset);
  if (op.offset % 4 != 0) {
    in.complain("offset", "is no multiple of 4; expected the offset of a register");
  }
  op.offset = named == nullptr ? op.offset : named->offset;
  if (op.is_write) {
    read_value(in, named, op.value);
  }
}

void read_op(OpReader& in, FaultRecordOp& op) {
  constexpr std::uint64_t kLastRecord = 255;
  in.number("index", 0, kLastRecord, op.index);
}

void read_op(OpReader& in, TranslateOp& op) {
  op.is_on = in.word(in.need("state"), {"off", "on"}) == 1;
}

}  // namespace flitwise
