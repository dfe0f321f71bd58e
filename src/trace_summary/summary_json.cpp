// SPDX-License-Identifier: Apache-2.0
// The summary for programs. (docs/traces.md)
#include "common/ranges.h"
#include "trace_summary/trace_summary.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;

void add_wire(Json& json, const Wire& wire) {
  json["link"] = wire.link;
  json["direction"] = wire.direction;
}

Json json_of(const Send& send, const WireBook& wires) {
  Json json = {{"uid", send.uid}, {"type", send.type}};
  add_wire(json, wires[send.wire]);
  json.update({{"first_ps", send.first},
               {"last_ps", send.last},
               {"is_again", send.is_again},
               {"is_damaged", send.is_damaged},
               {"is_lost", send.is_lost}});
  return json;
}

Json json_of(const PathStep& step, const WireBook& wires) {
  Json json = {{"cause", name_of(step.cause)},
               {"is_completion", step.is_answer},
               {"from_ps", step.from},
               {"until_ps", step.until}};
  if (step.wire != WireBook::kNone) {
    add_wire(json, wires[step.wire]);
    if (step.cause != Cause::kWire && step.cause != Cause::kAgain) {
      json["wire_busy_ps"] = wires[step.wire].busy.between(step.from, step.until);
    }
  }
  return json;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json json_of(const Transaction& one, const WireBook& wires) {
  const auto list = [&wires](const auto& parts) {
    Json all = Json::array();
    for (const auto& part : parts) {
      all.push_back(json_of(part, wires));
    }
    return all;
  };
  return {{"uid", one.uid},
          {"type", one.type},
          {"requester_id", one.requester},
          {"is_handle", one.has_handle},
          {"tag", or_null(one.tag)},
          {"address", one.address},
          {"length_dw", one.length_dw},
          {"payload_bytes", one.payload_bytes},
          {"domain", one.domain},
          {"is_counted", one.is_counted},
          {"issue_ps", or_null(one.stamped(Hop::kIssue))},
          {"done_ps", or_null(one.done)},
          {"latency_ps", or_null(one.latency())},
          {"steps", list(steps_of(one))},
          {"units", list(one.sends)},
          {"completions", list(one.answers)}};
}

Json json_of(const TransactionCount& one) {
  Json json = {
      {"type", one.type}, {"over", one.over}, {"measured", one.counted}, {"summed", one.summed}};
  const bool is_known = one.summed > 0;
  json["mean_ps"] = is_known ? Json(one.mean) : Json();
  json["p50_ps"] = is_known ? Json(one.p50) : Json();
  json["p99_ps"] = is_known ? Json(one.p99) : Json();
  json["max_ps"] = is_known ? Json(one.most) : Json();
  return json;
}

Json json_of(const Stall& stall) {
  return {{"cause", name_of(stall.cause)}, {"text", text_of(stall.cause)},
          {"total_ps", stall.total},       {"transactions", stall.transactions},
          {"max_ps", stall.most},          {"max_uid", stall.most_uid}};
}

Json wires_json(const TraceSummary& summary) {
  Json all = Json::array();
  for (std::size_t i = 0; i < summary.wires.size(); ++i) {
    Json wire = Json::object();
    add_wire(wire, summary.wires[i]);
    wire["busy_ps"] = summary.wires[i].busy.total();
    wire["units"] = Json::array();
    for (const UnitCount& count : summary.units) {
      if (count.wire == i) {
        wire["units"].push_back({{"type", count.type},
                                 {"count", count.units},
                                 {"again", count.again},
                                 {"damaged", count.damaged},
                                 {"lost", count.lost},
                                 {"payload_bytes", count.payload_bytes},
                                 {"identity_bits", count.identity_bits}});
      }
    }
    all.push_back(std::move(wire));
  }
  return all;
}

}  // namespace

Json summary_json(const TraceSummary& summary) {
  Json json = {{"file", summary.file},
               {"first_ps", summary.first},
               {"last_ps", summary.last},
               {"is_measured", summary.is_measured},
               {"total_ps", summary.total}};
  const auto add = [&json](const char* key, const auto& list) {
    json[key] = Json::array();
    for (const auto& one : list) {
      json[key].push_back(json_of(one));
    }
  };
  add("transactions", summary.transactions);
  add("stalls", summary.stalls);
  json["wires"] = wires_json(summary);
  json["slowest"] = Json::array();
  for (const Transaction& one : summary.slowest) {
    json["slowest"].push_back(json_of(one, summary.wires));
  }
  return json;
}

Json transaction_json(const TracedTransaction& one) {
  return json_of(one.transaction, one.wires);
}

}  // namespace flitwise
