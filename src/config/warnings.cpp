// SPDX-License-Identifier: Apache-2.0
// Configurations that are valid and hardly what their author wants.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/quantity.h"
#include "common/ranges.h"
#include "config/instances.h"
#include "config/load.h"
#include "config/relations.h"
#include "dhi/negotiation.h"
#include "endpoint/domain_numbers.h"
#include "iommu/agent_queues.h"
#include "link/cxl_retry.h"
#include "link/replay_timer.h"
#include "tlp/atomic_op.h"

namespace flitwise {
namespace {

using Warnings = std::vector<std::string>;

/// Framing, sequence number, 3-DW header and LCRC; a flit of CXL.
constexpr Bytes kLeastTlpBytes = 24, kFlit68Bytes = 68;

/// A timer set by hand that runs out before an Ack can be there has everything sent again in vain.
/// [LNK-7.18]
void warn_of_short_replay_timer(const Config& config, Warnings& warnings) {
  const LinkConfig& link = config.link;
  const Time set = link.timing.replay_timeout;
  if (set.fs == 0 || link.carrier == Carrier::kBitPacked) {
    return;
  }
  const Time needed = ack_return_time(link);
  if (set < needed) {
    warnings.push_back(
        fmt::format("link.timing.replay_timeout: {:.1f} ns, but an Ack may take {:.1f} ns to come "
                    "back, so that TLPs go again in vain; expected at least that, or auto",
                    set.ns(), needed.ns()));
  }
}

/// A flit is whole unless two wrong bytes are in one of its three groups: bursts of up to three
/// bytes side by side are in as many groups. [LNK-11.8]
double whole_flits(const LinkConfig& link) {
  double share[4] = {};  // of bursts that touch so many bytes
  for (unsigned first_bit = 0; first_bit < 8; ++first_bit) {
    const unsigned bytes = (first_bit + link.error_burst + 7) / 8;
    if (bytes <= 3) {
      share[bytes] += 1.0 / 8;
    }
  }
  const double bursts = 8 * 256 * link.error_rate;  // a flit, on the average
  const double one = share[1] + share[2] + share[3];
  const double two = share[1] * share[1] * 2 / 3 + share[1] * share[2] * 2 / 3;
  const double three = share[1] * share[1] * share[1] * 2 / 9;
  return std::exp(-bursts) *
         (1 + bursts * one + bursts * bursts / 2 * two + bursts * bursts * bursts / 6 * three);
}

/// Of a hundred transmissions of a TLP, or of the flits that carry it, so many arrive as they were.
double survivors(const LinkConfig& link, Bytes tlp_bytes) {
  return 100 * (link.is_in_flit_mode() ? whole_flits(link)
                                       : std::exp(8.0 * static_cast<double>(tlp_bytes) *
                                                  std::log1p(-link.error_rate)));
}

/// A link on which each TLP takes so many tries has failed. [LNK-7.13]
void warn_of_many_errors(const Config& config, Warnings& warnings) {
  const LinkConfig& link = config.link;
  const bool has_sizes = config.workload.kind != WorkloadKind::kTrace;
  const Bytes payload = has_sizes && config.workload.sizes.empty() ? config.workload.payload : 4;
  const Bytes bytes = link.preset.cxl == CxlFlits::k68
                          ? kFlit68Bytes
                          : std::min<Bytes>(payload, link.mps) + kLeastTlpBytes;
  const double arrive = survivors(link, bytes);
  if (link.error_rate > 0 && link.carrier == Carrier::kPcie && arrive * kMostTries < 100) {
    warnings.push_back(
        fmt::format("link.error_rate: {:g} leaves {:.2g} of 100 TLPs or flits undamaged, and a "
                    "link with more than {} tries for each TLP has failed; expected at most {:.0e}",
                    link.error_rate, arrive, kMostTries, 0.1 / (8.0 * static_cast<double>(bytes))));
  }
}

/// A TLP takes shared credits where those of its header and its data suffice. [LNK-11.23]
void warn_of_headers_without_data(const Config& config, Warnings& warnings) {
  const auto& shared = config.link.shared_credits;
  const auto warn = [&](const char* name, std::uint32_t headers, std::uint32_t data) {
    if (headers > 0 && data == 0) {
      warnings.push_back(fmt::format(
          "link.shared_credits.{0}_data: 0 beside {0}_headers of {1}, which no TLP with data can "
          "take then; expected at least {2}, for a payload of link.mps",
          name, headers, config.link.mps / 16));
    }
  };
  warn("posted", shared.posted_headers, shared.posted_data);
  warn("completion", shared.completion_headers, shared.completion_data);
}

/// A root port announces what its credits never carry: it waits for ever. [LNK-8.7]
void warn_of_few_nonposted_credits(const Config& config, Warnings& warnings) {
  const LinkConfig& link = config.link;
  const std::uint32_t most =
      std::max(link.credits.nonposted_data, link.shared_credits.nonposted_data);
  const auto warn = [&](bool is_announced, const char* key, const char* what, std::uint64_t bytes) {
    const std::uint64_t needed = bytes / 16;
    if (is_announced && most < needed) {
      warnings.push_back(fmt::format(
          "link.credits.nonposted_data: {} of 16 bytes, but {} announces {}, which needs {} and "
          "waits for ever; expected at least {}, infinite, or {}: false",
          link.credits.nonposted_data, key, what, needed, needed, key));
    }
  };
  if (link.credits.nonposted_data == kInfiniteCredits || link.carrier == Carrier::kBitPacked) {
    return;
  }
  warn(config.host.atomics, "host.atomics", "CAS with two operands of 16 bytes",
       2 * kMaxOperandBytes);
  const Bytes longest = std::min<Bytes>(link.mps, kMaxDeferrableBytes);
  warn(config.host.deferrable_writes, "host.deferrable_writes",
       fmt::format("deferrable writes of {} bytes", longest).c_str(), longest);
}

/// Bursts stand apart by their length over the rate on the average: a run of one has no mean rate.
void warn_of_one_burst(const Config& config, Warnings& warnings) {
  const WorkloadConfig& workload = config.workload;
  const bool has_bursts = workload.arrival == Arrival::kOnOff &&
                          workload.kind != WorkloadKind::kTrace &&
                          workload.kind != WorkloadKind::kHostile;
  const std::uint64_t requests = workload.requests + config.run.warmup;
  if (has_bursts && workload.burst >= requests) {
    warnings.push_back(fmt::format(
        "workload.burst: {} in a run of {} requests, which all come at one instant, after {:.3g} "
        "ms on the average; expected at most half of these, so that workload.rate is seen",
        workload.burst, requests, static_cast<double>(workload.burst) / workload.rate_mrps / 1000));
  }
}

/// Each buffer of flits without acknowledgement waits for the timer of Acks, for want of as many
/// flits as are acknowledged at once. [CXL-3.4]
void warn_of_slow_acks(const Config& config, Warnings& warnings) {
  constexpr double kLong = 10;  // seconds
  const LinkConfig& link = config.link;
  const auto requests = static_cast<double>(config.workload.requests + config.run.warmup);
  const double seconds = requests / link.cxl.retry_flits * link.cxl.timing.ack_after.ns() / 1e9;
  const bool is_by_cachemem =
      config.workload.via == WorkloadVia::kCxlCache || config.workload.via == WorkloadVia::kCxlMem;
  if (is_by_cachemem && link.preset.cxl == CxlFlits::k68 && link.cxl.retry_flits < kAcksForLlcrd &&
      seconds > kLong) {
    warnings.push_back(fmt::format(
        "link.cxl.timing.ack_after: {:.1f} ns for each {} flits of link.cxl.retry_flits, fewer "
        "than the {} of which the Acks go at once: {} requests may take {:.0f} s of simulated "
        "time; expected link.cxl.retry_flits of at least {}, or a shorter time",
        link.cxl.timing.ack_after.ns(), link.cxl.retry_flits, kAcksForLlcrd, requests, seconds,
        kAcksForLlcrd));
  }
}

/// Of what instances may have of their own.
void warn_of_part(const Config& config, Warnings& warnings) {
  warn_of_short_replay_timer(config, warnings);
  warn_of_many_errors(config, warnings);
  warn_of_few_nonposted_credits(config, warnings);
  warn_of_headers_without_data(config, warnings);
  warn_of_one_burst(config, warnings);
  warn_of_slow_acks(config, warnings);
}

/// Domains that take turns within a short time; processes, where contexts of one share its handle.
std::uint64_t domains_in_use(const Config& device) {
  const WorkloadConfig& workload = device.workload;
  const std::uint64_t domains =
      workload.domain_choice == DomainChoice::kWorkingSet
          ? std::min<std::uint64_t>(workload.working_set, workload.domains)
          : workload.domains;
  if (device.device.dhi.contexts == HandleContexts::kOwn) {
    return domains;
  }
  const DomainNumbers numbers(device.device);
  const std::uint64_t rows = std::uint64_t{numbers.per_process()} * numbers.functions();
  return std::min(domains, (workload.domains + rows - 1) / rows * numbers.functions());
}

bool uses_handles(const Config& config) {
  const auto& dhi = config.device.dhi;
  return config.uses_handles() && dhi.supported && dhi.enabled;
}

/// A miss waits for a handle: it is neither software's to give one nor part of creating a context.
bool stalls_on_miss(const Config& config) {
  const auto& dhi = config.device.dhi;
  const bool has_domains =
      config.workload.kind != WorkloadKind::kHostile &&
      config.workload.kind != WorkloadKind::kTrace &&
      (config.workload.via == WorkloadVia::kCxlCache ? config.has_cxl_handles()
                                                     : config.workload.via == WorkloadVia::kDma);
  return uses_handles(config) && has_domains && dhi.on_miss == OnMiss::kStall &&
         dhi.management == HandleManagement::kDevice && dhi.allocate_at == AllocateAt::kFirstUse;
}

/// The devices of one number space, of which one has too few handles.
struct HandleSpace {
  std::vector<unsigned> bits;  // device.dhi.bits of each
  std::size_t one = 0;
  bool is_of_table = false;  // a shared one, of so many entries
  unsigned entries = HandleRange::of_bits(kMaxHandleBits).size();

