// SPDX-License-Identifier: Apache-2.0
// Tables of the sections `workload`, `faults`, `trace` and `run`.
#include <fmt/format.h>

#include <limits>

#include "common/ranges.h"
#include "config/sections/sections.h"
#include "flitwise/packet.h"
#include "workload/size_distribution.h"

namespace flitwise::config {
namespace {

/// Places where a packet is stamped, in the order of its life.
const std::vector<std::string>& hop_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (int hop = 0; hop < kHops; ++hop) {
      names.emplace_back(name_of(static_cast<Hop>(hop)));
    }
    return names;
  }();
  return all;
}

std::size_t order_of(const std::string& hop) {
  const auto& all = hop_names();
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), hop) - all.begin());
}

/// The word below `key` of one entry, or empty after a report.
std::string word_below(const Value& item, const std::string& key, const ReadContext& context) {
  const Value::Entry* entry = item.find(key);
  if (entry == nullptr) {
    context.report(item.place, fmt::format("no '{}'; expected name, from and to", key));
    return "";
  }
  if (entry->value.kind != Value::Kind::kScalar || entry->value.text.empty()) {
    context.report(entry->value.place, entry->value.seen() + "; expected a word");
    return "";
  }
  const bool is_hop = key != "name";
  if (is_hop && order_of(entry->value.text) == hop_names().size()) {
    context.report(
        entry->value.place,
        fmt::format("unknown hop '{}'; expected {}{}", entry->value.text, alternatives(hop_names()),
                    nearest_hint(entry->value.text, hop_names(), "hop")));
    return "";
  }
  return entry->value.text;
}

void read_pair(const Value& item, std::vector<LatencyPair>& pairs, const ReadContext& context) {
  static const std::vector<std::string> kKeys = {"name", "from", "to"};
  if (item.kind != Value::Kind::kMap) {
    context.report(item.place, item.seen() + "; expected {name: ..., from: HOP, to: HOP}");
    return;
  }
  for (const Value::Entry& entry : item.entries) {
    if (!contains(kKeys, entry.key)) {
      context.report(entry.place,
                     fmt::format("unknown key '{}'; expected {}{}", entry.key, alternatives(kKeys),
                                 nearest_hint(entry.key, kKeys, "key")));
    }
  }
  const LatencyPair pair{word_below(item, "name", context), word_below(item, "from", context),
                         word_below(item, "to", context)};
  if (pair.name.empty() || pair.from.empty() || pair.to.empty()) {
    return;
  }
  if (order_of(pair.from) >= order_of(pair.to)) {
    context.report(item.place,
                   fmt::format("from '{}' to '{}'; expected a hop and a later one of {}", pair.from,
                               pair.to, alternatives(hop_names())));
    return;
  }
  const bool is_taken =
      pair.name == "dma_read" || pair.name == "dma_write" || pair.name == "dma_write_tlp" ||
      any_of(pairs, [&](const LatencyPair& other) { return other.name == pair.name; });
  if (is_taken) {
    context.report(item.find("name")->value.place,
                   fmt::format("the name '{}' is taken; expected a new one", pair.name));
    return;
  }
  pairs.push_back(pair);
}

void read_pairs(Config& config, const Value& value, const ReadContext& context) {
  if (value.kind != Value::Kind::kSequence) {
    context.report(value.place,
                   value.seen() + "; expected a list of {name: ..., from: HOP, to: HOP}");
    return;
  }
  config.trace.latency.clear();
  for (const Value& item : value.items) {
    read_pair(item, config.trace.latency, context);
  }
}

nlohmann::ordered_json write_pairs(const Config& config) {
  using Json = nlohmann::ordered_json;
  return mapped<Json>(config.trace.latency, [](const LatencyPair& pair) -> Json {
    return {{"name", pair.name}, {"from", pair.from}, {"to", pair.to}};
  });
}

}  // namespace

