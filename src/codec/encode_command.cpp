// SPDX-License-Identifier: Apache-2.0
// The commands encode and decode.
#include "codec/encode_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <optional>
#include <ostream>
#include <sstream>

#include "codec/command_input.h"
#include "codec/cxl_flit_json.h"
#include "codec/flit_json.h"
#include "codec/json_reader.h"
#include "codec/packet_json.h"
#include "codec/roce_json.h"
#include "common/byte_vector.h"
#include "common/problems.h"
#include "common/ranges.h"
#include "link/framing_tokens.h"
#include "tlp/dllp_codec.h"

namespace flitwise {
namespace {

constexpr int kGood = 0, kBad = 2, kUsageError = 64;

const std::vector<std::string> kKinds = {"tlp", "dllp", "flit", "cxl", "roce"};
const JsonSource kSets{"--set", 0, {}};

/// What stands around a packet and is none of its fields.
struct FrameKeys {
  std::optional<Framing> framing;  ///< absent: bare packets
  std::uint64_t sequence = 0;
  bool is_nullified = false;
  bool is_flit_mode = false;  ///< TLPs in the form of flit mode
  bool checks = true;         ///< malformed TLPs are refused

  TlpForm form() const { return is_flit_mode ? TlpForm::kFlit : TlpForm::kNonFlit; }
};

const std::vector<std::string> kFramings = {"gen1", "gen3"};

// is_in_bytes: the frame is there already, with number and end.
FrameKeys read_frame_keys(const Json& keys, const JsonSource& source, bool is_in_bytes) {
  FrameKeys frame;
  JsonReader reader(keys, source);
  reader.word("framing", kFramings, frame.framing);
  if (!is_in_bytes) {
    reader.number("seq", 0, 0xfff, frame.sequence);
    reader.flag("nullified", frame.is_nullified);
  }
  reader.flag("check", frame.checks);
  reader.flag("flit_mode", frame.is_flit_mode);
  if (frame.is_flit_mode && frame.framing) {
    reader.complain("framing", "a TLP of flit mode has no framing of its own; expected none");
  }
  for (const char* key : {"seq", "nullified"}) {
    if (reader.has(key) && !frame.framing && !is_in_bytes) {
      reader.complain(key, "needs framing; expected framing gen1 or gen3 beside it");
    }
  }
  reader.finish();
  return frame;
}

struct RoceKeys {
  bool checks = true;
  RoceExtensions extensions;
};

RoceKeys read_roce_keys(const Json& keys) {
  RoceKeys roce;
  JsonReader reader(keys, kSets);
  reader.flag("check", roce.checks);
  reader.flag("echo", roce.extensions.has_echo);
  reader.flag("sack", roce.extensions.has_sack);
  reader.flag("place", roce.extensions.has_place);
  reader.finish();
  return roce;
}

// ---- JSON to hex digits

std::string tlp_hex(Json object, JsonSource source) {
  const Json keys =
      json_value::take_keys(object, {"framing", "seq", "nullified", "flit_mode", "check"}, source);
  const FrameKeys frame = read_frame_keys(keys, source, false);
  const TlpDocument document = tlp_from_json(object, source, frame.form());
  if (frame.checks) {
    check_rules(document.tlp, source);
  }
  ByteVector bytes = bytes_of(document);
  if (frame.framing) {
    ByteVector framed;
    frame_tlp(*frame.framing, static_cast<std::uint16_t>(frame.sequence), bytes, frame.is_nullified,
              framed);
    bytes = framed;
  }
  return json_value::hex_bytes(bytes);
}

std::string dllp_hex(Json object, JsonSource source) {
  const Json keys = json_value::take_keys(object, {"framing"}, source);
  const FrameKeys frame = read_frame_keys(keys, source, false);
  const auto dllp = encode(dllp_from_json(object, source, false));
  ByteVector bytes(dllp.begin(), dllp.end());
  if (frame.framing) {
    bytes.clear();
    frame_dllp(*frame.framing, dllp, bytes);
  }
  return json_value::hex_bytes(bytes);
}

// A line a flit, several where the object has messages to pack.
std::string cxl_hex(CxlFlitStream& stream, const Json& object, const JsonSource& source) {
  const auto lines = mapped(stream.bytes_of(object, source),
                            [](const ByteVector& flit) { return json_value::hex_bytes(flit); });
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// ---- hex digits to JSON

[[noreturn]] void refuse_byte(const JsonSource& source, std::size_t offset,
                              const std::string& what) {
  refuse(source, fmt::format("byte {}", offset), what);
}

void refuse_flaw(const PacketRead& packet, std::size_t offset, const ByteVector& bytes,
                 const JsonSource& source) {
  if (const auto& flaw = packet.flaw) {
    refuse_byte(source, offset + flaw->offset,
                fmt::format("{} in {} bytes: {}", flaw->kind, bytes.size(), flaw->sentence));
  }
}

ByteVector bytes_in(const std::string& hex, const JsonSource& source) {
  ByteVector bytes;
  if (const Complaint complaint = json_value::read_bytes(hex, bytes); !complaint.empty()) {
    refuse(source, "", complaint);
  }
  return bytes;
}

// Leaves of the bytes what the frame holds, where they are framed.
FrameResult take_out_of_frame(ByteVector& bytes, const std::optional<Framing>& framing,
                              FrameResult (*unframe)(Framing, const std::uint8_t*, std::size_t),
                              const JsonSource& source) {
  if (!framing) {
    return {};
  }
  const FrameResult frame = unframe(*framing, bytes.data(), bytes.size());
  if (frame.error) {
    refuse_byte(source, frame.error_offset,
                fmt::format("{} in {} bytes; expected one whole frame", name_of(*frame.error),
                            bytes.size()));
  }
  const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(frame.offset);
  bytes = ByteVector(first, first + static_cast<std::ptrdiff_t>(frame.bytes));
  return frame;
}

Json tlp_json(const std::string& hex, const FrameKeys& options, const JsonSource& source) {
  ByteVector bytes = bytes_in(hex, source);
  const FrameResult frame = take_out_of_frame(bytes, options.framing, unframe_tlp, source);
  PacketRead packet = read_tlp(bytes, options.form(), options.checks);
  refuse_flaw(packet, frame.offset, bytes, source);
  if (options.is_flit_mode) {
    packet.json["flit_mode"] = true;
  }
  if (!options.checks) {
    packet.json["check"] = false;
  }
  if (options.framing) {
    packet.json["framing"] = kFramings[static_cast<std::size_t>(*options.framing)];
    packet.json["seq"] = frame.sequence;
    packet.json["nullified"] = frame.is_nullified;
  }
  return std::move(packet.json);
}

Json dllp_json(const std::string& hex, const FrameKeys& options, const JsonSource& source) {
  ByteVector bytes = bytes_in(hex, source);
  const FrameResult frame = take_out_of_frame(bytes, options.framing, unframe_dllp, source);
  const DllpDecodeResult result = decode_dllp(bytes.data(), bytes.size());
  if (result.error) {
    refuse_byte(source, frame.offset + result.error_offset,
                fmt::format("{} in {} bytes; expected 4 bytes of a known type and their CRC",
                            name_of(*result.error), bytes.size()));
  }
  Json json = json_of(result.dllp);
  if (options.framing) {
    json["framing"] = kFramings[static_cast<std::size_t>(*options.framing)];
  }
  return json;
}

Json roce_json(const std::string& hex, const RoceKeys& keys, const JsonSource& source) {
  const ByteVector bytes = bytes_in(hex, source);
  PacketRead frame = read_roce_frame(bytes, keys.checks, keys.extensions);
  refuse_flaw(frame, 0, bytes, source);
  return std::move(frame.json);
}

Json cxl_json(CxlFlitStream& stream, const CxlGivenKind& given, const std::string& hex,
              const JsonSource& source) {
  const std::vector<std::uint8_t> bytes = bytes_in(hex, source);
  if (!given.direction) {
    refuse(kSets, "direction", "missing; expected down or up");
  }
  const CxlFlitForm by_size = bytes.size() <= kCxlBytes68 ? CxlFlitForm::k68 : CxlFlitForm::k256;
  const CxlFlitKind kind = {given.form.value_or(by_size), *given.direction, given.identity_bits};
  CxlFlitStream::Read read = stream.read(kind, bytes);
  if (read.error) {
    refuse_byte(source, read.error_offset,
                fmt::format("{} in {} bytes: {}", name_of(*read.error), bytes.size(),
                            sentence_of(*read.error)));
  }
  return read.json;
}

// One line of JSON a line that has a packet.
std::string packets_json(const std::string& kind, const Json& sets,
                         const std::vector<std::string>& lines, JsonSource source) {
  const bool is_cxl = kind == "cxl";
  const CxlGivenKind given = is_cxl ? cxl_kind_from_json(sets, kSets) : CxlGivenKind{};
  const bool is_roce = kind == "roce";
  const RoceKeys roce = is_roce ? read_roce_keys(sets) : RoceKeys{};
  const FrameKeys options = is_cxl || is_roce ? FrameKeys{} : read_frame_keys(sets, kSets, true);
  CxlFlitStream stream;
  std::string text;
  for (const std::string& packet : lines) {
    if (!packet.empty()) {
      const Json json = is_cxl          ? cxl_json(stream, given, packet, source)
                        : is_roce       ? roce_json(packet, roce, source)
                        : kind == "tlp" ? tlp_json(packet, options, source)
                                        : dllp_json(packet, options, source);
      text += json.dump() + '\n';
    }
    source.line += source.line > 0 ? 1 : 0;
  }
  return text;
}

// `begun`: the lines on which they begin.
std::vector<FlitBytes> flits_in(const std::vector<std::string>& lines, const JsonSource& source,
                                std::vector<int>& begun) {
  std::vector<FlitBytes> flits;
  constexpr std::size_t kBytes = FlitBytes{}.size();
  std::size_t filled = kBytes;  // of the last one
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int line = source.line > 0 ? static_cast<int>(i) + 1 : 0;
    for (const std::uint8_t byte : bytes_in(lines[i], {source.file, line, {}})) {
      if (filled == kBytes) {
        flits.emplace_back();
        begun.push_back(line);
        filled = 0;
      }
      flits.back()[filled++] = byte;
    }
  }
  if (filled != kBytes) {
    refuse({source.file, begun.back(), {}}, "",
           fmt::format("{} bytes seen; expected {} a flit", filled, kBytes));
  }
  return flits;
}

// One line of JSON a flit. lines: hex digits of flits one behind the other, however they are cut
// into lines.
std::string flits_json(const Json& sets, const std::vector<std::string>& lines,
                       const JsonSource& source) {
  FlitReadOptions options;
  JsonReader reader(sets, kSets);
  reader.number("rest_dw", 0, kMostRestDws, options.rest_dw);
  reader.flag("check", options.checks);
  reader.finish();
  std::vector<int> begun;
  const FlitsRead read = read_flits(flits_in(lines, source, begun), options);
  if (read.flaw) {
    refuse({source.file, begun[read.flaw_flit], {}},
           fmt::format("flit {}, byte {}", read.flaw_flit + 1, read.flaw->offset),
           fmt::format("{}: {}", read.flaw->kind, read.flaw->sentence));
  }
  return sum_of(read.flits, [](const Json& flit) { return flit.dump() + '\n'; });
}

// Runs body, if the kind is one, and turns what the user got wrong into text on err.
template <class Body>
int guarded(const char* command, const std::string& kind, std::ostream& out, std::ostream& err,
            Body body) {
  if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
    err << command << ' ' << kind << ": unknown kind; expected " << config::alternatives(kKinds)
        << config::nearest_hint(kind, kKinds, "kind") << '\n';
    return kUsageError;
  }
  try {
    const std::string text = body();
    out << text;
    return kGood;
  } catch (const ConfigError& error) {
    err << error.what() << '\n';
    return kBad;
  }
}

}  // namespace

