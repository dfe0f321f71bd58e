// SPDX-License-Identifier: Apache-2.0
/// The spelling of every enumeration of the configuration, in files and in results.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "flitwise/config.h"

namespace flitwise::config {

/// All names of E, in the order of its values, which count from 0; a new enumeration adds a line
/// below.
template <class E>
inline constexpr int kNames = 0;

#define FLITWISE_NAMES(E, ...) \
  template <>                  \
  inline constexpr std::array kNames<E> = {__VA_ARGS__}

FLITWISE_NAMES(Topology, "direct", "switch", "graph");
FLITWISE_NAMES(NodeKind, "root_port", "switch", "device");
FLITWISE_NAMES(PeerRoute, "direct", "redirect");
FLITWISE_NAMES(SwitchMode, "legacy", "handle_aware");
FLITWISE_NAMES(HostDhiTable, "per_device", "shared");
FLITWISE_NAMES(HandleStorage, "sram", "dram");
FLITWISE_NAMES(DeallocMode, "implicit", "explicit");
FLITWISE_NAMES(GrantPolicy, "any", "configured");
FLITWISE_NAMES(HandleContexts, "own", "shared");
FLITWISE_NAMES(ContextKind, "process", "queue_pair", "dedicated_work_queue", "shared_work_queue",
               "work_command");
FLITWISE_NAMES(UnknownDomain, "error", "full_identity");
FLITWISE_NAMES(Identity, "none", "bdf", "bdf_pasid", "dhi");
FLITWISE_NAMES(DhiForm, "rid_direct", "rid_fabric", "tag", "prefix", "ohc");
FLITWISE_NAMES(Carrier, "pcie", "bit_packed");
FLITWISE_NAMES(SkpMode, "normal", "sris", "off");
FLITWISE_NAMES(Translation, "off", "first_stage", "second_stage", "nested", "pass_through");
FLITWISE_NAMES(CachePolicy, "lru", "fifo", "random");
FLITWISE_NAMES(PageRequestOverflow, "respond_success", "drop");
FLITWISE_NAMES(UnmapMode, "strict", "deferred");
FLITWISE_NAMES(DriverWait, "poll", "interrupt");
FLITWISE_NAMES(DriverMistake, "none", "device_first", "no_wait", "no_device", "no_stop",
               "no_pasid_cache", "no_revoke");
FLITWISE_NAMES(RelaxedPassing, "never", "when_blocked", "eager");
FLITWISE_NAMES(Packing, "aligned", "contiguous");
FLITWISE_NAMES(OnMiss, "stall", "bypass");
FLITWISE_NAMES(AllocOrder, "flush", "ack", "none");
FLITWISE_NAMES(VictimPolicy, "fifo", "lru", "lfu");
FLITWISE_NAMES(HandleManagement, "device", "software");
FLITWISE_NAMES(AllocateAt, "first_use", "context_creation");
FLITWISE_NAMES(WorkloadKind, "posted_write", "read", "read_write", "nic", "trace", "hostile",
               "flows");
FLITWISE_NAMES(WorkloadVia, "dma", "cxl_cache", "cxl_mem", "cxl_own", "cxl_both", "pio", "rdma");
FLITWISE_NAMES(NetworkTopology, "cable", "switch", "dumbbell", "leaf_spine", "fat_tree", "graph");
FLITWISE_NAMES(NetworkMode, "full", "packet");
FLITWISE_NAMES(Switching, "store_and_forward", "cut_through");
FLITWISE_NAMES(FlowHash, "crc32c", "toeplitz", "xor_fold");
FLITWISE_NAMES(AdaptiveMetric, "queue", "util");
FLITWISE_NAMES(AdaptiveTie, "random", "lowest");
FLITWISE_NAMES(BackgroundTraffic, "none", "poisson", "cbr", "on_off");
FLITWISE_NAMES(WeightAlgorithm, "bandwidth_ratio", "latency_norm", "random_probe", "queueing_time",
               "ecn_fraction", "static", "activity");
FLITWISE_NAMES(ChoicePolicy, "lowest_weight", "weighted_hash", "hash_table", "round_robin",
               "random", "single");
FLITWISE_NAMES(ChoiceTie, "round_robin", "lowest_id", "hash");
FLITWISE_NAMES(GroupConnect, "standing", "before", "first_flow");
FLITWISE_NAMES(DownAction, "stall", "error");
FLITWISE_NAMES(ChoiceGranularity, "packet", "message", "flowlet");
FLITWISE_NAMES(CongestedMode, "all", "any", "quorum", "mean");
FLITWISE_NAMES(ReceiveMode, "in_order", "reorder", "ddp");
FLITWISE_NAMES(Recovery, "go_back_n", "selective");
FLITWISE_NAMES(RateControl, "none", "dcqcn_qp", "dcqcn_session", "window", "window_group");
FLITWISE_NAMES(RekeyEngine, "hw", "sw");
FLITWISE_NAMES(WeightEngine, "hw", "sw");
FLITWISE_NAMES(FlowPattern, "permutation", "incast", "all_to_all", "ring_all_reduce", "sizes",
               "trace");
FLITWISE_NAMES(StoreFence, "none", "packet", "block");
FLITWISE_NAMES(PioClear, "packet", "block");
FLITWISE_NAMES(VlChoice, "packet", "context");
FLITWISE_NAMES(CxlCoherence, "hdm_h", "hdm_db");
FLITWISE_NAMES(CxlIdentity, "spec", "full_added", "dhi_added");
FLITWISE_NAMES(CxlCacheRead, "shared", "any", "current");
FLITWISE_NAMES(CxlCacheWrite, "own", "through", "posted");
FLITWISE_NAMES(Arrival, "closed_loop", "poisson", "cbr", "on_off");
FLITWISE_NAMES(ReservedTailBit, "error", "ignored");
FLITWISE_NAMES(PasidSpace, "function", "system");
FLITWISE_NAMES(BufferPlacement, "ring", "random");
FLITWISE_NAMES(DomainChoice, "round_robin", "uniform", "zipf", "working_set", "churn");
FLITWISE_NAMES(TranslateWhen, "always", "reuse", "prefetch", "hint");
FLITWISE_NAMES(AtcDiscard, "overlapping", "all");
FLITWISE_NAMES(MonitorMode, "on", "off");
FLITWISE_NAMES(CaptureOf, "all", "ports", "links");
FLITWISE_NAMES(RunUntil, "requests", "converged");
FLITWISE_NAMES(ConvergingFigure, "up_goodput_gbps", "down_goodput_gbps", "up_link_efficiency",
               "down_link_efficiency", "dma_read_mean_ns", "dma_write_mean_ns");
FLITWISE_NAMES(BrokenRule, "credits", "sequence", "ordering", "tags", "completion", "boundary_4k",
               "byte_enables", "at", "handles", "single_writer", "cxl_messages", "recall",
               "invalidation");
FLITWISE_NAMES(At, "untranslated", "translated", "translated_pasid");
#undef FLITWISE_NAMES

/// The name of a value as it stands in files; empty for a value that has no name.
template <class E>
std::string spelling(E value) {
  const auto index = static_cast<std::size_t>(value);
  return index < kNames<E>.size() ? kNames<E>[index] : "";
}

/// The value of a name; none where there is no such name.
template <class E>
std::optional<E> named(const std::string& name) {
  const auto at = std::find(kNames<E>.begin(), kNames<E>.end(), name);
  return at == kNames<E>.end() ? std::nullopt
                               : std::optional<E>(static_cast<E>(at - kNames<E>.begin()));
}

}  // namespace flitwise::config
