// SPDX-License-Identifier: Apache-2.0
// When a run reads a key: conditions over other keys, by key or by group of keys. They say what no
// run reads for certain; a key without one may still lack what it acts on, such as an error.
#include "common/ranges.h"
#include "config/sections/sections.h"

namespace flitwise::config {
namespace {

/// Of several that apply to one key all have to hold, but for those that stand beside the ones
/// before them.
struct Relation {
  std::vector<std::string> paths;  ///< keys, and groups such as "device.dhi"
  Condition when;
  bool is_enough = false;  ///< alone, whatever the ones before it say
};

Condition is_true(const std::string& path) {
  return is(path, {"true"});
}

std::vector<Relation> relations() {
  const Condition pcie = is("link.carrier", {"pcie"});
  const Condition hostile = is("workload.kind", {"hostile"});
  const Condition generated = is("workload.kind", {"posted_write", "read", "read_write", "nic"});
  const Condition dma =
      is("workload.via", {"dma", "pio", "rdma"});  // requests of a device over PCIe
  const Condition pio = is("workload.via", {"pio"});
  const Condition rdma = is("workload.via", {"rdma"});
  const Condition packets = is("network.mode", {"packet"});
  const Condition full = is("network.mode", {"full"});
  const Condition flows = is("workload.kind", {"flows"});
  const Condition switched = is_not("network.topology", {"cable"});
  const Condition plan = is_not("network.topology", {"cable", "switch"});
  const Condition sessions = is_true("device.srdma.enabled");
  const Condition handshake = full || is_not("device.srdma.connect", {"standing"});
  const Condition several = is_not("workload.domains", {"1"});
  const Condition contexts = is_not("workload.contexts.kind", {"process"});
  const Condition tlp_handles = is("link.identity", {"dhi"}) && pcie;
  const Condition cxl = is("link.preset", {"cxl68_*", "cxl256_*"});
  const Condition cxl_cache = is_not("device.cxl.cache.size", {"none"});
  const Condition handles =
      tlp_handles || (cxl && cxl_cache && is("link.cxl.identity", {"dhi_added"}));
  const Condition device_handles =
      handles && is_true("device.dhi.supported") && is_true("device.dhi.enabled");
  const Condition driver = is_true("host.iommu_driver.enabled");
  // CXL carries host addresses, but the driver maps buffers of any requests.
  const Condition translation = is_not("iommu.translation", {"off"}) && (dma || driver);
  // Permissions of what caches ask for. [CXL-7.10]
  const Condition permissions =
      is_not("iommu.translation", {"off"}) && is("workload.via", {"cxl_cache"});
  const Condition atc = is_true("device.atc.enabled") && (translation || permissions) && pcie;
  const Condition pretranslation =
      rdma && translation && is_true("device.rdma.pretranslation.enabled");
  const Condition switches = is("system.topology", {"switch", "graph"});
  const Condition flits = is_true("link.flit_mode") || is("link.preset", {"gen6*", "cxl256_gen6*"});
  const Condition cxl_memory = is_not("device.cxl.memory", {"none"});
  const Condition hdm_db = cxl_memory && is("device.cxl.coherence", {"hdm_db"});
  return {
      // ---- system
      {{"system.devices"}, is("system.topology", {"direct", "switch"})},
      {{"system.nodes", "system.edges"}, is("system.topology", {"graph"})},
      {{"system.switch_mode", "system.acs.p2p_request", "system.acs.p2p_completion",
        "system.acs.egress", "system.acs.direct_translated", "system.timing"},
       switches},
      {{"system.switch_mode"}, is("link.identity", {"dhi"}) || hostile},
      // ---- host
      {{"host.dma_window.base"}, is_not("host.dma_window.size", {"unlimited"})},
      {{"host.trusted_window.base"}, is_not("host.trusted_window.size", {"none"})},
      {{"host.dhi.table", "host.dhi.entries", "host.dhi.dealloc", "host.dhi.report_errors",
        "host.dhi.storage"},
       handles || hostile},
      // Of a request in full it asks the grant of its function. [DHI D20]
      {{"host.dhi.check_capabilities"}, handles || hostile || is("host.dhi.grant", {"configured"})},
      {{"host.dhi.unknown_domain"}, tlp_handles || hostile},
      {{"host.dhi.entries"}, is("host.dhi.table", {"shared"})},
      {{"host.dhi.granted"}, is("host.dhi.grant", {"configured"})},
      {{"host.dhi.granted.contexts"}, contexts},
      {{"host.dhi.storage.cache_entries", "host.dhi.storage.timing.dram"},
       is("host.dhi.storage.kind", {"dram"})},
      {{"host.iommu_driver"}, driver},
      {{"host.iommu_driver.premapped", "host.iommu_driver.map_latency",
        "host.iommu_driver.refuse_fraction", "host.iommu_driver.remap_after",
        "host.iommu_driver.page_request_queue"},
       is_not("workload.via", {"rdma"})},  // its memory is pinned
      {{"host.iommu_driver.flush_after"}, is("host.iommu_driver.mode", {"deferred"})},
      {{"host.iommu_driver.unmap_pages"}, is_not("host.iommu_driver.unmap_rate", {"0.0"})},
      {{"host.iommu_driver.teardown_reset"}, is_not("host.iommu_driver.teardown_rate", {"0.0"})},
      {{"host.cores", "faults.pio_integrity"}, pio},
      {{"host.verbs", "device.rdma", "workload.rdma"}, rdma},
      // ---- network
      {{"network.topology", "network.switch"}, rdma || packets},
      {{"network.switch", "network.switching", "network.ecmp", "network.routing", "network.ecn",
        "network.pfc", "network.background", "network.fault", "network.allow_cycles",
        "network.timing.detect"},
       packets || (rdma && switched)},
      {{"network.switch.timing"}, full && is("network.topology", {"switch"})},
      {{"network.hosts", "network.leaf_spine", "network.dumbbell_links", "network.graph",
        "network.rate", "network.timing.hop"},
       packets || (rdma && plan)},
      {{"device.rdma.port.rate", "device.rdma.port.propagation"},
       is("network.topology", {"cable", "switch"})},
      {{"network.graph"}, is("network.topology", {"graph"})},
      {{"device.srdma.mtu", "device.srdma.window", "device.srdma.timeout", "device.srdma.retry_cnt",
        "device.srdma.ack_every"},
       packets},
      {{"device.srdma"}, packets || rdma},
      {{"workload.flows"}, packets || (rdma && flows)},
      {{"workload.requests", "workload.domains", "workload.rdma", "device.rdma.peer", "run.warmup"},
       is_not("workload.kind", {"flows"})},
      {{"network.leaf_spine"}, is("network.topology", {"leaf_spine"})},
      {{"network.dumbbell_links"}, is("network.topology", {"dumbbell"})},
      {{"network.routing"}, is_true("device.srdma.adaptive_routing")},
      {{"network.routing.level"}, is("network.routing.metric", {"queue"})},
      {{"network.routing.util_window"}, is("network.routing.metric", {"util"})},
      {{"network.ecn.kmin", "network.ecn.kmax", "network.ecn.pmax"},
       is_true("network.ecn.enabled")},
      {{"network.pfc.headroom"}, is_true("network.pfc.enabled")},
      {{"network.background.load", "network.background.bytes"},
       is_not("network.background.kind", {"none"})},
      {{"network.background.on", "network.background.off"},
       is("network.background.kind", {"on_off"})},
      {{"network.fault.at", "network.fault.lasts", "network.fault.rate", "network.fault.loss",
        "network.timing.detect"},
       is_not("network.fault.link", {"none"})},
      {{"system",
        "host",
        "iommu",
        "link",
        "message",
        "device.functions",
        "device.dma",
        "device.tag_bits",
        "device.dhi",
        "device.atc",
        "device.pri",
        "device.cxl",
        "device.pio",
        "device.ring",
        "device.rdma",
        "device.timing",
        "workload.kind",
        "workload.via",
        "workload.payload",
        "workload.requests",
        "workload.domains",
        "workload.placement",
        "workload.buffer_base",
        "workload.buffer_size",
        "workload.real_payload",
        "workload.rdma",
        "workload.arrival",
        "workload.at",
        "workload.functions",
        "workload.contexts",
        "workload.domain_choice",
        "run.warmup",
        "run.monitors",
        "run.until",
        "trace.capture",
        "faults"},
       full},
      {{"device.srdma.sessions",
        "device.srdma.min_sessions",
        "device.srdma.max_sessions",
        "device.srdma.secured",
        "device.srdma.algorithm",
        "device.srdma.weights",
        "device.srdma.gain",
        "device.srdma.weight_engine",
        "device.srdma.policy",
        "device.srdma.granularity",
        "device.srdma.tie",
        "device.srdma.beta",
        "device.srdma.control",
        "device.srdma.ack_every_session",
        "device.srdma.timing.weights",
        "device.srdma.timing.apply_delay",
        "device.srdma.timing.control",
        "device.srdma.timing.stale",
        "device.srdma.timing.base_window",
        "device.srdma.timing.handshake",
        "device.srdma.timing.drain",
        "device.srdma.timing.down",
        "device.srdma.keys",
        "device.srdma.cm_port",
        "device.srdma.cm_plain",
        "device.srdma.cm_retries",
        "device.srdma.on_down"},
       sessions},
      {{"device.srdma.first_port", "device.srdma.last_port", "device.srdma.adaptive_routing",
        "device.srdma.receive", "device.srdma.ooo_window", "device.srdma.recovery",
        "device.srdma.sack", "device.srdma.congestion", "device.srdma.timing.gap",
        "device.srdma.timing.ack_delay", "device.srdma.timing.cnp"},
       packets || sessions},
      {{"device.srdma.connect", "trace.hosts", "workload.flows.queue_pairs",
        "workload.flows.parts"},
       packets},
      {{"device.srdma.connect"}, sessions},
      {{"device.srdma.groups"}, full && sessions},
      {{"device.srdma.cm_port", "device.srdma.cm_plain", "device.srdma.cm_retries",
        "device.srdma.on_down", "device.srdma.timing.handshake", "device.srdma.timing.drain",
        "device.srdma.timing.down", "device.srdma.keys"},
       handshake},
      {{"device.srdma.keys"}, is_true("device.srdma.secured")},
      {{"device.srdma.keys.rekey_delay"}, is("device.srdma.keys.rekey_engine", {"sw"})},
      {{"device.srdma.weights"}, is("device.srdma.algorithm", {"static"})},
      {{"device.srdma.timing.apply_delay"}, is("device.srdma.weight_engine", {"sw"})},
      {{"device.srdma.tie", "device.srdma.beta"}, is("device.srdma.policy", {"lowest_weight"})},
      {{"device.srdma.control"}, is_true("device.srdma.control.enabled")},
      {{"device.srdma.min_sessions", "device.srdma.max_sessions", "device.srdma.timing.control"},
       handshake || is_true("device.srdma.control.enabled")},
      {{"device.srdma.control.quorum"}, is("device.srdma.control.mode", {"quorum"})},
      {{"device.srdma.ooo_window", "device.srdma.recovery", "device.srdma.timing.gap"},
       is_not("device.srdma.receive", {"in_order"})},
      {{"device.srdma.congestion.scale", "device.srdma.timing.cnp"},
       is("device.srdma.congestion.kind", {"dcqcn_qp", "dcqcn_session"})},
      {{"host.verbs.timing.store"}, is_not("host.verbs.inline", {"none"})},
      {{"device.rdma.cable.delay"},
       is_not("device.rdma.cable.duplication", {"0.0"}) ||
           is_not("device.rdma.cable.reordering", {"0.0"})},
      {{"device.rdma.pretranslation"}, is_true("device.rdma.pretranslation.enabled")},
      {{"host.cxl_mem"}, cxl_memory},
      {{"host.cxl_mem.read", "host.cxl_mem.cache"}, hdm_db},
      {{"host.cxl_cache"}, cxl_cache},
      // ---- iommu
      {{"iommu"}, translation || permissions || hostile},
      {{"iommu.second_stage_cache", "iommu.timing.second_stage_cache"},
       is("iommu.translation", {"nested"})},
      {{"iommu.permission_cache", "iommu.timing.permission_cache"}, is_true("iommu.secure_ats")},
      {{"iommu.context_cache.ways", "iommu.context_cache.policy"},
       is_not("iommu.context_cache.entries", {"none"})},
      {{"iommu.pasid_cache.ways", "iommu.pasid_cache.policy"},
       is_not("iommu.pasid_cache.entries", {"none"})},
      {{"iommu.iotlb.ways", "iommu.iotlb.policy"}, is_not("iommu.iotlb.entries", {"none"})},
      {{"iommu.paging_cache.ways", "iommu.paging_cache.policy"},
       is_not("iommu.paging_cache.entries", {"none"})},
      {{"iommu.second_stage_cache.ways", "iommu.second_stage_cache.policy"},
       is_not("iommu.second_stage_cache.entries", {"none"})},
      {{"iommu.permission_cache.ways", "iommu.permission_cache.policy"},
       is_not("iommu.permission_cache.entries", {"none"})},
      {{"iommu.reply_split"}, atc || hostile},
      {{"iommu.timing.invalidation"}, driver || hostile},
      {{"iommu.timing.invalidate_timeout"}, (driver && atc) || hostile},
      {{"iommu.page_requests"}, is_true("device.pri.enabled") || hostile},
      // ---- link
      {{"message"}, is("link.carrier", {"bit_packed"})},
      {{"link.credits", "link.ack_coalesce", "link.skp", "link.timing.retrain",
        "link.timing.replay_timeout"},
       pcie},
      {{"link.dhi_form"}, tlp_handles},
      {{"link.error_burst"}, flits && is_not("link.error_rate", {"0.0"})},
      {{"link.shared_credits", "link.timing.fec"}, flits},
      {{"link.cxl"}, cxl},
      {{"link.cxl.retry_flits", "link.cxl.timing.retry_timeout"}, is("link.preset", {"cxl68_*"})},
      {{"link.cxl.latency_optimised"}, is("link.preset", {"cxl256_*"})},
      {{"link.cxl.handle_bits"}, is("link.cxl.identity", {"dhi_added"})},
      // ---- device
      {{"device.dma.relaxed_ordering", "device.dma.id_based_ordering", "device.dma.no_snoop"}, dma},
      {{"device.dhi"}, device_handles || hostile},
      {{"device.dhi.bits"}, cxl && is("link.cxl.identity", {"dhi_added"}), true},
      {{"device.dhi.bits"}, is("host.dhi.table", {"shared"}), true},  // what others get of it
      {{"device.dhi.contexts"}, contexts},
      {{"device.dhi.storage.cache_entries", "device.dhi.storage.timing.dram"},
       is("device.dhi.storage.kind", {"dram"})},
      {{"device.dhi.victim", "device.dhi.prefer_ended", "device.dhi.prefer_idle",
        "device.dhi.dealloc", "device.dhi.alloc_order", "device.dhi.on_miss",
        "device.dhi.allocate_at"},
       is("device.dhi.management", {"device"})},
      {{"device.atc"}, atc},
      // A cache has one line that waits, and no other way than by a translation. [CXL-7.12]
      {{"device.atc.parked", "device.atc.requests"}, dma || hostile},
      {{"device.atc.reuse_threshold", "device.atc.reuse_pages"},
       is("device.atc.when", {"reuse"}) && (dma || hostile)},
      {{"device.atc.pages_ahead"}, is("device.atc.when", {"prefetch"})},
      {{"device.atc.hinted_domains"}, is("device.atc.when", {"hint"}) && (dma || hostile)},
      {{"device.atc.queue_depth", "device.atc.discard", "device.atc.coalesce",
        "device.atc.rounds_up", "device.atc.keeps_agent_id", "device.atc.global_invalidate"},
       driver},
      {{"device.atc.stu"}, pretranslation, true},
      {{"device.atc.queue_depth", "device.atc.coalesce", "device.atc.rounds_up",
        "device.atc.keeps_agent_id", "device.atc.global_invalidate"},
       pretranslation && driver,
       true},
      {{"device.pri"}, is_true("device.pri.enabled") && atc},
      {{"device.cxl.coherence", "device.cxl.timing"}, cxl_memory},
      {{"device.cxl.own_cache"}, hdm_db},
      {{"device.cxl.cache"}, cxl_cache},
      {{"host.cores.timing.fence"},  // recovery fences as well
       is_not("host.cores.fence", {"none"}) || is_not("host.cores.hostile", {"0"}) ||
           is_not("faults.pio_integrity", {"0.0"})},
      {{"host.cores.vl_choice"}, is_not("host.cores.vls", {"1"})},
      {{"host.cores.timing.interrupt"}, is_not("host.cores.credit_wait", {"poll"})},
      {{"host.verbs.timing.trap"}, is_not("device.functions.count", {"1"})},
      {{"host.verbs.timing.interrupt"}, is_not("host.verbs.completions", {"poll"})},
      {{"device.rdma.shares.later"}, is_not("device.rdma.shares.kicks", {"[]"})},
      {{"device.rdma.shares.change_at"}, is_not("device.rdma.shares.later", {"[]"})},
      {{"device.ring"}, is("workload.via", {"dma"}) && is("link.carrier", {"pcie"})},
      {{"device.ring.prefetch"}, is_not("device.ring.memory", {"none"})},
      {{"device.pio"}, pio},
      {{"host.cores.timing.descriptor", "device.pio.sdma"},
       is_not("host.cores.sdma_from", {"none"})},
      {{"device.pio.deep_depth"}, is_not("device.pio.deep_contexts", {"0"})},
      {{"device.pio.egress.high_limit"},
       is_not("device.pio.egress.high", {"[]"}) && is_not("device.pio.egress.low", {"[]"})},
      {{"device.pio.egress.stalled_vl", "device.pio.egress.stall_from"},
       is_not("device.pio.egress.stall", {"none"})},
      {{"device.pio.egress.propagation", "device.pio.receive"},
       is_not("device.pio.egress.peer", {"none"})},
      {{"device.dma.outstanding", "device.dma.issue_interval"},
       is_not("workload.via", {"pio", "rdma"})},
      // ---- workload
      {{"workload.payload"}, (generated && is("workload.sizes", {""})) || flows},
      {{"workload.size_cap"}, generated && is_not("workload.sizes", {""})},
      {{"workload.sizes", "workload.placement", "workload.domain_choice", "workload.arrival"},
       generated},
      {{"workload.placement"},
       is_not("workload.via", {"pio", "rdma"})},  // contexts and rings have places of their own
      {{"workload.read_fraction"}, is("workload.kind", {"read_write", "nic"})},
      {{"run.until"}, is("workload.via", {"dma"}) && is_not("workload.kind", {"trace", "hostile"})},
      {{"run.converged"}, is("run.until", {"converged"})},
      {{"workload.trace"}, is("workload.kind", {"trace"})},
      {{"workload.requests", "workload.buffer_base", "workload.buffer_size"},
       is_not("workload.kind", {"trace"})},
      {{"workload.buffer_base"}, device_handles, true},  // flushes read there
      {{"workload.at"}, is_not("workload.kind", {"hostile"}) && dma},
      {{"workload.functions"},
       (is_not("workload.kind", {"hostile"}) && is_not("workload.via", {"cxl_mem"})) ||
           (hostile && is_not("iommu.translation", {"off"}))},  // whom the tables know
      {{"workload.contexts"}, is_not("workload.via", {"cxl_mem", "cxl_own", "cxl_both"})},
      {{"workload.contexts.per_process"}, contexts},
      {{"workload.zipf_exponent"}, is("workload.domain_choice", {"zipf"}) && several && generated},
      {{"workload.working_set", "workload.phase_requests"},
       is("workload.domain_choice", {"working_set"}) && several && generated},
      {{"workload.churn"}, is("workload.domain_choice", {"churn"}) && generated},
      {{"workload.sizes", "workload.size_cap"},
       (packets || flows) && is("workload.flows.pattern", {"sizes"}),
       true},
      {{"workload.trace"}, (packets || flows) && is("workload.flows.pattern", {"trace"}), true},
      {{"workload.flows.load", "workload.flows.count"}, is("workload.flows.pattern", {"sizes"})},
      {{"workload.flows.bytes"}, is_not("workload.flows.pattern", {"sizes", "trace"})},
      {{"workload.rate"}, is("workload.arrival", {"poisson", "cbr", "on_off"}) && generated},
      {{"workload.burst"}, is("workload.arrival", {"on_off"}) && generated},
  };
}

/// What a key changes though its condition does not hold.
struct Beside {
  const char* path;
  const char* what;
};
constexpr Beside kBeside[] = {
    {"device.atc.enabled", "its capability, which software reads at boot,"},
    {"device.pri.enabled", "its capability, which software reads at boot,"},
    {"device.dhi.supported", "its capability, which software reads at boot,"},
    {"iommu.walkers", "the capacity that the table of waits names,"},
    {"device.pri.allocation", "the capacity that the table of waits names,"},
    {"workload.functions", "the capacity of tags that the table of waits names,"},
};

bool lies_at_or_below(const std::string& path, const std::string& group) {
  return path.compare(0, group.size(), group) == 0 &&
         (path.size() == group.size() || path[group.size()] == '.');
}

}  // namespace

Condition read_when(const std::string& path) {
  static const std::vector<Relation> all = relations();
  Condition condition;
  for (const auto& [paths, when, is_enough] : all) {
    if (any_of(paths, [&](const std::string& group) { return lies_at_or_below(path, group); })) {
      condition = is_enough ? condition || when : condition && when;
    }
  }
  return condition.without(path);
}

bool is_read_for_others(const std::string& path) {
  return lies_at_or_below(path, "device.pio.receive");  // the peer of another device
}

const char* changes_beside(const std::string& path) {
  const auto* const own = find_where(kBeside, [&](const Beside& one) { return path == one.path; });
  return own != nullptr ? own->what : "";
}

}  // namespace flitwise::config