int encode_command(const std::string& kind, const std::vector<std::string>& sets, std::istream& in,
                   std::ostream& out, std::ostream& err) {
  return guarded("encode", kind, out, err, [&] {
    const Json overrides = overrides_of(sets);
    CxlFlitStream stream;
    std::string text;
    std::vector<FlitPlan> flits;
    for (InputPacket& input : packets_in(in)) {
      if (input.json.is_object()) {
        input.json.update(overrides);
      }
      const bool is_set = input.line == 0 && !sets.empty();
      const JsonSource source{is_set ? "--set" : "stdin", input.line, {}};
      if (kind == "flit") {
        flits.push_back(flit_plan_from_json(input.json, source));
      } else {
        text += (kind == "cxl"    ? cxl_hex(stream, input.json, source)
                 : kind == "roce" ? json_value::hex_bytes(roce_from_json(input.json, source))
                 : kind == "tlp"  ? tlp_hex(input.json, source)
                                  : dllp_hex(input.json, source)) +
                '\n';
      }
    }
    return text + sum_of(FlitWriter().write(flits), [](const WrittenFlit& flit) {
             return json_value::hex_bytes(flit.bytes) + '\n';
           });
  });
}

int decode_command(const std::string& kind, const std::vector<std::string>& sets,
                   const std::vector<std::string>& hex_args, std::istream& in, std::ostream& out,
                   std::ostream& err) {
  return guarded("decode", kind, out, err, [&] {
    const Json overrides = overrides_of(sets);
    const bool from_stdin = hex_args.empty();
    std::istringstream args(fmt::format("{}", fmt::join(hex_args, " ")));
    const std::vector<std::string> lines = lines_of(from_stdin ? in : args);
    const JsonSource source{from_stdin ? "stdin" : "HEX", from_stdin ? 1 : 0, {}};
    const std::string text = kind == "flit" ? flits_json(overrides, lines, source)
                                            : packets_json(kind, overrides, lines, source);
    if (text.empty()) {
      refuse({from_stdin ? "stdin" : "HEX", 0, {}}, "", "no packet seen; expected hex digits");
    }
    return text;
  });
}

}  // namespace flitwise
