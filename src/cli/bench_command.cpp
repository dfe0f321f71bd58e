// SPDX-License-Identifier: Apache-2.0
// flitwise bench: how many units of work a second, each case beside the bare kernel.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "cli/commands.h"
#include "common/child_process.h"
#include "common/embedded.h"
#include "common/ranges.h"
#include "flitwise/system.h"
#include "network/network_setup.h"
#include "results/text_table.h"
#include "system/kernel.h"

namespace flitwise::cli {
namespace {

using BenchCase = embedded::NamedText;  // a file of configs/bench

constexpr const char* kBareKernel = "bare_kernel";
constexpr std::uint64_t kNotifications = 10'000'000;

struct BenchOptions {
  bool as_json = false;
  std::string only;
  unsigned pairs = 7;
  std::string child;  ///< hidden: the case this process measures
};

struct Pair {
  double units_per_second;
  double notifications_per_second;
  double ratio() const { return notifications_per_second / units_per_second; }
};

Config config_of(const BenchCase& bench_case) {
  return config_from_text(bench_case.text, bench_case.name, "");
}

/// Requests of all devices; of a network of packets its data packets.
std::uint64_t units_of(const Config& config) {
  if (config.network.mode == NetworkMode::kPacket) {
    return data_packets(config);
  }
  return (config.workload.requests + config.run.warmup) * config.system.devices;
}

const char* unit_name(const Config& config) {
  if (config.network.mode == NetworkMode::kPacket) {
    return "packet";
  }
  switch (config.workload.kind) {
    case WorkloadKind::kPostedWrite: return "write";
    case WorkloadKind::kRead: return "read";
    default: return "request";
  }
}

/// Units per second of one case: the simulation alone, without building the machine.
double measure(const BenchCase& bench_case) {
  const Config config = config_of(bench_case);
  double seconds = 0;
  run_in_kernel([&] {
    System system(config);
    const auto start = std::chrono::steady_clock::now();
    system.run();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return kOk;
  });
  return static_cast<double>(units_of(config)) / seconds;
}

int measure_as_child(const std::string& name) {
  double rate = 0;
  if (name == kBareKernel) {
    run_in_kernel([&] {
      rate = kernel_notifications_per_second(kNotifications);
      return kOk;
    });
  } else if (const BenchCase* bench_case =
                 find_where(embedded::bench_cases(),
                            [&](const BenchCase& each) { return name == each.name; })) {
    rate = measure(*bench_case);
  } else {
    throw UsageError("bench: no case " + name);
  }
  fmt::print("{}\n", rate);
  return kOk;
}

/// The rate that a child process measured.
double child_rate(const std::string& name) {
  const ChildOutput output = run_child({{own_path(), "bench", "--child", name}});
  if (output.exit_code != 0) {
    throw SimulationError(fmt::format("bench: {} ended with exit code {}", name, output.exit_code));
  }
  return std::stod(output.text);
}

/// The pair with the median ratio, so that its three figures belong together.
Pair median_pair(const BenchCase& bench_case, unsigned pairs) {
  std::vector<Pair> all;
  for (unsigned i = 0; i < pairs; ++i) {
    const double kernel = child_rate(kBareKernel);
    all.push_back({child_rate(bench_case.name), kernel});
  }
  std::sort(all.begin(), all.end(),
            [](const Pair& a, const Pair& b) { return a.ratio() < b.ratio(); });
  return all[all.size() / 2];
}

int bench(const BenchOptions& options) {
  if (!options.child.empty()) {
    return measure_as_child(options.child);
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  TextTable table({"case", "units/s", "kernel notifications/s", "notifications a unit"});
  for (const BenchCase& bench_case : embedded::bench_cases()) {
    if (!options.only.empty() && options.only != bench_case.name) {
      continue;
    }
    const Pair pair = median_pair(bench_case, options.pairs);
    const Config config = config_of(bench_case);
    list.push_back({{"name", bench_case.name},
                    {"units", units_of(config)},
                    {"units_per_second", pair.units_per_second},
                    {"kernel_notifications_per_second", pair.notifications_per_second},
                    {"ratio", pair.ratio()}});
    table.add_row({bench_case.name,
                   fmt::format("{:.2f} M {}s", pair.units_per_second / 1e6, unit_name(config)),
                   fmt::format("{:.1f} M", pair.notifications_per_second / 1e6),
                   fmt::format("{:.2f}", pair.ratio())});
  }
  if (options.as_json) {
    fmt::print("{}\n",
               nlohmann::ordered_json{{"build", embedded::build()}, {"cases", list}}.dump(2));
  } else {
    fmt::print("{}\nMedian of {} alternating pairs of processes. Build: {}\n", table.text(),
               options.pairs, embedded::build());
  }
  return kOk;
}

}  // namespace

void add_bench_command(CLI::App& app, Action& action) {
  const auto [command, options] = add_command<BenchOptions>(
      app, "bench", "Measure the speed of the simulator itself", action, bench);
  command.add_flag("--json", options.as_json, "As JSON");
  command.add_option("--case", options.only, "Only this case")
      ->type_name("NAME")
      ->check(CLI::IsMember(mapped(embedded::bench_cases(), &BenchCase::name)));
  command.add_option("--pairs", options.pairs, "Alternating pairs per case; default: 7")
      ->type_name("N")
      ->check(CLI::Range(5, 1000));
  command.add_option("--child", options.child, "Measure one case in this process")->group("");
  command.footer("Example:\n  flitwise bench --case posted_write_64B");
}

}  // namespace flitwise::cli
