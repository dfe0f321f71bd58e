// SPDX-License-Identifier: Apache-2.0
/// What a run leaves behind, as plain numbers: the source of result.json, of the SQLite file and of
/// the summary table.
#pragma once

#include <algorithm>
#include <any>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "flitwise/time.h"

namespace flitwise {

/// Takes off what had been counted before, no counter of which is larger. Of a struct that says
/// which part of it is Counters, of std::uint64_t alone.
template <class Row>
auto operator-=(Row& now, const typename Row::Counters& before) -> Row& {
  using Counters = typename Row::Counters;
  static_assert(std::is_trivially_copyable_v<Counters>);
  std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)> rest, taken;
  Counters& counters = now;
  std::memcpy(rest.data(), &counters, sizeof(Counters));
  std::memcpy(taken.data(), &before, sizeof(Counters));
  std::transform(rest.begin(), rest.end(), taken.begin(), rest.begin(), std::minus<>());
  std::memcpy(static_cast<void*>(&counters), rest.data(), sizeof(Counters));
  return now;
}

/// Wire bits of one direction by cause; the parts add up to total exactly. Unit: bit. (interfaces:
/// wire_bytes = bits / 8)
struct WireBits {
  using Counters = WireBits;
  std::uint64_t header = 0, identity = 0, payload = 0, padding = 0, framing = 0, crc = 0, dllp = 0,
                fec = 0, phy = 0, replay = 0, idle = 0;
  std::uint64_t total() const {
    return header + identity + payload + padding + framing + crc + dllp + fec + phy + replay + idle;
  }
};

/// Time a direction wanted to send and could not, by reason. [interfaces: stall_ns]
struct StallTimes {
  Time credits_posted, credits_nonposted, credits_completion, tags, replay_buffer, handle;
  Time credits_cxl_req, credits_cxl_rsp, credits_cxl_data;  ///< of messages, by class of credits
};

struct DirectionResult {
  std::uint64_t tlps = 0;  ///< counted TLPs whose last symbol left, replays not included
  std::uint64_t payload_bytes = 0;
  Time first_symbol, last_symbol;  ///< of the counted TLPs
  Time window;                     ///< span that wire bits cover
  Time window_end;                 ///< when it ended
  WireBits bits;
  StallTimes stalls;
  std::uint64_t replays = 0;        ///< TLPs sent again
  std::uint64_t replay_events = 0;  ///< replays started by a Nak or the timer
  std::uint64_t naks = 0, acks = 0, update_fcs = 0, skps = 0, corrupted = 0, retrains = 0;
  std::uint64_t flits_corrected = 0;  ///< by FEC
  std::uint64_t lost_tlps = 0;        ///< while the link was down, or when it went down
};

struct LinkResult {
  std::string name;
  bool is_bit_packed = false;
  DirectionResult up, down;
};

/// How well a figure was known at the end of a run that waits for that.
struct ConvergedResult {
  std::string figure;
  double mean = 0;
  std::optional<double> half_width;  ///< of its interval; none: too few requests to tell
  std::uint64_t batches = 0;         ///< that the interval rests on
  bool reached = false;              ///< the tolerance asked for
};

/// Summary of one latency histogram. Unit: ns.
struct LatencyResult {
  std::string name;
  std::uint64_t count = 0;
  double mean = 0, min = 0, p50 = 0, p90 = 0, p99 = 0, p999 = 0, max = 0;
};

/// What TLPs of one direction of data took from the hop before to this one.
struct HopResult {
  std::string request;  ///< "read" or "write"
  std::string hop;      ///< where it ends: "queued", "sent", ...
  std::uint64_t count = 0;
  Time total;  ///< of all of them
};

struct DhiResult {
  std::string device;
  std::uint64_t lookups = 0, hits = 0, allocs = 0, deallocs = 0, evictions = 0, bypasses = 0,
                rejected = 0, wrong_domain = 0, flushes = 0, acks = 0, handles_kept = 0;
  Time stall;
  double tlps_per_residency = 0;  ///< mean TLPs sent with one handle between its ALLOC and its end
  std::map<std::string, std::uint64_t> rejections;  ///< by kind
};

