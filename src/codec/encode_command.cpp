// SPDX-License-Identifier: Apache-2.0
// The commands encode and decode.
#include "codec/encode_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <istream>
#include <iterator>
#include <optional>
#include <ostream>

#include "codec/packet_text.h"
#include "common/problems.h"
#include "flitwise/error.h"

namespace flitwise {
namespace {

constexpr int kGood = 0, kBad = 2, kUsageError = 64;

const std::vector<std::string> kKinds = {"tlp", "dllp", "flit", "cxl", "roce"};

// The exit code if the kind ends the command here.
std::optional<int> refused(const char* command, const std::string& kind, std::ostream& err) {
  if (kind == "roce") {
    err << command << ' ' << kind << ": not modelled yet\n";
    return kBad;
  }
  if (std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end()) {
    return std::nullopt;
  }
  err << command << ' ' << kind << ": unknown kind; expected " << config::alternatives(kKinds)
      << config::nearest_hint(kind, kKinds, "kind") << '\n';
  return kUsageError;
}

std::string all_of(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Input {
  Json json;
  int line = 0;
};

// A whole document, or one document a line.
std::vector<Input> parse_json(const std::string& text) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return {{Json::object(), 0}};
  }
  if (json_value::is_too_deep(text)) {
    refuse({"stdin", 0, {}}, "",
           fmt::format("more than {} levels of JSON; expected a packet", json_value::kDeepestJson));
  }
  const Json whole = Json::parse(text, nullptr, false);
  std::vector<Input> inputs;
  if (whole.is_array()) {
    for (const Json& item : whole) {
      inputs.push_back({item, 1});
    }
    return inputs;
  }
  if (!whole.is_discarded()) {
    return {{whole, 1}};
  }
  int line = 0;
  for (const std::string& part : lines_of(text)) {
    ++line;
    if (part.empty()) {
      continue;
    }
    try {
      inputs.push_back({Json::parse(part), line});
    } catch (const Json::parse_error& error) {
      throw ConfigError({{"stdin", line, static_cast<int>(error.byte), "",
                          "not JSON here; expected an object with the fields of a packet"}});
    }
  }
  return inputs;
}

// key=value, as text: every reader of a field takes text too.
Json overrides_of(const std::vector<std::string>& sets) {
  Json overrides = Json::object();
  for (const std::string& set : sets) {
    const std::size_t equals = set.find('=');
    if (equals == std::string::npos || equals == 0) {
      refuse({"--set " + set, 0, {}}, "", "no '=' seen; expected key=value");
    }
    overrides[set.substr(0, equals)] = set.substr(equals + 1);
  }
  return overrides;
}

using Encoder = std::function<std::string(const Json&, const JsonSource&)>;
Encoder encoder_of(const std::string& kind) {
  if (kind == "cxl") {
    return [stream = CxlFlitStream()](const Json& json, const JsonSource& source) mutable {
      return cxl_hex(stream, json, source);
    };
  }
  return kind == "tlp" ? tlp_hex : dllp_hex;
}

using Decoder = std::function<Json(const std::string&, const JsonSource&)>;
Decoder decoder_of(const std::string& kind, const Json& sets) {
  if (kind == "cxl") {
    return [given = cxl_kind_from_json(sets, {"--set", 0, {}}), stream = CxlFlitStream()](
               const std::string& hex, const JsonSource& source) mutable {
      return cxl_json(stream, given, hex, source);
    };
  }
  return [options = decode_options(sets), json_in = kind == "tlp" ? tlp_json : dllp_json](
             const std::string& hex, const JsonSource& source) {
    return json_in(hex, options, source);
  };
}

// Runs body and turns what the user got wrong into text on err.
template <class Body>
int guarded(std::ostream& out, std::ostream& err, Body body) {
  try {
    const std::string text = body();
    out << text;
    return kGood;
  } catch (const ConfigError& error) {
    err << error.what() << '\n';
    return kBad;
  }
}

// One line of JSON a line that has a packet.
std::string packets_json(const Decoder& decode, const std::vector<std::string>& lines,
                         JsonSource source) {
  std::string text;
  for (const std::string& packet : lines) {
    if (!packet.empty()) {
      text += decode(packet, source).dump() + '\n';
    }
    source.line += source.line > 0 ? 1 : 0;
  }
  return text;
}

}  // namespace

int encode_command(const std::string& kind, const std::vector<std::string>& sets, std::istream& in,
                   std::ostream& out, std::ostream& err) {
  if (const auto code = refused("encode", kind, err)) {
    return *code;
  }
  return guarded(out, err, [&] {
    const Json overrides = overrides_of(sets);
    const Encoder encode = encoder_of(kind);
    std::string text;
    std::vector<FlitPlan> flits;
    for (Input& input : parse_json(all_of(in))) {
      if (input.json.is_object()) {
        input.json.update(overrides);
      }
      const JsonSource source{input.line == 0 ? "--set" : "stdin", input.line, {}};
      if (kind == "flit") {
        flits.push_back(flit_plan_from_json(input.json, source));
      } else {
        text += encode(input.json, source) + '\n';
      }
    }
    return text + flit_hex(flits);
  });
}

int decode_command(const std::string& kind, const std::vector<std::string>& sets,
                   const std::vector<std::string>& hex_args, std::istream& in, std::ostream& out,
                   std::ostream& err) {
  if (const auto code = refused("decode", kind, err)) {
    return *code;
  }
  return guarded(out, err, [&] {
    const Json overrides = overrides_of(sets);
    const bool from_stdin = hex_args.empty();
    const std::vector<std::string> lines =
        lines_of(from_stdin ? all_of(in) : fmt::format("{}", fmt::join(hex_args, " ")));
    const JsonSource source{from_stdin ? "stdin" : "HEX", from_stdin ? 1 : 0, {}};
    const std::string text = kind == "flit"
                                 ? flit_json(lines, flit_read_options(overrides), source)
                                 : packets_json(decoder_of(kind, overrides), lines, source);
    if (text.empty()) {
      refuse({from_stdin ? "stdin" : "HEX", 0, {}}, "", "no packet seen; expected hex digits");
    }
    return text;
  });
}

}  // namespace flitwise
