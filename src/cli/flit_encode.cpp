// SPDX-License-Identifier: Apache-2.0
// Flits from JSON to hex digits.
#include <algorithm>
#include <optional>

#include "cli/flit_text.h"
#include "cli/flit_words.h"
#include "link/flit_code.h"
#include "link/flit_dlp.h"
#include "link/flit_tlp_bytes.h"
#include "tlp/json_reader.h"

namespace flitwise::cli {
namespace {

using json_value::Complaint;
using json_value::Json;
using Bytes = std::vector<std::uint8_t>;

/// What stands in the list of TLPs: a whole one, or the part of one that these flits have.
struct TlpItem {
  Bytes bytes;
  std::uint64_t nops = 0;  ///< NOP TLPs before it
  bool began_before = false;
  bool ends_beyond = false;
  bool is_part() const { return began_before || ends_beyond; }
};

/// One flit as its JSON says; what it leaves open follows from the flits before.
struct FlitPlan {
  std::optional<std::uint64_t> usage;
  std::optional<bool> prior_was_payload;
  std::optional<std::uint64_t> sequence;
  FlitDlp dlp;
  std::vector<TlpItem> tlps;
};

// A list or an object as it is, or as text for --set.
Json from_text(const Json& value) {
  return value.is_string() ? json_value::parse(value.get<std::string>()) : value;
}

TlpItem read_part(const Json& json, const JsonSource& source) {
  TlpItem item;
  JsonReader reader(json, source);
  reader.field("bytes", [&](const Json& value) {
    Complaint complaint = json_value::read_bytes(value, item.bytes);
    if (complaint.empty() && (item.bytes.empty() || item.bytes.size() % 4 != 0)) {
      complaint = fmt::format("{} bytes seen; expected whole DWs", item.bytes.size());
    }
    return complaint;
  });
  reader.field("began_before",
               [&](const Json& value) { return json_value::read_bool(value, item.began_before); });
  reader.field("ends_beyond",
               [&](const Json& value) { return json_value::read_bool(value, item.ends_beyond); });
  if (!item.is_part()) {
    reader.complain("bytes", "a whole TLP; expected its fields, or began_before or ends_beyond");
  }
  reader.finish();
  return item;
}

// Takes the number of NOP TLPs out of the object of a TLP.
std::uint64_t take_nops(Json& object, JsonSource& source) {
  constexpr const char* kKey = "nops";
  Json own = Json::object();
  if (object.is_object() && object.contains(kKey)) {
    own[kKey] = object[kKey];
    object.erase(kKey);
  }
  source.other_keys = {kKey};
  std::uint64_t nops = 0;
  JsonReader reader(own, source);
  reader.field(kKey, [&](const Json& value) {
    return json_value::read_number(value, 0, flit::kTlpDws - 1, nops);
  });
  reader.finish();
  return nops;
}

TlpItem read_tlp(Json json, JsonSource source, bool checks) {
  const std::uint64_t nops = take_nops(json, source);
  TlpItem item;
  if (json.is_object() && json.contains("bytes")) {
    item = read_part(json, source);
  } else {
    const TlpDocument document = tlp_from_json(json, source, TlpForm::kFlit);
    if (checks) {
      check_rules(document.tlp, source);
    }
    item.bytes = bytes_of(document);
  }
  item.nops = nops;
  return item;
}

/// Reads one flit's object.
class FlitReader {
 public:
  explicit FlitReader(const FlitInput& input)
      : source_(input.source), reader_(input.json, input.source) {}

  FlitPlan run() {
    number("usage", plan_.usage, 3);
    flag("prior_was_payload", plan_.prior_was_payload);
    number("seq", plan_.sequence, kFlitSequences - 1);
    reader_.field("command", [this](const Json& value) { return read_command(value); });
    if (plan_.dlp.command != ReplayCommand::kExplicit && !reader_.has("seq")) {
      reader_.complain("seq", "missing; expected the number that the command is about");
    }
    read_dllp();
    std::optional<bool> checks;
    flag("check", checks);
    reader_.field("tlps",
                  [&](const Json& value) { return read_tlps(value, checks.value_or(true)); });
    reader_.field("mended", [](const Json&) { return Complaint(); });  // what decode said of it
    reader_.finish();
    return std::move(plan_);
  }

 private:
  void number(const char* key, std::optional<std::uint64_t>& field, std::uint64_t highest) {
    reader_.field(key, [&](const Json& value) {
      return json_value::read_number(value, 0, highest, field.emplace());
    });
  }
  void flag(const char* key, std::optional<bool>& field) {
    reader_.field(key,
                  [&](const Json& value) { return json_value::read_bool(value, field.emplace()); });
  }

  Complaint read_command(const Json& value) {
    std::size_t place = 0;
    Complaint complaint = json_value::read_word(value, kReplayCommands, place);
    plan_.dlp.command = static_cast<ReplayCommand>(place);
    return complaint;
  }