/// One translation agent.
struct IommuCounters {
  using Counters = IommuCounters;
  std::uint64_t requests = 0;             ///< of devices, of any kind
  std::uint64_t translated_requests = 0;  ///< of them: AT=10, which are not looked up
  /// Look-ups: the caches have the page, or not; the last where a walk for it is due already.
  std::uint64_t iotlb_hits = 0, iotlb_misses = 0, iotlb_misses_under_miss = 0;
  std::uint64_t walks = 0, walk_reads = 0;  ///< reads of tables in host memory
  std::uint64_t faults = 0, invalidations = 0;
  /// Invalidate Requests sent to devices, and those that had to wait for room at their function.
  std::uint64_t device_invalidations = 0, held_back = 0;
  std::uint64_t page_requests = 0, page_requests_dropped = 0;
  /// Translated requests checked against a permission table, those refused, and reads of it.
  std::uint64_t permission_checks = 0, permission_denied = 0, permission_reads = 0;
  // Of its driver: pages, and accesses to pages whose entry was gone but not all invalidations.
  std::uint64_t maps = 0, unmaps = 0, late_accesses = 0;
  std::uint64_t page_requests_served = 0, page_requests_refused = 0, faults_taken = 0;
  std::uint64_t teardowns = 0;  ///< contexts that it has ended
  std::uint64_t iotlb_lookups() const {
    return iotlb_hits + iotlb_misses + iotlb_misses_under_miss;
  }
};
struct IommuResult : IommuCounters {
  std::string name;
};

/// ATS of one function.
struct AtsCounters {
  using Counters = AtsCounters;
  std::uint64_t requests = 0;  ///< Translation Requests sent
  /// Look-ups of its TLPs, one each; the last wait for a translation that was due already.
  std::uint64_t hits = 0, misses = 0, misses_under_miss = 0;
  std::uint64_t invalidations = 0;  ///< Invalidate Requests taken
  std::uint64_t page_requests = 0;  ///< Page Requests sent
  std::uint64_t lookups() const { return hits + misses + misses_under_miss; }
};
struct AtsResult : AtsCounters {
  std::string function;  ///< "ep0.0"
};

/// How a resource limits what goes through it.
enum class ResourceRole : std::uint8_t {
  kServer,  ///< works on requests, as a wire: it limits while all of it is busy
  kSlots,  ///< is held while a request is under way, as a tag: it limits while requests wait for it
  kPace,  ///< holds requests back as they fare behind it: it limits if no server is busy for longer
  kQueue  ///< stands before one of these: waits there follow from what limits behind it
};

/// What may be waited for: a bounded resource of one instance.
struct Resource {
  std::string at;    ///< where it is: "iommu0"
  std::string name;  ///< "walkers"
  ResourceRole role = ResourceRole::kQueue;
  std::string direction = {};  ///< of the requests that take it: "up", "down"; empty: either
  std::string kind = {};  ///< of these: "read", "write", "message", "msi", "atomic"; empty: any
  std::string key = {};   ///< of the configuration, that sizes it; empty: none does
  std::uint64_t capacity = 0;  ///< units that there are; 0: without a number
};

/// How often and how long one resource was waited for, and how much of it was in use.
struct WaitResult {
  Resource resource;
  std::uint64_t count = 0;                 ///< requests that had to wait
  Time total{};                            ///< all their waits added up
  Time blocked{};                          ///< time in which at least one waited
  std::optional<std::uint64_t> peak = {};  ///< most units in use at a time, where that is counted
  std::optional<double> busy = {};         ///< mean share in use, likewise
  /// Of a server with a device's window, as a wire: from its first work to its last. None: `busy`
  /// is of the window of the run.
  std::optional<Time> span = {};
};

/// A place on the way of a request where it may have to wait: resources at `at`, of that direction
/// and kind, are on the way.
struct Step {
  std::string at;
  std::string direction;
  std::string kind;  ///< empty: any, those of other kinds hold up these
  /// A request passes either this place or the one before it, as one of several cores.
  bool is_beside = false;
};

/// The way of the requests of one kind from one engine, up to the end of their completions.
struct RequestRoute {
  std::string link;            ///< of the device
  std::string direction;       ///< of the requests
  std::string kind;            ///< "read", "write", "message", "msi", "atomic"
  std::uint64_t requests = 0;  ///< that the engine has issued in the window
  std::vector<Step> steps;     ///< in order
  Time begin{}, end{};         ///< of the window of the engine
  std::uint64_t to_peers = 0;  ///< of `requests`: to BARs below the same root port, another way
};

/// A resource that limits a kind of request, or comes next.
struct Limit {
  std::string at, resource, key;
  double share = 0;            ///< of the window: in use, or waited for
  Time total{};                ///< waits added up
  std::string larger = {};     ///< value of the key to try; empty: no key, or no larger value
  std::string direction = {};  ///< of what takes the resource: "up", "down"; empty: either
  bool is_empty() const { return at.empty(); }
};

