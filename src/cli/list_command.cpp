// SPDX-License-Identifier: Apache-2.0
// flitwise list: what there is, as tables.
#include <fmt/format.h>

#include <array>
#include <memory>

#include "cli/catalogue.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "results/tables.h"
#include "results/text_table.h"
#include "scenario/case_files.h"
#include "script/script_line.h"
#include "trace/trace_kinds.h"

namespace flitwise::cli {
namespace {

struct Named {
  const char* name;
  const char* sentence;
};

constexpr Named kModels[] = {
    {"link",
     "Transaction queues, framer and wire between two ports: Gen1 to Gen6, non-flit, flit mode "
     "or bit-packed."},
    {"root_complex", "Root ports with their handle tables, and the way to host memory."},
    {"host_memory", "Memory behind the TLM-2.0 base protocol, with bandwidth and latency."},
    {"host", "Host bridge for MMIO and configuration, and the software that uses it."},
    {"translation_agent",
     "IOMMU: caches, walkers, invalidation and page request queues, permission table."},
    {"iommu_driver", "Host software that maps, unmaps and serves page requests and faults."},
    {"cxl", "Device caches with their home, memory expanders, and memory cached at both ends."},
    {"switch", "Upstream port and a downstream port for each device, legacy or handle-aware."},
    {"endpoint", "Functions with config space, BARs, handle agent, and DMA or hostile engine."},
};

constexpr Named kFeatures[] = {
    {"PCIe Gen1-Gen5, non-flit", "modelled"},
    {"PCIe flit mode, Gen1-Gen6", "modelled"},
    {"TLPs, DLLPs, LCRC, ECRC, prefixes, 10-bit tags", "modelled"},
    {"Ack, Nak, replay, retrain, bit errors", "modelled"},
    {"flow control per P, NP, Cpl, scaled and infinite", "modelled"},
    {"ordering table with RO and IDO", "modelled"},
    {"one level of switch, legacy or handle-aware", "modelled"},
    {"configuration space, SR-IOV, MMIO, resets, boot by host software", "modelled"},
    {"device handles (DHI), forms of non-flit and flit mode, both directions, trust and "
     "capabilities",
     "modelled"},
    {"bit-packed carrier", "modelled"},
    {"message-size distributions and trace replay", "modelled"},
    {"hostile devices, grants, source validation", "modelled"},
    {"any TLM-2.0 memory as host memory, JSON-line scripts", "modelled"},
    {"CXL.io, CXL.cache and CXL.mem in 68-byte and 256-byte flits, HDM-DB", "modelled"},
    {"IOMMU: scalable-mode tables, caches, walkers, faults, queued invalidation", "modelled"},
    {"ATS (ATC, device-TLB invalidation), PRI, Secure ATS", "modelled"},
    {"PIO send memory, credit return", "not modelled yet"},
    {"HCA pre-translation, SRDMA, RoCE", "not modelled yet"},
    {"corner cases as files (conform), campaigns", "modelled"},
    {"Slurm engine of sweeps", "not modelled yet"},
};

template <std::size_t n>
std::string named_table(const char* what, const char* meaning, const Named (&list)[n]) {
  TextTable table({what, meaning});
  table.left_align(1);
  for (const Named& each : list) {
    table.add_row({each.name, each.sentence});
  }
  return table.text();
}

/// Keys of the config that take one of several words, with these words.
std::string choices_table(bool of_workload) {
  TextTable table({"key", "values", "meaning"});
  table.left_align(1);
  table.left_align(2);
  for (const KeyInfo& key : all_keys()) {
    const bool is_workload = key.path.rfind("workload.", 0) == 0;
    const bool is_choice = !key.values.empty() && key.default_value != "true" &&
                           key.default_value != "false" && key.path != "link.preset";
    if (!is_choice || is_workload != of_workload) {
      continue;
    }
    table.add_row({key.path, fmt::format("{}", fmt::join(key.values, " ")), key.sentence});
  }
  return table.text();
}

std::string statistics_table() {
  TextTable table({"where", "key", "unit", "definition"});
  for (std::size_t column = 1; column < 4; ++column) {
    table.left_align(column);
  }
  for (const StatisticInfo& statistic : all_statistics()) {
    table.add_row({statistic.where, statistic.key, statistic.unit, statistic.definition});
  }
  return table.text();
}

std::string verbs_table() {
  TextTable table({"verb", "what a script line does with it"});
  for (const ScriptVerb& verb : script_verbs()) {
    table.add_row({verb.name, verb.sentence});
  }
  return table.text();
}

std::string cases_list() {
  return list_of(cases_in(default_case_paths()));
}

struct List {
  const char* name;
  std::string (*text)();
};
constexpr List kLists[] = {
    {"models", [] { return named_table("model", "what it is", kModels); }},
    {"workloads", [] { return choices_table(true); }},
    {"policies", [] { return choices_table(false); }},
    {"statistics", statistics_table},
    {"cases", cases_list},
    {"features", [] { return named_table("feature", "state", kFeatures); }},
    {"verbs", verbs_table},
};

int list(const std::string& what) {
  for (const List& each : kLists) {
    if (what == each.name) {
      fmt::print("{}", each.text());
    }
  }
  return kOk;
}

}  // namespace

std::vector<std::string> list_names() {
  std::vector<std::string> names;
  for (const List& each : kLists) {
    names.emplace_back(each.name);
  }
  return names;
}

void add_list_command(CLI::App& app, Action& action) {
  auto what = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("list", "List what there is");
  command->add_option("what", *what, "Which list")->required()->check(CLI::IsMember(list_names()));
  command->footer("Example:\n  flitwise list statistics");
  command->callback([what, &action] { action = [what] { return list(*what); }; });
}

}  // namespace flitwise::cli