  // Runs read(), and takes over what it finds wrong with what stands behind the key.
  template <class Read>
  void nested(const std::string& key, Read read) {
    try {
      read();
    } catch (const ConfigError& error) {
      for (const Problem& problem : error.problems()) {
        reader_.complain(problem.path.empty() ? key : key + "." + problem.path, problem.message);
      }
    }
  }

  void read_dllp() {
    reader_.field("dllp", [this](const Json& value) {
      nested("dllp", [&] { plan_.dlp.dllp = dllp_from_json(from_text(value), source_); });
      return Complaint();
    });
    reader_.field("not_a_dllp", [this](const Json& value) {
      std::uint64_t dw = 0;
      Complaint complaint = json_value::read_number(value, 0, 0xffffffffU, dw);
      plan_.dlp.other = static_cast<std::uint32_t>(dw);
      return complaint;
    });
    if (reader_.has("dllp") && reader_.has("not_a_dllp")) {
      reader_.complain("not_a_dllp", "beside a dllp; expected one of them");
    }
  }

  Complaint read_tlps(const Json& value, bool checks) {
    const Json list = from_text(value);
    if (!list.is_array()) {
      return fmt::format("{} seen; expected a list of TLPs", json_value::shown(value));
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      nested(fmt::format("tlps[{}]", i),
             [&] { plan_.tlps.push_back(read_tlp(list[i], source_, checks)); });
    }
    return {};
  }

  JsonSource source_;
  JsonReader reader_;
  FlitPlan plan_;
};

[[noreturn]] void refuse(const JsonSource& source, const char* key, const char* message) {
  throw ConfigError({{source.file, source.line, source.line > 0 ? 1 : 0, key, message}});
}

/// The sending end: packs, and fills in what the flits before settle.
class FlitWriter {
 public:
  void push(FlitPlan& plan, const JsonSource& source) {
    for (TlpItem& item : plan.tlps) {
      if (ends_beyond_) {
        refuse(source, "tlps", "a TLP behind one that ends beyond; expected that one to be last");
      }
      if (item.began_before && !is_at_start_) {
        refuse(source, "tlps", "a TLP that began before; expected it first in the first flit");
      }
      ends_beyond_ = item.ends_beyond;
      if (item.began_before) {
        packer_.push_rest(std::move(item.bytes));
      } else {
        packer_.push(std::move(item.bytes), item.nops);
      }
      is_at_start_ = false;
    }
  }

  // The next flit as a line of hex digits.
  std::string line(const FlitPlan& plan) {
    const TlpBytePacker::Filled filled = packer_.fill();
    is_full_ = filled.taken == flit::kTlpBytes;
    is_at_start_ = false;
    const bool has_payload = filled.taken > 0;
    FlitBytes bytes{};
    std::copy(filled.bytes.begin(), filled.bytes.end(), bytes.begin());
    const DlpBytes dlp = encode(completed(plan, has_payload));
    std::copy(dlp.begin(), dlp.end(), bytes.begin() + flit::kTlpBytes);
    protect_flit(bytes);
    last_was_payload_ = has_payload;
    return json_value::hex_bytes(bytes.data(), bytes.size()) + '\n';
  }

  bool has_work() const { return packer_.has_work(); }
  bool leaves_tlp_open() const { return ends_beyond_ && !is_full_; }

 private:
  // A NOP flit has the number of the last one with payload. model: [LNK-11.20]
  FlitDlp completed(const FlitPlan& plan, bool has_payload) {
    FlitDlp dlp = plan.dlp;
    dlp.usage = static_cast<std::uint8_t>(
        plan.usage.value_or(has_payload ? kUsageOfPayloadFlit : kUsageOfNopFlit));
    dlp.prior_was_payload = plan.prior_was_payload.value_or(last_was_payload_);
    std::uint64_t own = has_payload ? next_ : (next_ + kFlitSequences - 1) % kFlitSequences;
    if (dlp.command == ReplayCommand::kExplicit) {
      own = plan.sequence.value_or(own);
    }
    next_ = (own + 1) % kFlitSequences;
    dlp.sequence = static_cast<std::uint16_t>(plan.sequence.value_or(own));
    return dlp;
  }

  TlpBytePacker packer_;
  std::uint64_t next_ = 0;
  bool last_was_payload_ = false;
  bool is_at_start_ = true;
  bool is_full_ = false;
  bool ends_beyond_ = false;
};

}  // namespace

std::string flit_hex(const std::vector<FlitInput>& inputs) {
  FlitWriter writer;
  std::string text;
  for (const FlitInput& input : inputs) {
    FlitPlan plan = FlitReader(input).run();
    writer.push(plan, input.source);
    text += writer.line(plan);
  }
  while (writer.has_work()) {
    text += writer.line({});
  }
  if (writer.leaves_tlp_open()) {
    refuse(inputs.back().source, "tlps",
           "a TLP that ends beyond ends before its flit does; expected bytes up to its end");
  }
  return text;
}

}  // namespace flitwise::cli
