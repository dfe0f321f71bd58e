// SPDX-License-Identifier: Apache-2.0
// flitwise run: one simulation.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <system_error>

#include "cli/commands.h"
#include "cli/run_files.h"
#include "cli/trace_options.h"
#include "common/interrupt.h"
#include "common/ranges.h"
#include "common/terminal.h"
#include "config/traces.h"
#include "flitwise/error.h"
#include "results/result_json.h"
#include "results/summary_table.h"

namespace flitwise::cli {
namespace {

struct RunOptions {
  std::string file;
  LoadOptions load;
  std::string folder;
  TraceOptions traces;
  std::string config_space;  // file
  bool as_json = false;
  bool explains = false;
  bool is_quiet = false;
};

/// --config-space shows what keys of devices change in their registers.
std::vector<Problem> without_device_keys(const std::vector<Problem>& given) {
  return those(given, [](const Problem& key) {
    return key.path.rfind("device.", 0) != 0 && key.path.find(".device.") == std::string::npos;
  });
}

/// Whatever a run reads.
std::vector<NamedPath> inputs_of(const RunOptions& options, const Config& config,
                                 const std::string& base_file) {
  std::vector<NamedPath> inputs = {{options.file, "the config"}};
  if (!base_file.empty()) {
    inputs.push_back({base_file, "the base of the config"});
  }
  std::vector<Config> all = {config};
  for (const auto& [name, values] : config.instances) {
    all.push_back(for_instance(config, name));
  }
  for (const Config& one : all) {
    inputs.push_back({one.workload.trace, "workload.trace"});
    inputs.push_back({one.workload.sizes, "workload.sizes"});
  }
  return inputs;
}

std::vector<NamedPath> outputs_of(const RunOptions& options, const TraceConfig& traces) {
  std::vector<NamedPath> outputs;
  if (!options.folder.empty()) {
    outputs = {{options.folder + "/result.json", "result.json of --out"},
               {options.folder + "/result.sqlite", "result.sqlite of --out"}};
  }
  for (const auto& [kind, path] : traces.files) {
    outputs.push_back({path, "--trace " + kind});
  }
  if (!options.config_space.empty()) {
    outputs.push_back({options.config_space, "--config-space"});
  }
  return outputs;
}

SimulatedRun result_of(const Config& config, const SimulateOptions& how, RunFiles& files) {
  try {
    return simulate(config, how);
  } catch (const SimulationError&) {
    files.put_traces_in_place();
    throw;
  } catch (const std::system_error& error) {  // of a trace, which is written beside its place
    throw OutputError(files.with_own_names(error.what()));
  }
}

int run(const RunOptions& options) {
  TraceConfig traces;
  read_trace_options(options.traces, traces);
  LoadNotes notes;
  Config config = load_config(options.file, options.load, &notes);
  refuse_to_overwrite(inputs_of(options, config, notes.base_file), outputs_of(options, traces));
  config.trace.files = traces.files;
  config.trace.selection = traces.selection;
  if (traces.files.count("pcapng") > 0 && config.trace.capture == CaptureOf::kPorts &&
      !has_network_port(config)) {
    throw ConfigError(
        {{options.file, 0, 0, "trace.capture",
          "--trace pcapng of the network ports of a machine that has none: nothing to "
          "capture; expected trace.capture links, workload.via rdma, or pio and "
          "device.pio.egress.peer"}});
  }
  if (!options.config_space.empty() && config.link.carrier != Carrier::kPcie) {
    throw ConfigError({{options.file, 0, 0, "link.carrier",
                        "--config-space of a bit-packed link, whose ends have no configuration "
                        "space; expected link.carrier pcie"}});
  }
  if (traces.files.count("pcapng") > 0 && config.trace.capture != CaptureOf::kLinks &&
      has_network_port(config) &&
      (traces.selection.has_words() ||
       traces.selection.trigger != TraceSelection::Trigger::kNone)) {
    throw ConfigError({{options.file, 0, 0, "trace.capture",
                        "--trace pcapng of network ports, which --trace-only and --trace-trigger "
                        "know nothing of; expected trace.capture links, or --trace-window alone"}});
  }
  for (const auto& [kind, path] : traces.files) {
    if (kind != "pcapng") {
      refuse_packets(config, options.file, "--trace " + kind);
    }
  }
  if (!options.config_space.empty()) {
    refuse_packets(config, options.file, "--config-space");
  }
  print_without_effect(options.config_space.empty() ? notes.given
                                                    : without_device_keys(notes.given));
  watch_for_interrupt();  // from here on there is a folder, and a result whenever a signal comes
  RunFiles files({options.folder, options.config_space}, config.trace);
  std::string config_space;
  const SimulatedRun run = result_of(
      config,
      {options.config_space.empty() ? nullptr : &config_space, !options.is_quiet, notes.given},
      files);
  if (!options.config_space.empty()) {
    files.write_config_space(config_space);
  }
  files.put_in_place(run);
  for (const std::string& note : run.result.trace_notes) {
    fmt::print(stderr, "flitwise: warning: {}\n", note);
  }
  if (options.as_json) {
    fmt::print("{}", result_text(run.result, run.end, files.names()));
  } else if (!options.is_quiet) {
    fmt::print("{}", summary_text(run.result, run.end, terminal_columns(STDOUT_FILENO)));
  }
  if (options.explains) {
    fmt::print("{}{}", options.is_quiet ? "" : "\n", text_of(run.result.rows<ExplainResult>()));
  }
  return exit_code_of(run);
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command<RunOptions>(app, "run", "Run one simulation and print its summary", action, run);
  command.add_option("config", options.file, "Configuration file")
      ->type_name("CONFIG.yaml")
      ->required();
  add_set_option(command, options.load);
  add_seed_option(command, options.load);
  add_path(command, "-o,--out", options.folder, "Write result.json and result.sqlite there", "DIR");
  auto* const json =
      command.add_flag("--json", options.as_json, "Print result.json instead of the summary");
  command
      .add_flag("--explain", options.explains,
                "Say of each kind of request what limited it, and the key to change")
      ->excludes(json);
  add_trace_options(command, options.traces);
  add_path(command, "--config-space", options.config_space,
           "Write the configuration space of every function after bring-up, for lspci -F", "FILE");
  command.add_flag("--quiet", options.is_quiet, "Print no summary and no progress");
  command.footer(
      "Progress is on stderr: one line on a terminal, from 2 s on; elsewhere a line every 10 s\n\n"
      "Example:\n  flitwise run configs/checks/saturated.yaml --set workload.payload=64B --seed 7 "
      "-o out");
}

}  // namespace flitwise::cli
