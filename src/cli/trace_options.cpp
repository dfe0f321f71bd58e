// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/split.hpp>
#include <utility>

#include "common/quantity.h"
#include "trace/trace_sink.h"

namespace flitwise::cli {
namespace {

void add_file(const std::string& text, TraceConfig& trace) {
  const std::size_t equals = text.find('=');
  const std::string kind = text.substr(0, equals);
  if (std::find(kTraceKinds.begin(), kTraceKinds.end(), kind) == kTraceKinds.end()) {
    throw UsageError(fmt::format("--trace: unknown kind '{}'; expected one of: {}", kind,
                                 fmt::join(kTraceKinds, ", ")));
  }
  if (equals == std::string::npos || equals + 1 == text.size()) {
    throw UsageError(fmt::format("--trace {}: no file; expected {}=FILE", text, kind));
  }
  if (!trace.files.emplace(kind, text.substr(equals + 1)).second) {
    throw UsageError(fmt::format("--trace {}: given twice; expected one file a kind", kind));
  }
}

Time time_from(const std::string& text, const std::string& option) {
  const auto time = config::read_quantity(text, config::time_dimension());
  if (!time.value || *time.value < 0) {
    throw UsageError(fmt::format("{}: '{}'; expected a time such as 10us", option, text));
  }
  return Time{*time.value};
}

/// Both ends of "A..B"; where one is left out it keeps its value.
void read_range(const std::string& text, const std::string& option, Time& first, Time& last) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos || text.size() == 2) {
    throw UsageError(
        fmt::format("{} '{}'; expected A..B, A.. or ..B, such as 10us..20us", option, text));
  }
  if (dots > 0) {
    first = time_from(text.substr(0, dots), option);
  }
  if (dots + 2 < text.size()) {
    last = time_from(text.substr(dots + 2), option);
  }
}

void add_words(const std::string& text, TraceSelection& selection) {
  const std::pair<const char*, std::vector<std::string>*> fields[] = {
      {"link", &selection.links}, {"type", &selection.types}, {"requester", &selection.requesters}};
  const std::size_t equals = text.find('=');
  for (const auto& [name, words] : fields) {
    if (text.substr(0, equals) == name && equals != std::string::npos && equals + 1 < text.size()) {
      std::vector<std::string> more;
      boost::split(more, text.substr(equals + 1), [](char c) { return c == ','; });
      words->insert(words->end(), more.begin(), more.end());
      return;
    }
  }
  throw UsageError(
      fmt::format("--trace-only '{}'; expected link=NAME, type=MRd,CplD or "
                  "requester=01:00.0",
                  text));
}

void read_trigger(const std::string& text, TraceSelection& selection) {
  using Trigger = TraceSelection::Trigger;
  const std::string slow = "slow=";
  if (text == "fault") {
    selection.trigger = Trigger::kFault;
  } else if (text == "error") {
    selection.trigger = Trigger::kError;
  } else if (text.rfind(slow, 0) == 0) {
    selection.trigger = Trigger::kSlow;
    selection.slow = time_from(text.substr(slow.size()), "--trace-trigger slow");
  } else {
    throw UsageError(fmt::format("--trace-trigger '{}'; expected fault, error or slow=TIME", text));
  }
}

}  // namespace

void read_trace_options(const TraceOptions& options, TraceConfig& trace) {
  for (const std::string& text : options.files) {
    add_file(text, trace);
  }
  TraceSelection& selection = trace.selection;
  if (!options.window.empty()) {
    read_range(options.window, "--trace-window", selection.from, selection.until);
    if (selection.until < selection.from) {
      throw UsageError(fmt::format("--trace-window '{}' runs backwards; expected A <= B in A..B",
                                   options.window));
    }
  }
  for (const std::string& text : options.only) {
    add_words(text, selection);
  }
  if (!options.trigger.empty()) {
    read_trigger(options.trigger, selection);
  }
  if (!options.around.empty()) {
    if (options.trigger.empty()) {
      throw UsageError("--trace-around without --trace-trigger; expected both");
    }
    read_range(options.around, "--trace-around", selection.before, selection.after);
  }
  if (trace.files.empty() && !selection.is_everything()) {
    throw UsageError(
        "--trace-window, --trace-only and --trace-trigger say what traces have; expected --trace "
        "KIND=FILE beside them");
  }
}

void add_trace_options(CLI::App& command, TraceOptions& options) {
  add_repeated(command, "--trace", options.files,
               "Write a trace: packets (CSV of all links), pcapng (links and network ports, for "
               "Wireshark), perfetto, vcd, sqlite or series (figures over time); may be given "
               "repeatedly",
               "KIND=FILE");
  command.add_option("--trace-window", options.window, "Only what begins in that simulated time")
      ->type_name("FROM..UNTIL");
  add_repeated(
      command, "--trace-only", options.only,
      "Only units of that link, of these types (MRd, CplD, UpdateFC, flit, ...) or of that "
      "requester; may be given repeatedly",
      "FIELD=VALUE,...");
  command
      .add_option("--trace-trigger", options.trigger,
                  "Only what is around the first unit that is damaged, lost or sent again (fault), "
                  "around the first error (error), or around the first request that takes so long "
                  "(slow=TIME)")
      ->type_name("EVENT");
  command
      .add_option("--trace-around", options.around,
                  "How much before and after the trigger; default: 1us..1us")
      ->type_name("BEFORE..AFTER");
}

}  // namespace flitwise::cli