/// "all", "vfs", or numbers of functions.
Key functions_key() {
  const std::string expected = "all, vfs or a rising list of functions, such as [1, 2]";
  const auto read = [expected](Config& config, const Value& value, const ReadContext& context) {
    std::vector<unsigned>& carriers = config.device.functions.carriers;
    if (value.kind == Value::Kind::kScalar && (value.text == "all" || value.text == "vfs")) {
      carriers = value.text == "all" ? kAllFunctions : kVirtualFunctions;
      return;
    }
    if (value.kind != Value::Kind::kSequence || value.items.empty()) {
      context.report(value.place, value.seen() + "; expected " + expected);
      return;
    }
    std::vector<unsigned> numbers;
    for (const Value& item : value.items) {
      const auto number = read_whole(item.text);
      const bool is_number = item.kind == Value::Kind::kScalar && number.value;
      if (!is_number || *number.value >= kMostFunctions ||
          (!numbers.empty() && *number.value <= numbers.back())) {
        context.report(item.place, fmt::format("{}; expected {}", item.seen(), expected));
        return;
      }
      numbers.push_back(static_cast<unsigned>(*number.value));
    }
    carriers = numbers;
  };
  const auto write = [](const Config& config) -> nlohmann::ordered_json {
    const std::vector<unsigned>& carriers = config.device.functions.carriers;
    if (carriers == kAllFunctions || carriers == kVirtualFunctions) {
      return carriers == kAllFunctions ? "all" : "vfs";
    }
    return carriers;
  };
  const nlohmann::ordered_json number = {
      {"type", "integer"}, {"minimum", 0}, {"maximum", kMostFunctions - 1}};
  return {"workload.functions",
          "",
          "all, vfs or a rising list of functions",
          "Functions of the device that carry its domains: all, those from 1 on (vfs), or these.",
          {},
          {{"oneOf",
            {{{"enum", {"all", "vfs"}}}, {{"type", "array"}, {"items", number}, {"minItems", 1}}}}},
          read,
          write};
}

