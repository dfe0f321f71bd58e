// SPDX-License-Identifier: Apache-2.0
// Packets and flits between hex digits and JSON.
#include "codec/packet_text.h"

#include <fmt/format.h>

#include <sstream>

#include "codec/json_reader.h"
#include "common/byte_vector.h"
#include "tlp/dllp_codec.h"

namespace flitwise {
namespace {

const std::vector<std::string> kFramings = {"gen1", "gen3"};
constexpr const char* kNoFraming = "a TLP of flit mode has no framing of its own; expected none";

/// The keys that belong to the frame, not to the packet in it.
struct FrameKeys {
  std::optional<Framing> framing;
  std::uint64_t sequence = 0;
  bool is_nullified = false;
  bool is_flit_mode = false;
  bool checks = true;
};

const std::vector<std::string> kTlpFrameKeys = {"framing", "seq", "nullified", "flit_mode",
                                                "check"};
const std::vector<std::string> kDllpFrameKeys = {"framing"};

// Moves the keys of the frame out of the packet's object.
FrameKeys take_frame_keys(Json& object, const std::vector<std::string>& keys, JsonSource& source) {
  const Json own = json_value::take_keys(object, keys, source);
  FrameKeys frame;
  JsonReader reader(own, source);
  reader.word("framing", kFramings, frame.framing);
  reader.number("seq", 0, 0xfff, frame.sequence);
  reader.flag("nullified", frame.is_nullified);
  reader.flag("flit_mode", frame.is_flit_mode);
  reader.flag("check", frame.checks);
  if (frame.is_flit_mode && frame.framing) {
    reader.complain("framing", kNoFraming);
  }
  for (const char* key : {"seq", "nullified"}) {
    if (reader.has(key) && !frame.framing) {
      reader.complain(key, "needs framing; expected framing gen1 or gen3 beside it");
    }
  }
  reader.finish();
  return frame;
}

// This byte of the packet is wrong.
[[noreturn]] void refuse_byte(const JsonSource& source, std::size_t offset,
                              const std::string& what) {
  refuse(source, fmt::format("byte {}", offset), what);
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

/// Flits and the lines on which each begins.
struct FlitLines {
  std::vector<FlitBytes> flits;
  std::vector<int> lines;
};

FlitLines flits_in(const std::vector<std::string>& lines, const JsonSource& source) {
  FlitLines found;
  FlitBytes flit{};
  std::size_t filled = 0;
  int begun = source.line;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int line = source.line > 0 ? static_cast<int>(i) + 1 : 0;
    for (const std::uint8_t byte : bytes_in(lines[i], {source.file, line, {}})) {
      begun = filled == 0 ? line : begun;
      flit[filled++] = byte;
      if (filled == flit.size()) {
        found.flits.push_back(flit);
        found.lines.push_back(begun);
        filled = 0;
      }
    }
  }
  if (filled != 0) {
    refuse({source.file, begun, {}}, "",
           fmt::format("{} bytes seen; expected {} a flit", filled, flit.size()));
  }
  return found;
}

}  // namespace

DecodeOptions decode_options(const Json& sets) {
  DecodeOptions options;
  JsonReader reader(sets, {"--set", 0, {}});
  reader.word("framing", kFramings, options.framing);
  reader.flag("check", options.checks);
  reader.flag("flit_mode", options.is_flit_mode);
  if (options.is_flit_mode && options.framing) {
    reader.complain("framing", kNoFraming);
  }
  reader.finish();
  return options;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool is_empty = first == std::string::npos || line[first] == '#';
    lines.push_back(is_empty ? "" : line.substr(first));
  }
  return lines;
}

std::string tlp_hex(Json object, JsonSource source) {
  const FrameKeys frame = take_frame_keys(object, kTlpFrameKeys, source);
  const TlpDocument document =
      tlp_from_json(object, source, frame.is_flit_mode ? TlpForm::kFlit : TlpForm::kNonFlit);
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
  const FrameKeys frame = take_frame_keys(object, kDllpFrameKeys, source);
  const auto dllp = encode(dllp_from_json(object, source, false));
  ByteVector bytes(dllp.begin(), dllp.end());
  if (frame.framing) {
    bytes.clear();
    frame_dllp(*frame.framing, dllp, bytes);
  }
  return json_value::hex_bytes(bytes);
}

Json tlp_json(const std::string& hex, const DecodeOptions& options, const JsonSource& source) {
  ByteVector bytes = bytes_in(hex, source);
  const FrameResult frame = take_out_of_frame(bytes, options.framing, unframe_tlp, source);
  PacketRead packet =
      read_tlp(bytes, options.is_flit_mode ? TlpForm::kFlit : TlpForm::kNonFlit, options.checks);
  if (packet.flaw) {
    refuse_byte(
        source, frame.offset + packet.flaw->offset,
        fmt::format("{} in {} bytes: {}", packet.flaw->kind, bytes.size(), packet.flaw->sentence));
  }
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

Json dllp_json(const std::string& hex, const DecodeOptions& options, const JsonSource& source) {
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

std::string flit_hex(const std::vector<FlitPlan>& plans) {
  std::string text;
  for (const WrittenFlit& flit : FlitWriter().write(plans)) {
    text += json_value::hex_bytes(flit.bytes) + '\n';
  }
  return text;
}

FlitReadOptions flit_read_options(const Json& sets) {
  FlitReadOptions options;
  JsonReader reader(sets, {"--set", 0, {}});
  reader.number("rest_dw", 0, kMostRestDws, options.rest_dw);
  reader.flag("check", options.checks);
  reader.finish();
  return options;
}

std::string flit_json(const std::vector<std::string>& lines, const FlitReadOptions& options,
                      const JsonSource& source) {
  const FlitLines given = flits_in(lines, source);
  const FlitsRead read = read_flits(given.flits, options);
  if (read.flaw) {
    refuse({source.file, given.lines[read.flaw_flit], {}},
           fmt::format("flit {}, byte {}", read.flaw_flit + 1, read.flaw->offset),
           fmt::format("{}: {}", read.flaw->kind, read.flaw->sentence));
  }
  std::string text;
  for (const Json& flit : read.flits) {
    text += flit.dump() + '\n';
  }
  return text;
}

std::string cxl_hex(CxlFlitStream& stream, const Json& object, const JsonSource& source) {
  std::string text;
  for (const auto& flit : stream.bytes_of(object, source)) {
    text += (text.empty() ? "" : "\n") + json_value::hex_bytes(flit);
  }
  return text;
}

Json cxl_json(CxlFlitStream& stream, const CxlGivenKind& given, const std::string& hex,
              const JsonSource& source) {
  const std::vector<std::uint8_t> bytes = bytes_in(hex, source);
  if (!given.direction) {
    refuse({"--set", 0, {}}, "direction", "missing; expected down or up");
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

}  // namespace flitwise
