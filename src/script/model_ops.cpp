// SPDX-License-Identifier: Apache-2.0
// Operations on the machine and its models.
#include <utility>

#include "common/page.h"
#include "script/op_reader.h"
#include "tlp/tlp_codec.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kMostDmaBytes = std::uint64_t{1} << 31;
constexpr std::uint32_t kTranslationBytes = 8;         // one translation
constexpr std::uint32_t kMostTranslationBytes = 4096;  // as far as Length reaches [LNK-1.4]

/// The bytes of a write: a little-endian number of a width, or hex.
std::vector<std::uint8_t> read_bytes(OpReader& in) {
  std::vector<std::uint8_t> bytes;
  in.hex("hex", bytes);
  static constexpr std::pair<const char*, unsigned> kWidths[] = {
      {"u8", 1}, {"u16", 2}, {"u32", 4}, {"u64", 8}};
  unsigned given = in.has("hex") ? 1 : 0;
  for (const auto& [key, width] : kWidths) {
    if (!in.has(key)) {
      continue;
    }
    ++given;
    std::uint64_t value = 0;
    in.number(key, 0, width == 8 ? kAnyNumber : (std::uint64_t{1} << (8 * width)) - 1, value);
    for (unsigned i = 0; i < width; ++i) {
      bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }
  if (given != 1) {
    in.complain("", "expected one of u8, u16, u32, u64 (little-endian) or hex");
  } else if (bytes.size() > kMostScriptBytes) {
    in.complain("hex", "too long; expected up to 1 MiB");
  }
  return bytes;
}

// The bytes of a write come with it, and say how many there are.
void check_data(OpReader& in, DmaOp& op) {
  const bool is_translation = op.at == AddressType::kTranslationRequest;
  if (op.is_write && is_translation) {
    in.complain("kind", "a write cannot ask for a translation; expected read");
  }
  if (op.is_write) {
    in.need("hex");
    if (in.has("bytes") && op.bytes != op.data.size()) {
      in.complain("bytes", "differs from the number of bytes in hex");
    }
    op.bytes = static_cast<std::uint32_t>(op.data.size());
  } else if (in.has("hex") && !op.data.empty()) {
    in.complain("hex", "a read brings no bytes along; expected bytes");
  } else if (!in.has("bytes") && !is_translation) {
    in.need("bytes");
  }
  if (is_translation && !in.has("bytes")) {
    op.bytes = kTranslationBytes;
  }
  if (is_translation && op.bytes > kMostTranslationBytes) {
    in.complain("bytes", std::to_string(op.bytes) +
                             " seen; expected up to 4096: a translation request is one TLP");
  }
}

void read_wire(OpReader& in, WireOp& wire) {
  in.text("link", wire.link);
  wire.is_up = in.word(in.need("direction"), {"down", "up"}) == 1;
}

}  // namespace

void read_op(OpReader& in, PokeOp& op) {
  in.address(op.address);
  op.bytes = read_bytes(in);
}

void read_op(OpReader& in, PeekOp& op) {
  in.address(op.address);
  in.number("bytes", 1, kMostScriptBytes, op.bytes);
}

void read_op(OpReader& in, TlpOp& op) {
  in.text("port", op.port);
  in.hex("hex", op.bytes);
  in.tlp("tlp", op.bytes);
  if (in.has("hex") == in.has("tlp")) {
    in.complain("", "expected either hex or tlp, the fields of a packet");
  }
  if (op.bytes.size() > kMostTlpBytes) {
    in.complain("hex", "too long for a TLP; expected up to 8160 bytes");
  }
}

void read_op(OpReader& in, DmaOp& op) {
  in.text("port", op.port);
  in.bdf("rid", op.requester_id);
  in.pasid(op.pasid);
  op.at = static_cast<AddressType>(
      in.word("at", {"untranslated", "translation_request", "translated"}));
  op.is_write = in.word(in.need("kind"), {"read", "write"}) == 1;
  in.address(op.address);
  in.number("bytes", 0, kMostDmaBytes, op.bytes);
  in.hex("hex", op.data);
  in.flag("no_write", op.no_write);
  in.flag("execute", op.execute);
  in.flag("privileged", op.privileged);
  check_data(in, op);
}

