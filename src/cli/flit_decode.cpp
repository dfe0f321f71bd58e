// SPDX-License-Identifier: Apache-2.0
// Flits from hex digits to JSON.
#include <algorithm>

#include "cli/flit_text.h"
#include "cli/flit_words.h"
#include "link/flit_code.h"
#include "link/flit_dlp.h"
#include "link/flit_packer.h"
#include "link/flit_tlp_bytes.h"
#include "tlp/json_reader.h"

namespace flitwise::cli {
namespace {

using json_value::Json;
using Bytes = std::vector<std::uint8_t>;

/// DWs of the longest TLP, and more.
constexpr std::uint64_t kMostRestDws = 1100;

bool is_plain_nop(const Dllp& dllp) {
  return dllp.type == DllpType::kNop && dllp.raw == 0;
}

Json json_of_dlp(const FlitDlp& dlp) {
  Json json;
  json["seq"] = dlp.sequence;
  json["command"] = kReplayCommands[static_cast<std::size_t>(dlp.command)];
  json["usage"] = dlp.usage;
  json["prior_was_payload"] = dlp.prior_was_payload;
  if (dlp.other) {
    json["not_a_dllp"] = json_value::hex_dw(*dlp.other);
  } else if (!is_plain_nop(dlp.dllp)) {
    json["dllp"] = json_of(dlp.dllp);
    json["dllp"].erase("crc");  // the flit has one for all
  }
  return json;
}

/// Flits of one direction, one behind the other.
class FlitReceiver {
 public:
  FlitReceiver(const FlitDecodeOptions& options, HexSource source)
      : options_(options), source_(std::move(source)) {}

  void take(FlitBytes flit, int line) {
    lines_.push_back(line);
    const FlitRepair repair = mend_flit(flit);
    if (!repair.is_good) {
      refuse(lines_.size() - 1, kFlitCrcAt,
             "bad_crc: more bytes are wrong than FEC can mend, one in each of three groups");
    }
    DlpBytes dlp_bytes{};
    std::copy_n(flit.begin() + flit::kTlpBytes, dlp_bytes.size(), dlp_bytes.begin());
    const auto dlp = decode_dlp(dlp_bytes);
    if (!dlp) {
      refuse(lines_.size() - 1, flit::kTlpBytes + kDlpTypeAt,
             "unknown_type: no DLLP has this first byte");
    }
    Json json = json_of_dlp(*dlp);
    json["tlps"] = Json::array();
    if (!repair.mended.empty()) {
      json["mended"] = repair.mended;
    }
    if (!options_.checks) {
      json["check"] = false;
    }
    flits_.push_back(std::move(json));
    tlp_bytes_.insert(tlp_bytes_.end(), flit.begin(), flit.begin() + flit::kTlpBytes);
  }

  std::string text() {
    add_tlps();
    std::string text;
    for (const Json& flit : flits_) {
      text += flit.dump() + '\n';
    }
    return text;
  }

 private:
  [[noreturn]] void refuse(std::size_t flit, std::size_t byte, const std::string& what) const {
    const int line = lines_[flit];
    throw ConfigError({{source_.file, line, line > 0 ? 1 : 0,
                        fmt::format("flit {}, byte {}", flit + 1, byte), what}});
  }
  // `at` counts the TLP bytes of all flits; what is missing counts as the last that is there.
  [[noreturn]] void refuse_at(std::size_t at, const std::string& what) const {
    const std::size_t place = std::min(at, tlp_bytes_.size() - 1);
    refuse(place / flit::kTlpBytes, place % flit::kTlpBytes, what);
  }

  void add_tlps() {
    const FoundTlps found = find_tlps(tlp_bytes_, 4 * options_.rest_dw);
    if (found.ninth_at && options_.checks) {
      refuse_at(
          *found.ninth_at,
          fmt::format("too_many_starts: more than {} TLPs begin in this half", kMostStartsInHalf));
    }
    for (const FoundTlp& tlp : found.tlps) {
      Json json = json_of_tlp(tlp);
      if (tlp.nops > 0) {
        json["nops"] = tlp.nops;
      }
      flits_[tlp.start / flit::kTlpBytes]["tlps"].push_back(std::move(json));
    }
    if (found.error) {
      refuse_at(found.error_at,
                fmt::format("{}: {}", name_of(*found.error), sentence_of(*found.error)));
    }
  }

  Json json_of_tlp(const FoundTlp& tlp) const {
    if (tlp.began_before || tlp.ends_beyond) {
      Json json;
      json["bytes"] = json_value::hex_bytes(tlp.bytes.data(), tlp.bytes.size());
      json["began_before"] = tlp.began_before;
      json["ends_beyond"] = tlp.ends_beyond;
      return json;
    }
    const FlitTlpDecodeResult result = decode_flit_mode(tlp.bytes.data(), tlp.bytes.size());
    const bool is_refused = result.error && (options_.checks || !result.violation);
    if (is_refused) {
      refuse_at(tlp.start + result.error_offset, verdict_of(result, tlp.bytes.size()));
    }
    return json_of(document_of(result, tlp.bytes));
  }

  FlitDecodeOptions options_;
  HexSource source_;
  std::vector<Json> flits_;
  std::vector<int> lines_;  // on which each flit begins
  Bytes tlp_bytes_;
};

}  // namespace

FlitDecodeOptions flit_decode_options(const Json& sets) {
  FlitDecodeOptions options;
  JsonReader reader(sets, {"--set", 0, {}});
  reader.field("rest_dw", [&](const Json& value) {
    return json_value::read_number(value, 0, kMostRestDws, options.rest_dw);
  });
  reader.field("check",
               [&](const Json& value) { return json_value::read_bool(value, options.checks); });
  reader.finish();
  return options;
}

std::string flit_json(const std::vector<std::string>& lines, const FlitDecodeOptions& options,
                      const HexSource& source) {
  FlitReceiver receiver(options, source);
  FlitBytes flit{};
  std::size_t filled = 0;
  int begun = source.line;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int line = source.line > 0 ? static_cast<int>(i) + 1 : 0;
    for (const std::uint8_t byte : bytes_in(lines[i], {source.file, line})) {
      begun = filled == 0 ? line : begun;
      flit[filled++] = byte;
      if (filled == flit.size()) {
        receiver.take(flit, begun);
        filled = 0;
      }
    }
  }
  if (filled != 0) {
    throw ConfigError({{source.file, begun, begun > 0 ? 1 : 0, "",
                        fmt::format("{} bytes seen; expected {} a flit", filled, flit.size())}});
  }
  return receiver.text();
}

}  // namespace flitwise::cli
