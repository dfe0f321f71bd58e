// SPDX-License-Identifier: Apache-2.0
// Charts over time as data of uPlot.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/html.h"

namespace flitwise {

std::string TimeChart::html() const {
  if (tracks.empty()) {
    return "";
  }
  nlohmann::ordered_json data = nlohmann::ordered_json::array();
  data.push_back(times);
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const Track& track : tracks) {
    names.push_back(track.name);
    nlohmann::ordered_json values = nlohmann::ordered_json::array();
    for (const std::optional<double>& value : track.values) {
      values.push_back(value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json());
    }
    data.push_back(std::move(values));
  }
  const nlohmann::ordered_json spec = {
      {"title", title + ", " + unit}, {"names", names}, {"data", data}};
  return fmt::format(
      "<figure class=\"over-time wide\" tabindex=\"0\" aria-label=\"{}\"><div class=\"plot\"></div>"
      "<script type=\"application/json\">{}</script></figure>\n",
      html_text(fmt::format("{}, {}: {} curves over time", title, unit, tracks.size())),
      script_text(spec.dump()));
}

}  // namespace flitwise