  bool suffices(std::uint64_t domains, unsigned least_bits, unsigned in_table) const {
    std::vector<unsigned> wider = bits;
    for (unsigned& each : wider) {
      each = std::max(each, least_bits);
    }
    return partition_handles(in_table, wider)[one].size() >= domains;
  }
};

/// By device: its configuration, and the first of its group.
HandleSpace space_of(const std::vector<Config>& devices, const std::vector<std::size_t>& groups,
                     std::size_t one) {
  HandleSpace space;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (groups[i] == groups[one]) {
      space.one = i == one ? space.bits.size() : space.one;
      space.bits.push_back(devices[i].device.dhi.bits);
    }
  }
  const auto& table = devices[one].host.dhi;
  if (table.table == HostDhiTable::kShared) {
    space.is_of_table = true;
    space.entries = table.entries;
  }
  return space;
}

/// The keys that bound its handles, and values that are enough; empty where none is.
std::string larger_space(const HandleSpace& space, std::uint64_t domains) {
  constexpr unsigned kMost = 1U << kMaxHandleBits;
  for (unsigned entries = space.entries;; entries = std::min(2 * entries, kMost)) {
    for (unsigned bits = space.bits[space.one]; bits <= kMaxHandleBits; ++bits) {
      if (space.suffices(domains, bits, entries)) {
        const std::string width = fmt::format("device.dhi.bits of at least {}", bits);
        const std::string table = fmt::format("host.dhi.entries of at least {}", entries);
        return entries == space.entries        ? width + ", "
               : bits == space.bits[space.one] ? table + ", "
                                               : width + " and " + table + ", ";
      }
    }
    if (!space.is_of_table || entries == kMost) {
      return "";
    }
  }
}

/// A device has no handle at all, since ranges are apart [DHI D2]; or fewer than domains take
/// turns, while each miss waits for one: a line a device, with why, and what to change. [DHI D9]
void warn_of_few_handles(const Config& whole, Warnings& warnings) {
  const Graph graph(whole.system);
  std::vector<Config> devices;
  std::vector<unsigned> bits;
  for (const NodeIndex device : graph.devices()) {
    devices.push_back(config_of_node(whole, graph, device));
    bits.push_back(devices.back().device.dhi.bits);
  }
  const std::vector<HandleRange> ranges = handle_ranges(whole, graph, bits);
  const std::vector<std::size_t> groups = handle_groups(whole, graph);
  std::vector<std::string> without;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const unsigned handles = ranges[i].size();
    if (handles == 0 && uses_handles(devices[i])) {
      without.push_back(graph[graph.devices()[i]].name);
    }
    const std::uint64_t domains = domains_in_use(devices[i]);
    if (handles == 0 || domains <= handles || !stalls_on_miss(devices[i])) {
      continue;  // without a handle messages go in full
    }
    warnings.push_back(fmt::format(
        "device.dhi.on_miss: stall with {} domains in turn and {} handles in {}: a message of a "
        "domain without a handle waits, and all behind it, until an old handle has nothing "
        "outstanding, which takes a flush of the posted uses, a round trip over the link; most of "
        "the link's time may go to that; expected {}device.dhi.on_miss: bypass, or "
        "workload.domains up to {}",
        domains, handles, graph[graph.devices()[i]].name,
        larger_space(space_of(devices, groups, i), domains), handles));
  }
  if (!without.empty()) {
    warnings.push_back(fmt::format(
        "device.dhi.bits: no handles for {}: their ranges are apart, and none is left; all "
        "messages go in full; expected more bits or host.dhi.entries, or fewer devices below a "
        "root port",
        fmt::join(without, ", ")));
  }
}