Keys workload_keys() {
  constexpr std::uint64_t kMany = 1'000'000'000'000;  // 10^12 requests
  const auto names = shipped_distribution_names();
  return {
      choice(KEY(workload.kind),
             "What the device asks for; nic makes the TLPs of a NIC from each message."),
      choice(KEY(workload.via),
             "Who makes the requests: devices by DMA or through device.cxl.cache; the host by "
             "CXL.mem into device.cxl.memory (cxl_mem), the device's core there (cxl_own), or each "
             "of these two a workload of its own (cxl_both); or host.cores, which write packets "
             "into the send memory of the device (pio); or software that posts RDMA work requests "
             "(rdma)."),
      size(KEY(workload.payload), between(1, Bytes{1} << 20),
           "Bytes of each request, where no sizes are given."),
      file(KEY(workload.sizes), {names.begin(), names.end()},
           "Distribution of sizes: a published one by name, or a CSV of bytes,cumulative_percent."),
      size(KEY(workload.size_cap), between(1, Bytes{1} << 30),
           "Longer messages of a distribution are cut to this."),
      count(KEY(workload.requests), between(1, kMany), "Requests that count, after run.warmup."),
      real(KEY(workload.read_fraction), 0, 1, "Share of reads (read_write) or of transmits (nic)."),
      choice(KEY(workload.at), "Address type of the requests."),
      file(KEY(workload.trace), {},
           "Requests to replay, for kind trace: CSV of time_ns,domain,op,address,bytes."),
      size(KEY(workload.buffer_base), between(0, Bytes{1} << 46),
           "First byte of the DMA buffers in host memory."),
      size(KEY(workload.buffer_size), between(64, Bytes{1} << 40), "Buffer of each domain."),
      choice(KEY(workload.placement),
             "Where in its domain's buffer the next request goes; ring: behind the one before; "
             "random: anywhere, as if the buffer were a table."),
      flag(KEY(workload.real_payload), "Payload bytes are carried and written, not only counted."),
      // ---- work requests of RDMA
      count(KEY(workload.rdma.write), between(0, 1000), "Weight of WRITEs among work requests."),
      count(KEY(workload.rdma.read), between(0, 1000), "Weight of READs."),
      count(KEY(workload.rdma.send), between(0, 1000), "Weight of SENDs."),
      count(KEY(workload.rdma.fetch_add), between(0, 1000), "Weight of FETCH_ADDs, of 8 bytes."),
      count(KEY(workload.rdma.cas), between(0, 1000), "Weight of CMP_SWPs, of 8 bytes."),
      // ---- domains
      count(KEY(workload.domains), between(1, 1U << 20),
            "Domains that take part, each a function and a PASID."),
      functions_key(),
      choice("workload.contexts.kind", AT(device.functions.context_kind),
             "What a domain is: a process, or one context of a process, which has its handle."),
      count("workload.contexts.per_process", AT(device.functions.contexts_per_process),
            between(1, 1U << 20), "Domains of one process, where domains are contexts."),
      choice(KEY(workload.domain_choice), "Which domain the next request belongs to."),
      real(KEY(workload.zipf_exponent), 0, 10, "Skew of the choice zipf."),
      count(KEY(workload.working_set), between(1, 1U << 20),
            "Domains of one phase, for the choice working_set."),
      count(KEY(workload.phase_requests), between(1, kMany),
            "Requests of one phase, for the choice working_set."),
      real(KEY(workload.churn), 0, 1,
           "Probability per request that a context ends and another starts, for the choice churn."),
      // ---- arrivals
      choice(KEY(workload.arrival),
             "When the next request comes; closed_loop: as soon as there is room."),
      rate("workload.rate", AT(workload.rate_mrps), "Mreq/s", request_rate_dimension(), 1'000'000,
           between(1, 100'000'000'000), "Mean rate of open arrivals."),
      count(KEY(workload.burst), between(1, kMany),
            "Requests of one burst, for the arrival on_off."),
  };
}

Keys trace_keys() {
  const nlohmann::ordered_json hop = {{"enum", hop_names()}};
  const nlohmann::ordered_json pair = {
      {"type", "object"},
      {"required", {"name", "from", "to"}},
      {"properties", {{"name", {{"type", "string"}}}, {"from", hop}, {"to", hop}}},
      {"additionalProperties", false}};
  return {
      {"trace.latency",
       "",
       "a list of {name, from, to}; hops are " + alternatives(hop_names()),
       "Latencies between two hops of a TLP, beside dma_read, dma_write and dma_write_tlp.",
       {},
       {{"type", "array"}, {"items", pair}},
       read_pairs,
       write_pairs},
      choice(KEY(trace.capture), "What --trace pcapng has: links, network ports, or all of both."),
      counts(KEY(trace.hosts), between(0, 1'023),
             "Hosts of mode packet whose ports --trace pcapng shows; []: all.")};
}

Keys faults_keys() {
  return {
      ordinals(KEY(faults.up.corrupt_tlps),
               "Upstream transmissions of a TLP that arrive damaged, counted from 1 with replays."),
      ordinals(KEY(faults.up.corrupt_dllps), "Upstream DLLPs that arrive damaged, counted from 1."),
      ordinals(
          KEY(faults.down.corrupt_tlps),
          "Downstream transmissions of a TLP that arrive damaged, counted from 1 with replays."),
      ordinals(KEY(faults.down.corrupt_dllps),
               "Downstream DLLPs that arrive damaged, counted from 1."),
      count(KEY(faults.drop_completions), between(0, 1'000'000'000'000),
            "Reads, from the first, of which each root port drops all completions."),
      real(KEY(faults.pio_integrity), 0, 1,
           "Share of packets that fail the integrity check at the egress of a device that sends by "
           "PIO: they are dropped, and their send contexts halt."),
      set_of("faults.break", AT(faults.broken_rules), words_of<BrokenRule>(),
             "Rules that the model breaks once on purpose: each makes its monitor report."),
  };
}

Keys run_keys() {
  return {
      count(KEY(run.seed), between(0, std::numeric_limits<std::uint64_t>::max()),
            "Seed of every random number; --seed wins over it."),
      count(KEY(run.warmup), between(0, 1'000'000'000'000), "Requests before counting starts."),
      choice(KEY(run.until),
             "What ends the run: all requests of the workload, or that figures are known well "
             "enough; workload.requests is the most then."),
      set_of("run.converged.figures", AT(run.converged.figures), words_of<ConvergingFigure>(),
             "Figures that are to be known: of the first link, latencies of all requests."),
      percent(KEY(run.converged.tolerance), 0.01, 50,
              "What the half width of a figure's interval may be of its mean."),
      percent(KEY(run.converged.confidence), 50, 99.9, "Confidence of the interval."),
      count(KEY(run.converged.min_requests), between(600, 1'000'000'000),
            "Counted requests before a figure may be known."),
      time(KEY(run.deadlock_after), between(Time::from_us(1), Time::from_us(1'000'000'000)),
           "No request, message or handle order completed for so long: the run ends with exit code "
           "3; not shorter than a completion timeout."),
      choice(KEY(run.monitors),
             "Protocol monitors watch every link; a violation ends the run with exit code 3."),
  };
}

}  // namespace flitwise::config
