// SPDX-License-Identifier: Apache-2.0
// JUnit XML.
#include <fmt/format.h>

#include <algorithm>

#include "scenario/verdict.h"

namespace flitwise::scenario {
namespace {

constexpr std::pair<char, const char*> kEntities[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto named = std::find_if(std::begin(kEntities), std::end(kEntities),
                                    [c](const auto& entity) { return entity.first == c; });
    if (named != std::end(kEntities)) {
      result += named->second;
    } else {
      result += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return result;
}

// What stands in lists of failures: the first line, which says what was expected.
std::string headline(const std::string& failure) {
  const std::size_t first = std::min(failure.find_first_not_of(' '), failure.size());
  return failure.substr(first, failure.find('\n', first) - first);
}

}  // namespace

std::string junit_xml(const std::vector<CaseReport>& reports) {
  double seconds = 0;
  for (const CaseReport& report : reports) {
    seconds += report.seconds;
  }
  const auto failed = std::count_if(reports.begin(), reports.end(), [](const CaseReport& report) {
    return !report.failure.empty();
  });
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"flitwise conform\" tests=\"{}\" failures=\"{}\" time=\"{:.3f}\">\n",
      reports.size(), failed, seconds);
  for (const CaseReport& report : reports) {
    const std::string family = report.id.substr(0, report.id.find('/'));
    xml += fmt::format("  <testcase classname=\"{}\" name=\"{}: {}\" time=\"{:.3f}\"",
                       escaped(family), escaped(report.id), escaped(report.title), report.seconds);
    if (report.failure.empty()) {
      xml += "/>\n";
    } else {
      xml += fmt::format(">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
                         escaped(headline(report.failure)), escaped(report.failure));
    }
  }
  return xml + "</testsuite>\n";
}

}  // namespace flitwise::scenario
