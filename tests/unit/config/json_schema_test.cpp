// SPDX-License-Identifier: Apache-2.0
// The emitted JSON Schema judges files as the reader does.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "config/document.h"
#include "unit/config/support.h"

namespace flitwise::json_schema_test {
namespace {

using config::Value;

/// A value as an editor sees it: the core scalars of YAML 1.2.
nlohmann::json as_json(const Value& value) {
  nlohmann::json json;
  if (value.kind == Value::Kind::kSequence) {
    json = nlohmann::json::array();
  }
  for (const Value& item : value.items) {
    json.push_back(as_json(item));
  }
  for (const Value::Entry& entry : value.entries) {
    json[entry.key] = as_json(entry.value);
  }
  if (value.kind != Value::Kind::kScalar) {
    return json;
  }
  if (value.is_quoted) {
    return value.text;
  }
  const auto parsed = nlohmann::json::parse(value.text, nullptr, false);
  return parsed.is_discarded() ? nlohmann::json(value.text) : parsed;
}

bool accepts(const std::string& yaml) {
  static const auto schema = [] {
    auto parsed = std::make_unique<valijson::Schema>();
    const auto text = nlohmann::json::parse(json_schema().dump());
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(text), *parsed);
    return parsed;
  }();
  config::ProblemList problems;
  const auto json = as_json(config::parse_yaml(yaml, {"c.yaml", 0, 0, 0}, problems));
  EXPECT_TRUE(problems.empty());
  valijson::Validator validator;
  return validator.validate(*schema, valijson::adapters::NlohmannJsonAdapter(json), nullptr);
}

TEST(JsonSchema, AcceptsEveryShippedConfig) {
  std::size_t files = 0;
  for (const char* folder : {"checks", "presets", "examples"}) {
    const auto directory = std::filesystem::path(FLITWISE_SOURCE_DIR) / "configs" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      EXPECT_TRUE(accepts(text.str())) << entry.path();
      ++files;
    }
  }
  EXPECT_GE(files, 10U);
}

TEST(JsonSchema, AcceptsTheCanonicalForm) {
  EXPECT_TRUE(accepts(effective_config(Config{}).dump()));
  const Config config = config_of("system: {instances: {ep0: {device.dhi.bits: 4}}}");
  EXPECT_TRUE(accepts(effective_config(config).dump()));
}

TEST(JsonSchema, RefusesWhatTheReaderRefuses) {
  for (const char* text : {"link: {presett: gen3x8}",
                           "link: {mps: 256}",
                           "link: {mps: 256ns}",
                           "workload: {requests: many}",
                           "device: {dhi: {bits: 13}}",
                           "link: [1]",
                           "link: {identity: bdf+pasid}",
                           "link: {preset: gen6x12}",
                           "device: {tag_bits: 9}",
                           "link: {credits: {posted_data: 0}}",
                           "device: {dhi: {supported: no}}",
                           "faults: {up: {corrupt_tlps: [0]}}",
                           "faults: {break: [credit]}",
                           "run: {monitors: true}",
                           "iommu: {walkers: 0}",
                           "device: {pio: {egress: {high: [[8, 1]]}}}",
                           "device: {pio: {egress: {low: [[0, 1, 2]]}}}",
                           "device: {pio: {egress: {low: [[0, 256]]}}}",
                           "device: {pio: {steering_tag: 256}}",
                           "system: {instances: {ep0: {device.dhi.bitz: 4}}}",
                           "trace: {latency: [{name: a, from: isue, to: sent}]}"}) {
    EXPECT_FALSE(accepts(text)) << text;
    EXPECT_FALSE(problems_of(text).empty()) << text;
  }
}

TEST(JsonSchema, AcceptsWhatTheReaderAccepts) {
  for (const char* text :
       {"link: {mps: 0.5KiB, credits: {posted_data: infinite}}", "link:", "run: {seed: 3}",
        "device: {pio: {egress: {high: [[0, 255], [7, 0]], low: []}, steering_tag: none}}",
        "host: {memory: {bandwidth: infinite}}", "link: {timing: {replay_timeout: auto}}",
        "faults: {up: {corrupt_tlps: [1, 2]}}",
        "{faults: {break: [tags, at]}, run: {monitors: off}}", "link: {error_rate: 1e-6, skp: off}",
        "system: {instances: {ep0: {device: {dhi: {bits: 4}}, device.tag_bits: 8}}}",
        "trace: {latency: [{name: a, from: issue, to: sent}]}"}) {
    EXPECT_TRUE(accepts(text)) << text;
    EXPECT_TRUE(problems_of(text).empty()) << text;
  }
}

}  // namespace
}  // namespace flitwise::json_schema_test
