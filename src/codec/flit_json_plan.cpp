// SPDX-License-Identifier: Apache-2.0
// JSON to planned flits.
#include <optional>
#include <string>

#include "codec/flit_json.h"
#include "codec/json_reader.h"
#include "tlp/tlp_check.h"

namespace flitwise {
namespace {

// A list or an object as it is, or as text for --set; what is no JSON stays as it is.
Json from_text(const Json& value) {
  const Json parsed = value.is_string() ? json_value::parse(value.get<std::string>()) : value;
  return parsed.is_discarded() ? value : parsed;
}

FlitTlp read_part(const Json& json, const JsonSource& source) {
  FlitTlp item;
  JsonReader reader(json, source);
  reader.field("bytes", [&](const Json& value) {
    Complaint complaint = json_value::read_bytes(value, item.bytes);
    if (complaint.empty() && (item.bytes.empty() || item.bytes.size() % 4 != 0)) {
      complaint = fmt::format("{} bytes seen; expected whole DWs", item.bytes.size());
    }
    return complaint;
  });
  reader.flag("began_before", item.began_before);
  reader.flag("ends_beyond", item.ends_beyond);
  if (!item.is_part()) {
    reader.complain("bytes", "a whole TLP; expected its fields, or began_before or ends_beyond");
  }
  reader.finish();
  return item;
}

// Takes the number of NOP TLPs out of the object of a TLP.
std::uint64_t take_nops(Json& object, JsonSource& source) {
  const Json own = json_value::take_keys(object, {"nops"}, source);
  std::uint64_t nops = 0;
  JsonReader reader(own, source);
  reader.number("nops", 0, flit::kTlpDws - 1, nops);
  reader.finish();
  return nops;
}

FlitTlp read_tlp(Json json, JsonSource source, bool checks) {
  const std::uint64_t nops = take_nops(json, source);
  FlitTlp item;
  if (json.is_object() && json.contains("bytes")) {
    item = read_part(json, source);
    if (item.began_before && nops > 0) {
      refuse(source, "nops", "before a TLP that began before; expected none");
    }
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
  FlitReader(const Json& object, const JsonSource& source)
      : source_(source), reader_(object, source) {
    plan_.source = source;
  }

  FlitPlan run() {
    reader_.number("usage", 0, 3, plan_.usage);
    reader_.flag("prior_was_payload", plan_.prior_was_payload);
    reader_.number("seq", 0, SequenceSpace::of_flits().last(), plan_.sequence);
    plan_.dlp.command = static_cast<ReplayCommand>(reader_.word("command", replay_commands()));
    if (plan_.dlp.command != ReplayCommand::kExplicit && !reader_.has("seq")) {
      reader_.complain("seq", "missing; expected the number that the command is about");
    }
    read_dllp();
    bool checks = true;
    reader_.flag("check", checks);
    reader_.field("tlps", [&](const Json& value) { return read_tlps(value, checks); });
    reader_.skip("mended");  // what decode said of it
    reader_.finish();
    return std::move(plan_);
  }

 private:
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
    reader_.number("not_a_dllp", 0, 0xffffffffU, plan_.dlp.other);
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

}  // namespace

FlitPlan flit_plan_from_json(const Json& object, const JsonSource& source) {
  return FlitReader(object, source).run();
}

}  // namespace flitwise
