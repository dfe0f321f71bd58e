// SPDX-License-Identifier: Apache-2.0
// flitwise sweep: its subcommands on the command line.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <system_error>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/sweep_actions.h"
#include "common/atomic_file.h"
#include "common/printable.h"

namespace flitwise::cli {
namespace {

// What a sweep cannot write it lacks afterwards.
int complete_or_not(const SweepOptions& options, int (*perform)(const SweepOptions&)) {
  try {
    const int code = perform(options);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw OutputError("stdout cannot be written");
    }
    return code;
  } catch (const OutputError& error) {
    fmt::print(stderr, "flitwise: {}\n", printable(error.what()));
  } catch (const std::system_error& error) {
    fmt::print(stderr, "flitwise: {}\n", printable(error.what()));
  }
  return kSweepIncomplete;
}

/// One more subcommand of sweep with its own copy of the options.
CLI::App* add_part(CLI::App& sweep, const char* name, const char* purpose, Action& action,
                   int (*perform)(const SweepOptions&), std::shared_ptr<SweepOptions>& options) {
  options = std::make_shared<SweepOptions>();
  CLI::App* part = sweep.add_subcommand(name, purpose);
  part->callback([options, perform, &action] {
    action = [options, perform] { return complete_or_not(*options, perform); };
  });
  return part;
}

void add_input(CLI::App& part, SweepOptions& options, const char* what, const char* type) {
  part.add_option("input", options.input, what)->type_name(type)->required();
}

void add_folder(CLI::App& part, SweepOptions& options) {
  add_path(part, "-o,--out", options.folder, "Folder of the sweep", "DIR")->required();
}

void add_run_part(CLI::App& sweep, Action& action) {
  std::shared_ptr<SweepOptions> options;
  CLI::App* run =
      add_part(sweep, "run", "Plan, run what has no result yet, merge", action, sweep_run, options);
  add_input(*run, *options, "Sweep file, or a planned folder", "STUDY.yaml|DIR");
  add_path(*run, "-o,--out", options->folder, "Folder of the sweep; default: the planned folder",
           "DIR");
  add_repeated(*run, "--set", options->sets, "Override one key in every point", "KEY=VALUE");
  run->add_option("--engine", options->engine, "local or slurm")
      ->type_name("NAME")
      ->check(CLI::IsMember({"local", "slurm"}));
  run->add_option("-j,--jobs", options->jobs, "Points at a time; default: one a core")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  run->add_option("--retries", options->retries, "Further attempts of a failed point; default: 1")
      ->type_name("K")
      ->check(CLI::Range(0, 100));
  run->footer("Example:\n  flitwise sweep run configs/studies/dhi_vs_pasid.yaml -o out -j 2");
}

void add_point_part(CLI::App& sweep, Action& action) {
  std::shared_ptr<SweepOptions> options;
  CLI::App* point = add_part(sweep, "point", "Run one point of a manifest: what engines call",
                             action, sweep_point, options);
  point->add_option("--manifest", options->input, "manifest.jsonl")->type_name("M")->required();
  point->add_option("--index", options->index, "Line of the manifest, from 0")
      ->type_name("I")
      ->required();
  add_path(*point, "--out", options->folder, "Folder of the sweep", "DIR")->required();
  point->footer(
      "Example:\n  flitwise sweep point --manifest out/manifest.jsonl --index 3 --out out");
}

// One that needs the folder of the sweep alone.
void add_folder_part(CLI::App& sweep, const char* name, const char* purpose, Action& action,
                     int (*perform)(const SweepOptions&)) {
  std::shared_ptr<SweepOptions> options;
  CLI::App* part = add_part(sweep, name, purpose, action, perform, options);
  add_input(*part, *options, "Folder of the sweep", "DIR");
  part->footer(fmt::format("Example:\n  flitwise sweep {} out", name));
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  CLI::App* sweep = app.add_subcommand("sweep", "Run many configurations and gather the results");
  sweep->require_subcommand(1);
  std::shared_ptr<SweepOptions> options;

  CLI::App* plan = add_part(*sweep, "plan", "Write manifest.jsonl, points.txt and Slurm scripts",
                            action, sweep_plan, options);
  add_input(*plan, *options, "Sweep file", "STUDY.yaml");
  add_folder(*plan, *options);
  add_repeated(*plan, "--set", options->sets, "Override one key in every point", "KEY=VALUE");
  plan->footer("Example:\n  flitwise sweep plan configs/studies/dhi_vs_pasid.yaml -o out");

  add_run_part(*sweep, action);
  add_point_part(*sweep, action);

  add_folder_part(*sweep, "status", "Say which points have a result", action, sweep_status);
  add_folder_part(*sweep, "merge", "Make results.sqlite and points.csv from all points", action,
                  sweep_merge);
  add_folder_part(*sweep, "resume", "Run what is missing or failed (not modelled yet)", action,
                  sweep_resume);
  sweep->footer("Example:\n  flitwise sweep run configs/studies/dhi_vs_pasid.yaml -o out");
}

}  // namespace flitwise::cli
