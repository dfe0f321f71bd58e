// SPDX-License-Identifier: Apache-2.0
/// The lists of one result.json as tables: what is in the result shows, what is zero is left out.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace flitwise {

/// "-" where the value is missing; throws Json::exception where it is no number.
std::string count_cell(const nlohmann::ordered_json& value);
std::string figure_cell(const nlohmann::ordered_json& value, double factor, int decimals);
/// The value of a key; null where a result of an older version has none.
nlohmann::ordered_json value_of(const nlohmann::ordered_json& object, const char* key);
/// The list of a result; empty where a result of an older version has none.
nlohmann::ordered_json list_of(const nlohmann::ordered_json& result, const char* key);

/// What limited requests, and what they waited for.
std::string waits_html(const nlohmann::ordered_json& result);
/// Translation agents, their drivers, Secure ATS, ATCs.
std::string translations_html(const nlohmann::ordered_json& result);
std::string cxl_html(const nlohmann::ordered_json& result);
/// What hostile devices tried, and what the monitors saw.
std::string attacks_html(const nlohmann::ordered_json& result);
std::string violations_html(const nlohmann::ordered_json& result);
/// The lists of components that have no table of their own here, each with all its figures.
std::string other_lists_html(const nlohmann::ordered_json& result);

}  // namespace flitwise
