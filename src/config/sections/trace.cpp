// SPDX-License-Identifier: Apache-2.0
// Table of the section `trace`, which says what is watched and never changes a result.
#include <fmt/format.h>

#include <algorithm>

#include "config/sections/sections.h"
#include "flitwise/packet.h"

namespace flitwise::config {

namespace {

/// Places where a packet is stamped, in the order of its life.
const std::vector<std::string>& hop_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (int hop = 0; hop < kHops; ++hop) {
      names.emplace_back(name_of(static_cast<Hop>(hop)));
    }
    return names;
  }();
  return all;
}

std::size_t order_of(const std::string& hop) {
  const auto& all = hop_names();
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), hop) - all.begin());
}

/// The word below `key` of one entry, or empty after a report.
std::string word_below(const Value& item, const std::string& key, const ReadContext& context) {
  const Value::Entry* entry = item.find(key);
  if (entry == nullptr) {
    context.report(item.place, fmt::format("no '{}'; expected name, from and to", key));
    return "";
  }
  if (entry->value.kind != Value::Kind::kScalar || entry->value.text.empty()) {
    context.report(entry->value.place, entry->value.seen() + "; expected a word");
    return "";
  }
  const bool is_hop = key != "name";
  if (is_hop && order_of(entry->value.text) == hop_names().size()) {
    context.report(
        entry->value.place,
        fmt::format("unknown hop '{}'; expected {}{}", entry->value.text, alternatives(hop_names()),
                    nearest_hint(entry->value.text, hop_names(), "hop")));
    return "";
  }
  return entry->value.text;
}

void read_pair(const Value& item, std::vector<LatencyPair>& pairs, const ReadContext& context) {
  static const std::vector<std::string> kKeys = {"name", "from", "to"};
  if (item.kind != Value::Kind::kMap) {
    context.report(item.place, item.seen() + "; expected {name: ..., from: HOP, to: HOP}");
    return;
  }
  for (const Value::Entry& entry : item.entries) {
    if (std::find(kKeys.begin(), kKeys.end(), entry.key) == kKeys.end()) {
      context.report(entry.place,
                     fmt::format("unknown key '{}'; expected {}{}", entry.key, alternatives(kKeys),
                                 nearest_hint(entry.key, kKeys, "key")));
    }
  }
  const LatencyPair pair{word_below(item, "name", context), word_below(item, "from", context),
                         word_below(item, "to", context)};
  if (pair.name.empty() || pair.from.empty() || pair.to.empty()) {
    return;
  }
  if (order_of(pair.from) >= order_of(pair.to)) {
    context.report(item.place,
                   fmt::format("from '{}' to '{}'; expected a hop and a later one of {}", pair.from,
                               pair.to, alternatives(hop_names())));
    return;
  }
  const bool is_taken =
      pair.name == "dma_read" || pair.name == "dma_write" || pair.name == "dma_write_tlp" ||
      std::any_of(pairs.begin(), pairs.end(),
                  [&](const LatencyPair& other) { return other.name == pair.name; });
  if (is_taken) {
    context.report(item.find("name")->value.place,
                   fmt::format("the name '{}' is taken; expected a new one", pair.name));
    return;
  }
  pairs.push_back(pair);
}

void read_pairs(Config& config, const Value& value, const ReadContext& context) {
  if (value.kind != Value::Kind::kSequence) {
    context.report(value.place,
                   value.seen() + "; expected a list of {name: ..., from: HOP, to: HOP}");
    return;
  }
  config.trace.latency.clear();
  for (const Value& item : value.items) {
    read_pair(item, config.trace.latency, context);
  }
}

nlohmann::ordered_json write_pairs(const Config& config) {
  auto all = nlohmann::ordered_json::array();
  for (const LatencyPair& pair : config.trace.latency) {
    all.push_back({{"name", pair.name}, {"from", pair.from}, {"to", pair.to}});
  }
  return all;
}

}  // namespace

Keys trace_keys() {
  const nlohmann::ordered_json hop = {{"enum", hop_names()}};
  const nlohmann::ordered_json pair = {
      {"type", "object"},
      {"required", {"name", "from", "to"}},
      {"properties", {{"name", {{"type", "string"}}}, {"from", hop}, {"to", hop}}},
      {"additionalProperties", false}};
  return {{"trace.latency",
           "",
           "a list of {name, from, to}; hops are " + alternatives(hop_names()),
           "Latencies between two hops of a TLP, beside dma_read, dma_write and dma_write_tlp.",
           {},
           {{"type", "array"}, {"items", pair}},
           read_pairs,
           write_pairs}};
}

}  // namespace flitwise::config