void read_op(OpReader& in, MmioOp& op) {
  in.address(op.address);
  if (op.is_write) {
    op.data = read_bytes(in);
    return;
  }
  in.number("bytes", 1, kPageBytes, op.bytes);
  if (op.address % kPageBytes + op.bytes > kPageBytes) {
    in.complain("bytes", "crosses a 4 KiB boundary; expected one read a page");
  }
}

void read_op(OpReader& in, RunOp& op) {
  in.time("for", op.span);
  in.field("until", [&](const Json& value) -> Complaint {
    std::size_t place = 0;
    if (!value.is_object()) {
      const bool is_idle = json_value::read_word(value, {"idle"}, place).empty();
      return is_idle ? ""
                     : json_value::shown(value) +
                           " seen; expected idle, or fields of an event such as {event: message}";
    }
    op.until = value;
    return {};
  });
  in.time("limit", op.limit);
  if (in.has("for") == in.has("until")) {
    in.complain("", "expected either for or until");
  }
  if (in.has("limit") && (op.until.is_null() || op.limit == Time{})) {
    in.complain("limit", "expected a time above 0, beside until with an event");
  }
}

void read_op(OpReader& in, FaultOp& op) {
  read_wire(in, op.wire);
  op.fault.action = static_cast<WireFault::Action>(
      in.word(in.need("do"), {"corrupt", "drop", "duplicate", "delay"}));
  const std::vector<std::string> words = unit_filter_words();
  op.fault.unit = *read_unit_filter(words[in.word("unit", words)]);
  in.number("nth", 1, kMost32, op.fault.nth);
  in.number("count", 1, kMost32, op.fault.count);
  in.time("by", op.fault.by);
  in.flag("may_miss", op.fault.may_miss);
  if (op.fault.action == WireFault::Action::kDelay) {
    in.need("by");
  }
}

void read_op(OpReader& in, DllpOp& op) {
  read_wire(in, op.wire);
  in.dllp(in.need("dllp"), op.dllp);
}

void read_op(OpReader& in, DhiOp& op) {
  in.text("port", op.port);
  in.bdf("rid", op.requester_id);
  op.is_alloc = in.word(in.need("send"), {"alloc", "dealloc"}) == 0;
  in.number("dhi", 0, kMost16, op.dhi);
  in.number("upper", 0, kMost16, op.upper);
  op.scope = static_cast<DeallocScope>(in.word("scope", {"one", "range", "function", "all"}));
  in.bdf("bdf", op.bdf);
  in.pasid(op.pasid);
  in.context(op.context);
  in.flag("trusted", op.is_trusted);
  in.number("capabilities", 0, kMost16, op.capabilities);
  in.number("epoch", 0, 255, op.epoch);
}

void read_op(OpReader& in, CxlOp& op) {
  in.text("port", op.port);
  in.field(in.need("message"), [&](const Json& value) -> Complaint {
    if (!value.is_object() && !value.is_string()) {
      return json_value::shown(value) + " seen; expected a message, or the name of its channel";
    }
    op.message = value;
    return {};
  });
}

void read_op(OpReader& in, HandleOp& op) {
  in.text("port", op.port);
  op.is_host = in.word(in.need("end"), {"device", "host"}) == 1;
  in.number(in.need("dhi"), 0, kMost16, op.dhi);
}

void read_op(OpReader& in, ResultOp& op) {
  in.text(in.need("path"), op.path);
}

void read_op(OpReader& in, ResetOp& op) {
  op.kind = static_cast<ResetOp::Kind>(in.word(in.need("kind"), {"hot", "flr", "link_down"}));
  in.bdf(in.need("bdf"), op.target);
}

}  // namespace flitwise