/// Some peer-to-peer read can go across, but its completion goes up, where nobody takes it.
/// [LNK-13.2]
void warn_of_lost_completions(const Config& whole, Warnings& warnings) {
  const Graph graph(whole.system);
  for (const NodeIndex node : graph.switches()) {
    const Config config = config_of_node(whole, graph, node);
    const AcsConfig& acs = config.system.acs;
    const bool goes_across = acs.p2p_request == PeerRoute::kDirect || !acs.egress.empty();
    if (config.device.dma.relaxed_ordering) {
      continue;
    }
    if (goes_across && acs.p2p_completion == PeerRoute::kRedirect && graph[node].lower.size() > 1) {
      warnings.push_back(fmt::format(
          "system.acs.p2p_completion: redirect where requests for peers go across {}: completions "
          "without Relaxed Ordering go up to the root complex, which sends none down again, and "
          "such reads time out; expected direct",
          graph[node].name));
    }
  }
}

/// Devices may have more page requests out than their queue at the host holds, and what it has no
/// room for is never answered. One place of a ring stays empty. [PRI-15]
void warn_of_lost_page_requests(const Config& whole, Warnings& warnings) {
  const Graph graph(whole.system);
  std::vector<std::uint64_t> out(graph.hosts());
  for (const NodeIndex node : graph.devices()) {
    const Config config = config_of_node(whole, graph, node);
    const PriConfig& pages = config.device.pri;
    std::uint64_t& of_host = out[graph[node].host];
    of_host += pages.enabled ? std::min(pages.allocation, pages.capacity) : 0;
    const std::uint64_t room =
        config.host.iommu_driver.page_request_queue / kPageRequestRecordBytes - 1;
    if (pages.enabled && config.host.iommu_driver.enabled && of_host > room &&
        config.iommu.page_requests.overflow == PageRequestOverflow::kDrop) {
      warnings.push_back(fmt::format(
          "iommu.page_requests.overflow: drop with up to {} page requests out at once, those of "
          "{} among them, and a queue of {} records: what the queue has no room for is never "
          "answered, and its transfers wait for ever; expected respond_success, a "
          "device.pri.allocation of at most {} for all devices of the host together, or a larger "
          "host.iommu_driver.page_request_queue",
          of_host, graph[node].name, room, room));
      return;
    }
  }
}

}  // namespace

std::vector<std::string> config_warnings(const Config& config) {
  Warnings all;
  warn_of_part(config, all);
  const Warnings of_all = all;
  warn_of_few_handles(config, all);
  warn_of_lost_completions(config, all);
  warn_of_lost_page_requests(config, all);
  config::warn_of_failing_requests(config, all);
  config::warn_of_pio(config, all);
  config::warn_of_rdma(config, all);
  for (const auto& [name, overrides] : config.instances) {
    Warnings own;
    warn_of_part(for_instance(config, name), own);
    for (const std::string& warning : own) {
      if (!contains(of_all, warning)) {
        all.push_back(fmt::format("system.instances.{}.{}", name, warning));
      }
    }
  }
  return all;
}

}  // namespace flitwise
