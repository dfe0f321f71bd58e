// SPDX-License-Identifier: Apache-2.0
/// The way in and out of configurations: files become validated structs (flitwise/load.h), structs
/// become one canonical text, and the tables behind both can be listed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/error.h"
#include "flitwise/load.h"
#include "flitwise/result.h"

namespace flitwise {

/// The configuration as the instance `name` sees it: the overrides of system.instances applied.
/// A name without overrides gives a plain copy.
Config for_instance(const Config& config, const std::string& name);

/// Every key with its value in canonical spelling, in the order of the tables; values with a
/// dimension are strings with a unit. Leaves out `trace`. Reading it back gives the same config.
nlohmann::ordered_json effective_config(const Config& config);

/// SHA-256 over the dump of effective_config, 64 lower-case hexadecimal digits.
std::string config_sha256(const Config& config);

/// JSON Schema (draft 7) of a config file.
nlohmann::ordered_json json_schema();

/// The same tables as a page of Markdown.
std::string schema_markdown();

/// One key as documentation, for completion and suggestions.
struct KeyInfo {
  std::string path;                 ///< "device.dhi.bits"
  std::string unit;                 ///< "size", "time", "Gb/s", ...; empty for plain values
  std::string range;                ///< "2..12", "stall | bypass"
  std::string default_value;        ///< canonical spelling
  std::string sentence;             ///< what the key does, and when a run reads it
  std::vector<std::string> values;  ///< every valid word, where there are only so many
};

/// Every key, in the order of the tables.
std::vector<KeyInfo> all_keys();

/// What is allowed and yet hardly meant: one line each, with the key in front:
/// "link.timing.replay_timeout: ...".
std::vector<std::string> config_warnings(const Config& config);

/// The next value of a key that makes what it sizes larger, as `--set` takes it: twice the number
/// or quantity, the next larger of a few valid values, the next faster link. Empty: the key has the
/// largest value that this configuration can have, or none that can be larger.
std::string larger_value(const Config& config, const std::string& key);

/// The same of what sizes a resource at `limit.at`: where an instance sets the key, its value
/// counts and the key becomes "system.instances.NAME.KEY". A key that does not exist is taken out.
void advise(const Config& whole, Limit& limit);

}  // namespace flitwise
