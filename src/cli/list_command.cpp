// SPDX-License-Identifier: Apache-2.0
// flitwise list and schema: what there is, and every parameter, as tables.
#include <fmt/format.h>

#include "cli/commands.h"
#include "common/ranges.h"
#include "results/tables.h"
#include "results/text_table.h"
#include "script/script_line.h"

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
    {"switches below switches, legacy or handle-aware", "modelled"},
    {"peer-to-peer across switches, Access Control Services", "modelled"},
    {"several hosts, each with a tree of its own", "modelled"},
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
    {"PIO send memory, credit return, SDMA, packets between devices", "modelled"},
    {"RoCEv2 frames as bytes and JSON (encode, decode)", "modelled"},
    {"RDMA queue pairs without a clock, by lines of scripts and cases", "modelled"},
    {"HCA: QP-state cache and pre-translation without a clock, likewise", "modelled"},
    {"SRDMA: session groups, handshake, keys and receive checks, likewise", "modelled"},
    {"RDMA adapters of devices, with their software, by cables or one switch", "modelled"},
    {"networks of up to 1,024 hosts in packets, with session groups of SRDMA", "modelled"},
    {"SRDMA of adapters behind PCIe", "modelled"},
    {"corner cases as files (conform), campaigns", "modelled"},
    {"sweeps on this machine and in Slurm", "modelled"},
};

template <std::size_t n>
TextTable named_table(const char* what, const char* meaning, const Named (&list)[n]) {
  TextTable table({what, meaning}, 2);
  for (const Named& each : list) {
    table.add_row({each.name, each.sentence});
  }
  return table;
}

/// Keys of the config that take one of several words, with these words.
TextTable choices_table(bool of_workload) {
  TextTable table({"key", "values", "meaning"}, 3);
  for (const KeyInfo& key : all_keys()) {
    const bool is_workload = key.path.rfind("workload.", 0) == 0;
    const bool is_choice = !key.values.empty() && key.default_value != "true" &&
                           key.default_value != "false" && key.path != "link.preset";
    if (!is_choice || is_workload != of_workload) {
      continue;
    }
    table.add_row({key.path, fmt::format("{}", fmt::join(key.values, " ")), key.sentence});
  }
  return table;
}

TextTable statistics_table() {
  TextTable table({"where", "key", "unit", "definition"}, 4);
  for (const StatisticInfo& statistic : all_statistics()) {
    table.add_row({statistic.where, statistic.key, statistic.unit, statistic.definition});
  }
  table.add_note(
      "Columns of merged sweeps: up_KEY and down_KEY of links (up_tlps), NAME_KEY_ns of "
      "latencies\n(dma_read_p50_ns), LIST_KEY of other lists (dhi_hits, iommu_walks), "
      "wait_RESOURCE_wait_ns,\nhca_stage_DEVICE_STAGE_KEY, attack_KIND_KEY and errors_KIND, "
      "with "
      "underscores for dots. Links\nand devices behind the first have their name in front: "
      "rp1-ep1_up_tlps.\n");
  return table;
}

TextTable verbs_table() {
  TextTable table({"verb", "what a script line does with it"}, 2);
  for (const ScriptVerb& verb : script_verbs()) {
    table.add_row({verb.name, verb.sentence});
  }
  return table;
}

struct List {
  const char* name;
  TextTable (*table)();
  std::string (*text)() = nullptr;  // where that is another than the table's
};
constexpr List kLists[] = {
    {"models", [] { return named_table("model", "what it is", kModels); }},
    {"workloads", [] { return choices_table(true); }},
    {"policies", [] { return choices_table(false); }},
    {"statistics", statistics_table},
    {"cases", table_of_cases, list_of_cases},
    {"features", [] { return named_table("feature", "state", kFeatures); }},
    {"verbs", verbs_table},
};

struct ListOptions {
  std::string what;
  bool as_markdown = false;
};

struct SchemaOptions {
  bool as_json = false;
  bool as_markdown = false;
};

/// Every parameter with unit, range, default and meaning.
int schema(const SchemaOptions& options) {
  if (options.as_json) {
    fmt::print("{}\n", json_schema().dump(2));
    return kOk;
  }
  TextTable table({"key", "default", "unit", "range", "meaning"}, 5);
  for (const KeyInfo& key : all_keys()) {
    table.add_row({key.path, key.default_value, key.unit, key.range, key.sentence});
  }
  fmt::print("{}", options.as_markdown ? schema_markdown() : table.text());
  return kOk;
}

int list(const ListOptions& options) {
  for (const List& each : kLists) {
    if (options.what == each.name) {
      fmt::print("{}", options.as_markdown    ? each.table().markdown()
                       : each.text != nullptr ? each.text()
                                              : each.table().text());
    }
  }
  return kOk;
}

}  // namespace

std::vector<std::string> list_names() {
  return mapped(kLists, &List::name);
}

void add_list_command(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command<ListOptions>(app, "list", "List what there is", action, list);
  command.add_option("what", options.what, "Which list")
      ->required()
      ->check(CLI::IsMember(list_names()));
  command.add_flag("--markdown", options.as_markdown, "As a table of Markdown");
  command.footer("Example:\n  flitwise list statistics");
}

void add_schema_command(CLI::App& app, Action& action) {
  const auto [command, options] = add_command<SchemaOptions>(
      app, "schema", "Print every parameter: unit, range, default, one sentence", action, schema);
  auto* json = command.add_flag("--json", options.as_json, "As a JSON Schema, for editors");
  command.add_flag("--markdown", options.as_markdown, "As a page of Markdown")->excludes(json);
  command.footer("Example:\n  flitwise schema --json > config.schema.json");
}

}  // namespace flitwise::cli