/// What limited requests of one kind and direction.
struct ExplainResult {
  std::string link, direction, kind;
  Limit limit, next;           ///< empty where nothing was waited for
  std::uint64_t requests = 0;  ///< issued in the window
  std::uint64_t to_peers = 0;  ///< of them, to BARs of peers: these are not explained
};

/// One device cache.
struct CxlCacheCounters {
  using Counters = CxlCacheCounters;
  std::uint64_t reads = 0, writes = 0;  ///< lines that its core asked for
  std::uint64_t hits = 0;               ///< of them, without a word to the home
  std::uint64_t evictions = 0;          ///< lines that it gave up for want of room
  std::uint64_t snoops = 0;             ///< answered
  std::uint64_t snoops_modified = 0;    ///< of them, with a line that it had modified
  std::uint64_t bogus = 0;              ///< evictions overtaken by a snoop
};
struct CxlCacheResult : CxlCacheCounters {
  std::string device;
};

/// Memory of one device that host and device both cache (HDM-DB).
struct CxlHdmDbResult {
  std::string device;
  std::uint64_t host_reads = 0, host_writes = 0;  ///< lines that the host's cores asked for
  std::uint64_t host_hits = 0;                    ///< of them, without a word to the device
  std::uint64_t host_evictions = 0;               ///< lines that the host gave up for want of room
  std::uint64_t device_reads = 0, device_writes = 0;  ///< lines that the device's core asked for
  std::uint64_t device_hits = 0;                      ///< of them, in its cache
  std::uint64_t back_invalidations = 0;               ///< BISnp that the device sent
  std::uint64_t write_backs = 0;                      ///< lines that the host wrote for one
  std::uint64_t conflicts_early = 0, conflicts_late = 0;
};

/// One kind of attack by hostile devices, all of them together.
struct AttackResult {
  std::string attack;
  std::uint64_t tried = 0;    ///< TLPs that reached a switch or root port above the device
  std::uint64_t through = 0;  ///< those that got what is not their device's
};

struct CheckResult {
  std::string name;
  bool ok = true;
  std::string detail;
};

/// What a protocol monitor saw go against a rule. Packets as short texts: uid, type, key fields.
struct Violation {
  std::string rule;  ///< its id in docs/rules, "LNK-8.3"
  std::string sentence;
  std::string link;
  bool is_up = false;  ///< direction of the packet
  Time time;
  std::string packet;
  std::string other;  ///< the packet, or the state, that it goes against
};

/// One line for people, ended by a newline; all of them, a line each.
std::string text_of(const Violation& violation);
std::string text_of(const std::vector<Violation>& violations);

/// Rows of all tables of statistics, by their type: LinkResult, LatencyResult, IommuResult ...
class StatisticRows {
 public:
  template <class Row>
  std::vector<Row>& rows() & {
    std::any& all = rows_[typeid(Row)];
    if (!all.has_value()) {
      all = std::vector<Row>();
    }
    return *std::any_cast<std::vector<Row>>(&all);
  }
  template <class Row>
  const std::vector<Row>& rows() const& {
    static const std::vector<Row> kNone;
    const std::any* const all = find(typeid(Row));
    return all == nullptr ? kNone : *std::any_cast<std::vector<Row>>(all);
  }
  /// Of a result that is gone at the end of the statement.
  template <class Row>
  std::vector<Row> rows() && {
    return std::move(rows<Row>());
  }
  /// A std::vector of this type; null where there are no rows.
  const std::any* find(std::type_index row) const {
    const auto found = rows_.find(row);
    return found == rows_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::type_index, std::any> rows_;
};

struct RunResult : StatisticRows {
  std::uint64_t seed = 0;
  Time simulated;
  Time memory_asked, memory_done;  ///< the last access to host memory: given to it, and over
  double host_seconds = 0;
  std::string config_json;  ///< effective config, canonical
  std::string config_sha256;
  std::map<std::string, std::uint64_t>
      errors;  ///< kind -> count: everything that was refused, dropped or reported
  std::vector<RequestRoute> routes;   ///< of what was measured
  std::vector<CheckResult> checks;    ///< invariants at the end of the run
  std::vector<Violation> violations;  ///< the first of each link, in order of time
  /// What traces were asked for and do not have, a sentence each; of no result file.
  std::vector<std::string> trace_notes;
};

}  // namespace flitwise
