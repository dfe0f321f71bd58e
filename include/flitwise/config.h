// SPDX-License-Identifier: Apache-2.0
/// The whole configuration as plain structs with every default in place. Keys, units, ranges and
/// sentences stand in the section tables (src/config/sections/), which drive reading, validation,
/// schema and docs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/cxl.h"
#include "flitwise/ids.h"
#include "flitwise/time.h"

namespace flitwise {

using Bytes = std::uint64_t;

// ---- system
/// kDirect: one root port per device; kSwitch: all devices of a host below one switch; kGraph:
/// nodes and edges.
enum class Topology { kDirect, kSwitch, kGraph };
enum class SwitchMode { kLegacy, kHandleAware };
enum class NodeKind : std::uint8_t { kRootPort, kSwitch, kDevice };

/// As the user writes it; src/topology makes a graph of all nodes and edges.
struct NodeConfig {
  std::string name;
  NodeKind kind = NodeKind::kDevice;
  unsigned host = 0;  ///< of a root port
};
/// A link: `to` is below `from`.
struct EdgeConfig {
  std::string from, to;
};

/// What a downstream port of a switch does with what would go to a peer.
enum class PeerRoute { kDirect, kRedirect };

inline constexpr Bytes kFirstBar = Bytes{1} << 40;  ///< where host software places BARs
inline constexpr Bytes kBarSpace = Bytes{1} << 38;  ///< how much there is for them

/// Access Control Services of the downstream ports of a switch.
struct AcsConfig {
  bool source_validation = true;  ///< they check the bus of Requester IDs
  PeerRoute p2p_request = PeerRoute::kRedirect;
  PeerRoute p2p_completion = PeerRoute::kRedirect;
  std::vector<std::string> egress;  ///< nodes that no peer may send requests to
  bool direct_translated = false;   ///< requests with translated addresses are not redirected
};

struct SystemConfig {
  Topology topology = Topology::kDirect;
  unsigned hosts = 1;
  unsigned devices = 1;           ///< of each host: ep0 .. epN-1; not with kGraph
  std::vector<NodeConfig> nodes;  ///< kGraph
  std::vector<EdgeConfig> edges;  ///< kGraph
  SwitchMode switch_mode = SwitchMode::kHandleAware;
  AcsConfig acs;
  struct {
    Time forward = Time::from_ns(60);  ///< switch: ingress to egress
  } switch_timing;
};

// ---- host
enum class HostDhiTable { kPerDevice, kShared };
/// kDram: private DRAM behind a cache of recent entries. [DHI D3]
enum class HandleStorage { kSram, kDram };
enum class DeallocMode { kImplicit, kExplicit };
/// kAny: each function below the port any PASID and capability, no trust; kConfigured:
/// host.dhi.granted.
enum class GrantPolicy { kAny, kConfigured };
/// Contexts of one process have a handle each, or share that of the process. [DHI D22]
enum class HandleContexts { kOwn, kShared };
enum class UnknownDomain { kError, kFullIdentity };

struct HandleStorageConfig {
  HandleStorage storage = HandleStorage::kSram;
  unsigned cache_entries = 64;  ///< kDram only
  struct {
    Time by_handle = Time::from_ns(2);  ///< access by index
    Time by_domain = Time::from_ns(2);  ///< associative search
    Time dram = Time::from_ns(80);      ///< added on a miss of the cache
  } timing;
};

/// When a driver invalidates what it has unmapped: page by page, or its whole domain later.
enum class UnmapMode { kStrict, kDeferred };
/// How a driver hears that its invalidations are over.
enum class DriverWait { kPoll, kInterrupt };
/// What a driver does wrong on purpose, to show that the checks notice. [INV-35]
enum class DriverMistake {
  kNone,
  kDeviceFirst,
  kNoWait,
  kNoDevice,
  kNoStop,        ///< a context is torn down while its device still works for it
  kNoPasidCache,  ///< its PASID table entry stays in the agent's cache
  kNoRevoke,      ///< a page that goes stays permitted
};

/// The driver of the translation agent: maps, unmaps and serves page requests while devices run.
struct IommuDriverConfig {
  bool enabled = false;
  Time step{};         ///< between two of its accesses; 0: host.timing.software_step
  unsigned batch = 1;  ///< unmaps whose invalidations share one wait [IQU-16]
  UnmapMode mode = UnmapMode::kStrict;
  Time flush_after = Time::from_us(100);  ///< kDeferred: though there is no whole batch
  DriverWait wait = DriverWait::kPoll;
  double unmap_rate = 0;                 ///< unmaps a second, on average; 0: none
  unsigned unmap_pages = 1;              ///< of one unmap
  Time remap_after = Time::from_us(10);  ///< from free to mapped again; 0: only when asked for
  double premapped = 1;                  ///< share of the pages that are there at the start
  Time map_latency = Time::from_us(1);   ///< from a page request, or a fault, to the mapped page
  double refuse_fraction = 0;            ///< of the page requests
  double teardown_rate = 0;              ///< contexts that end a second, on average; 0: none
  bool teardown_reset = false;           ///< FLR of the function as the last step of each
  DriverMistake mistake = DriverMistake::kNone;
  std::uint32_t page_request_queue = 32U << 10;  ///< bytes; 32 a record
};

/// How a cache reads what it does not hold. [COH-2.1] [COH-5.6]
enum class CxlCacheRead {
  kShared,  ///< RdShared
  kAny,     ///< RdAny
  kCurrent  ///< RdCurr: the line is not kept
};

/// Where a thread that sends by PIO puts its fences. [PIO-4.4]
enum class StoreFence : std::uint8_t { kNone, kPacket, kBlock };
/// What takes a virtual lane: each packet of a context the next one, or a context one for all.
enum class VlChoice : std::uint8_t { kPacket, kContext };

/// Cores of the host that send by PIO to one device, where workload.via is pio (docs/pio.md).
struct CoresConfig {
  unsigned count = 2;
  unsigned threads = 1;         ///< of a core, which share its store buffer: 1 or 2
  unsigned store_buffers = 12;  ///< blocks of 64 bytes of a core
  unsigned window = 0;          ///< stores and fences that a thread runs ahead [PIO-4.5]
  unsigned store_bytes = 64;    ///< 8, 16, 32 or 64
  StoreFence fence = StoreFence::kNone;
  unsigned vls = 1;  ///< virtual lanes that packets use, VL 0 on; 9: VL15 as well
  VlChoice vl_choice = VlChoice::kPacket;
  unsigned write_queue = 32;   ///< posted writes that the IIO holds for the link
  double credit_requests = 0;  ///< share of packets whose PBC asks for credits
  DriverWait credit_wait = DriverWait::kPoll;
  Bytes sdma_from = 0;   ///< packets of so many bytes and more go by SDMA; 0: none
  unsigned hostile = 0;  ///< processes of so many domains, the last ones, write anything
  struct {
    Time clock = Time::from_ps(250);
    Time store{0};                         ///< of a store, beside a clock of the core
    Time source{0};                        ///< reading 64 bytes of a packet's source
    Time drain = Time::from_ns(80);        ///< a block leaves and its place is free
    Time fence = Time::from_ns(200);       ///< core to the IIO and back [PIO-4.4]
    Time credit_poll = Time::from_ns(50);  ///< between two looks at returned credits
    Time descriptor = Time::from_ns(20);   ///< a descriptor of SDMA is made and written
    Time interrupt = Time::from_us(1);     ///< from an interrupt at the root port to its thread
  } timing;
};

/// Software that posts RDMA work requests, where workload.via is rdma (docs/rdma.md).
struct VerbsConfig {
  Bytes most_inline = 0;  ///< payload up to this goes with its WQE in a command; 0: no commands
  bool waits_for_interrupt = false;  ///< for completions, rather than look again and again
  unsigned hostile = 0;              ///< guests of so many functions, the last ones, write anything
  struct {
    Time post = Time::from_ns(40);        ///< a WQE is made, written, and the doorbell rung
    Time store = Time::from_ns(2);        ///< 64 bytes of a command
    Time poll = Time::from_ns(20);        ///< between two looks at the completion queue
    Time completion = Time::from_ns(20);  ///< a CQE is taken
    Time interrupt = Time::from_us(1);    ///< from the message to the handler
    Time trap = Time::from_us(2);         ///< the hypervisor carries out a command of a guest
  } timing;
};

struct HostConfig {
  struct {
    Bytes size = Bytes{16} << 30;
    double bandwidth_gbps = 0;  ///< 0: never stalls
    struct {
      Time latency = Time::from_ns(80);
    } timing;
  } memory;
  bool requester_check = true;    ///< Requester IDs have to lie on a bus below the root port
  bool pasid = true;              ///< takes PASIDs at all [LNK-3.7]
  bool translated_pasid = true;   ///< takes PASIDs on translated requests [LNK-3.8]
  bool atomics = true;            ///< root ports complete AtomicOps [LNK-9.29]
  bool deferrable_writes = true;  ///< and deferrable writes [LNK-9.30]
  struct {
    Bytes base = 0;
    Bytes size = 0;  ///< 0: all of memory
  } dma_window;      ///< what the devices below the port may touch
  struct {
    Bytes base = 0;
    Bytes size = 0;  ///< 0: no such memory
  } trusted_window;  ///< what only trusted requests may touch [DHI D19]
  struct {
    HostDhiTable table = HostDhiTable::kPerDevice;
    unsigned entries = 4096;  ///< shared table: all ranges together
    DeallocMode dealloc =
        DeallocMode::kImplicit;  ///< kExplicit: ALLOC over a valid handle is refused [DHI D11]
    GrantPolicy grant = GrantPolicy::kAny;  ///< what an ALLOC may ask for [DHI S3]
    struct {
      std::uint32_t first_pasid = 0;
      std::uint32_t last_pasid = (1U << kPasidBits) - 1;  ///< inside the range
      bool without_pasid = true;                          ///< handles that name the function alone
      bool trusted = false;
      std::uint32_t capabilities = 0;  ///< 16 bits
      unsigned contexts = 0;           ///< of each PASID; kMostContexts: any [DHI D22]
    } granted;                         ///< kConfigured: to each function of the device
    bool check_capabilities = false;   ///< requests need the capability of their kind [DHI D20]
    bool report_errors = true;         ///< tell the device of refused posted messages [DHI D16]
    UnknownDomain unknown_domain =
        UnknownDomain::kFullIdentity;  ///< downstream message without entry [DHI D21]
    HandleStorageConfig storage;
  } dhi;
  IommuDriverConfig iommu_driver;
  struct {
    Time root_port = Time::from_ns(100);      ///< ingress to memory, and memory to egress, each
    Time clock = Time::from_ns(2);            ///< host uncore
    Time mmio = Time::from_ns(150);           ///< core to root port, one way
    Time software_step = Time::from_ns(200);  ///< one step of a software actor
    Time completion_timeout = Time::from_us(50'000);  ///< of software's reads and configuration
  } timing;
  struct {
    unsigned outstanding = 256;       ///< CXL.mem requests that the host has out, to each device
    Time bridge = Time::from_ns(25);  ///< core to link, and link to core, each
    CxlCacheRead read = CxlCacheRead::kShared;  ///< MemRd to share, MemRdData, MemRd to use once
    struct {
      Bytes size = Bytes{64} << 10;
      unsigned ways = 8;
      unsigned lines_per_clock = 4;     ///< that its cores ask for
      Time lookup = Time::from_ns(10);  ///< of requests, answers and snoops, each
    } cache;                            ///< of the host, for lines of memory by HDM-DB
  } cxl_mem;
  struct {
    Time bridge = Time::from_ns(25);     ///< home to link, and link to home, each
    Time lookup = Time::from_ns(15);     ///< of the directory, for each request
    bool pulls_clean_evictions = false;  ///< GO_WritePull for CleanEvict [COH-3.7]
  } cxl_cache;
  CoresConfig cores;
  VerbsConfig verbs;
};

// ---- iommu
/// Who leaves a full set of a cache.
enum class CachePolicy : std::uint8_t {
  kLru,     ///< the longest unused
  kFifo,    ///< the longest there
  kRandom,  ///< any, by a seeded stream
};

struct CacheConfig {
  unsigned entries = 64;  ///< 0: there is none
  unsigned ways = 0;      ///< 0: fully associative
  CachePolicy policy = CachePolicy::kLru;
};

/// How the workload's requests are translated from the start on: tables that host software has
/// made.
enum class Translation { kOff, kFirstStage, kSecondStage, kNested, kPassThrough };

/// What is done with page requests for which there is no room. [PRI-15]
enum class PageRequestOverflow : std::uint8_t { kRespondSuccess, kDrop };

/// What is done about the reserved bit of IQT with 256-bit descriptors. [IQU-10]
enum class ReservedTailBit : std::uint8_t { kError, kIgnored };

/// The translation agent of the root complex. Its defaults come from measured hosts: an IOTLB of
/// 128 entries, four to five walks at a time.
struct IommuConfig {
  Translation translation = Translation::kOff;
  Bytes page = Bytes{4} << 10;  ///< of the workload's buffers: 4 KiB, 2 MiB or 1 GiB
  bool legacy_codes = false;  ///< fault numbers of the legacy table, as QEMU reports them [IOM-3.1]
  unsigned walkers = 4;       ///< walks at a time
  /// Translations in the first of two completions, where there are more; 0: one completion [TCP-01]
  unsigned reply_split = 0;
  ReservedTailBit reserved_tail_bit = ReservedTailBit::kError;
  bool secure_ats = false;  ///< translated requests need a permission for their page [SEC-01]
  CacheConfig context_cache, pasid_cache, paging_cache, second_stage_cache;
  CacheConfig permission_cache;  ///< words of 32 pages; of tables above them as many again
  CacheConfig iotlb{128, 0, CachePolicy::kLru};
  struct {
    unsigned host_address_bits = 48;    ///< HAW: physical addresses, 36..52
    unsigned pasid_bits = 20;           ///< PSS+1, 1..20; 0: no PASID
    bool first_stage_5_level = true;    ///< FS5LP
    bool second_stage_5_level = false;  ///< SAGAW bit 3
    bool nested = true;                 ///< NEST
    bool rid_pasid = true;              ///< RPS
    bool caching_mode = false;          ///< CM: not-present entries may be cached
    unsigned fault_records = 1;         ///< NFR+1, 1..256
  } capabilities;
  struct {
    Time clock = Time::from_ns(1);
    Time context_cache = Time::from_ns(1);       ///< a hit
    Time pasid_cache = Time::from_ns(1);         ///< a hit
    Time second_stage_cache = Time::from_ns(1);  ///< a hit, in a nested walk
    Time iotlb = Time::from_ns(2);               ///< a look-up
    Time paging_cache = Time::from_ns(5);        ///< a look-up, before a walk
    Time permission_cache = Time::from_ns(2);    ///< a look-up
    Time invalidation = Time::from_ns(20);       ///< one descriptor
    /// A device has to answer an Invalidate Request in that time. [INV-20]
    Time invalidate_timeout = Time::from_us(60'000'000);
  } timing;
  struct {
    PageRequestOverflow overflow = PageRequestOverflow::kRespondSuccess;  ///< [PRI-15]
    bool respond_pasid = true;  ///< the agent's own answers name the PASID [PRI-36]
  } page_requests;
};

// ---- link
enum class Identity { kNone, kBdf, kBdfPasid, kDhi };
enum class DhiForm { kRidDirect, kRidFabric, kTag, kPrefix, kOhc };
enum class Carrier { kPcie, kBitPacked };
enum class SkpMode { kNormal, kSris, kOff };
enum class RelaxedPassing { kNever, kWhenBlocked, kEager };

/// Flits of a CXL link; none: the link is PCIe. [CXL-5.1] [CXL-5.2]
enum class CxlFlits { kNone, k68, k256 };

/// Generation 1..6, and what travels on it.
struct LinkPreset {
  std::string name = "gen5x16";
  unsigned generation = 5;
  unsigned lanes = 16;
  CxlFlits cxl = CxlFlits::kNone;
};

/// What a D2H Req says of its domain: nothing, as the standard has it; all of it, in an added
/// field; a handle. [DHI D24]
enum class CxlIdentity { kSpec, kFullAdded, kDhiAdded };

/// CXL.cache and CXL.mem on a CXL link. [CXL-3.1]
struct CxlLinkConfig {
  /// Advertised by both ends, for CXL.cache and for CXL.mem each; units: messages, lines of data.
  std::uint32_t req_credits = 256, rsp_credits = 256, data_credits = 256;
  unsigned queue_depth = 256;                 ///< messages of each channel that wait to be packed
  unsigned retry_flits = 255;                 ///< 68-byte flits that wait for their acknowledgement
  CxlIdentity identity = CxlIdentity::kSpec;  ///< on D2H Req [DHI D24]
  std::uint32_t handle_bits = 0;              ///< of a handle on D2H Req; 0: device.dhi.bits
  std::uint32_t identity_bits = 0;            ///< what all that is: follows from it, no key
  unsigned io_weight = 1, cachemem_weight = 1;  ///< flits in turn while both have something to send
  bool latency_optimised = false;               ///< 256-byte flits in two halves
  /// By CxlChannel: most messages that one flit takes; 0: CxlPackingRules says. [CXL-2.9]
  std::array<std::uint8_t, kCxlChannels> per_flit{};
  struct {
    Time retry_timeout{
        0};  ///< RETRY.Req is sent again without an answer; 0: from the wire [CXL-3.7]
    Time ack_after = Time::from_ns(100);  ///< without a flit to take them, LLCRD takes Acks
  } timing;
};

inline constexpr std::uint32_t kInfiniteCredits = 0;  ///< as in InitFC: 0 means infinite [LNK-8.5]

struct LinkConfig {
  LinkPreset preset;
  Carrier carrier = Carrier::kPcie;
  bool flit_mode = false;  ///< negotiated below 64 GT/s too, where it is a choice
  Bytes mps = 256;
  Bytes mrrs = 512;
  Bytes rcb = 64;
  Identity identity = Identity::kBdfPasid;
  DhiForm dhi_form = DhiForm::kRidDirect;
  double error_rate = 0;     ///< probability of a wrong bit, per bit, both directions
  unsigned error_burst = 1;  ///< flit mode: so many bits from that one on are wrong [LNK-11.8]
  SkpMode skp = SkpMode::kNormal;
  struct {  ///< advertised by both ends; units: headers, 16-byte data units
    std::uint32_t posted_headers = 256;
    std::uint32_t posted_data = 4096;
    std::uint32_t nonposted_headers = 256;
    std::uint32_t nonposted_data = 256;
    std::uint32_t completion_headers = kInfiniteCredits;
    std::uint32_t completion_data = kInfiniteCredits;
    bool scaled = true;  ///< scaled flow control negotiated (larger counters)
  } credits;
  struct {  ///< flit mode: beside those, and taken first; 0: none [LNK-11.23] [LNK-11.24]
    std::uint32_t posted_headers = 0;
    std::uint32_t posted_data = 0;
    std::uint32_t nonposted_headers = 0;
    std::uint32_t nonposted_data = 0;
    std::uint32_t completion_headers = 0;
    std::uint32_t completion_data = 0;
    bool merged = false;  ///< those of posted requests are for completions as well [LNK-11.26]
  } shared_credits;
  unsigned ack_coalesce =
      0;  ///< Ack after so many TLPs at the latest; 0: by the latency limit alone
  /// Do RO and IDO TLPs overtake older posted ones: never, when those lack credits, or whenever
  /// permitted?
  RelaxedPassing relaxed_passing = RelaxedPassing::kWhenBlocked;
  Bytes replay_buffer = Bytes{64} << 10;
  unsigned queue_depth = 32;  ///< transaction queues: TLPs per class and end, without the pipeline
  struct {
    Time clock = Time::from_ns(2);  ///< link core
    Time propagation = Time::from_ns(5);
    Time receive = Time::from_ns(30);  ///< PHY and data link layer, pin to transaction layer
    Time fec = Time::from_ns(2);       ///< flit mode: FEC decoder of a receiver [LNK-11.8]
    Time retrain = Time::from_us(5);   ///< one Recovery [LNK-10.2]
    Time replay_timeout{0};            ///< 0: from the formulas [LNK-7.18] [LNK-7.19] [LNK-11.7]
  } timing;
  CxlLinkConfig cxl;

  /// TLPs travel in 256-byte flits: always at 64 GT/s. [LNK-11.1]
  bool is_in_flit_mode() const {
    return carrier == Carrier::kPcie && (flit_mode || preset.generation >= 6);
  }
};

// ---- message: the bit-packed carrier
enum class Packing { kAligned, kContiguous };

struct MessageConfig {
  unsigned header_bits = 64;
  unsigned payload_bits = 512;
  unsigned identity_bits = 36;
  unsigned flit_bits = 80;
  unsigned crc_bits = 16;  ///< inside the flit
  Packing packing = Packing::kAligned;
};

// ---- device
enum class OnMiss { kStall, kBypass };
enum class AllocOrder { kFlush, kAck, kNone };
enum class VictimPolicy { kFifo, kLru, kLfu };
enum class HandleManagement { kDevice, kSoftware };
enum class AllocateAt { kFirstUse, kContextCreation };
/// Who gives PASIDs: each function its own from 0 on, or one system for all its processes.
enum class PasidSpace { kFunction, kSystem };

/// When a function asks for a translation that its ATC does not have. [ATR-29]
enum class TranslateWhen { kAlways, kReuse, kPrefetch, kHint };
/// What an invalidation does to a Translation Request that it overlaps in part. [INV-06]
enum class AtcDiscard { kOverlapping, kAll };

/// The address translation cache of each function, and how it asks and answers.
struct AtcConfig : CacheConfig {
  bool enabled = false;
  unsigned requests = 32;     ///< Translation Requests out, each function
  unsigned translations = 1;  ///< asked for at a time, at least
  TranslateWhen when = TranslateWhen::kAlways;
  unsigned reuse_threshold = 2;  ///< kReuse: misses of a page that earn it a translation
  unsigned reuse_pages = 256;    ///< kReuse: pages that are counted
  unsigned pages_ahead = 1;      ///< kPrefetch
  unsigned hinted_domains = 0;   ///< kHint: domains 0 .. n-1; 0: all
  unsigned queue_depth = 32;     ///< Invalidate Queue Depth
  unsigned stu = 0;              ///< that software sets: 2^stu pages of 4 KiB
  unsigned parked = 128;         ///< transfers that may wait for answers, or behind such ones
  AtcDiscard discard = AtcDiscard::kOverlapping;
  bool coalesce = false;          ///< one completion for several ITags [INV-11]
  bool rounds_up = true;          ///< invalidations below the STU are taken [INV-21]
  bool keeps_agent_id = false;    ///< answers go to who asked first [INV-30]
  bool global_invalidate = true;  ///< Global Invalidate Supported [INV-33]
  struct {
    Time lookup = Time::from_ns(2);
  } timing;
};

/// The Page Request Interface of the device.
struct PriConfig {
  bool enabled = false;
  std::uint32_t capacity = 64;    ///< Outstanding Page Request Capacity
  std::uint32_t allocation = 32;  ///< that software sets
  bool response_pasid = true;     ///< PRG Response PASID Required [PRI-36]
  bool clamps_allocation = true;  ///< above the capacity: cut to it, or kept [PRI-26]
  unsigned group_pages = 1;       ///< asked for in one group at most [PRI-27]
};

/// How a device cache writes what it does not own. [COH-2.1]
enum class CxlCacheWrite {
  kOwn,      ///< RdOwn, RdOwnNoData for whole lines
  kThrough,  ///< ItoMWr, WrInv: the line is not kept
  kPosted    ///< WOWrInvF, WOWrInv: likewise, weakly ordered
};

/// A cache of the device for lines of the host's memory (types 1 and 2).
struct CxlCacheConfig {
  Bytes size = 0;  ///< 0: none
  unsigned ways = 8;
  unsigned requests = 256;  ///< that may be out: CQIDs
  CxlCacheRead read = CxlCacheRead::kShared;
  CxlCacheWrite write = CxlCacheWrite::kOwn;
  bool offers_clean_evictions = true;  ///< CleanEvict; else CleanEvictNoData
  unsigned lines_per_clock = 4;        ///< that its core asks for
  Time lookup = Time::from_ns(10);     ///< core to answer of a hit, core to link, snoop to answer
};

/// Who keeps memory of the device coherent: the host alone, or the device as well, which caches it
/// and takes lines back from the host. [COH-5.1] [COH-5.3]
enum class CxlCoherence { kHdmH, kHdmDb };

/// What a device has beside CXL.io.
struct CxlDeviceConfig {
  Bytes memory = 0;  ///< on CXL.mem (type 3); 0: none
  CxlCoherence coherence = CxlCoherence::kHdmH;
  struct {
    Bytes size = Bytes{64} << 10;
    unsigned ways = 8;
    unsigned snoops = 64;             ///< back-invalidate snoops that may be out: BITags
    unsigned lines_per_clock = 4;     ///< that its core asks for
    Time lookup = Time::from_ns(10);  ///< of its core's requests
  } own_cache;                        ///< for lines of its own memory, by HDM-DB
  CxlCacheConfig cache;
  struct {
    Time latency = Time::from_ns(80);     ///< of the memory behind the controller
    Time controller = Time::from_ns(15);  ///< from request to memory, and from memory to response
  } timing;
};

/// Of DeviceConfig::functions.carriers. The VFs are those from 1 on, however many there are.
inline const std::vector<unsigned> kAllFunctions = {}, kVirtualFunctions = {~0U};

/// When the blocks of a packet are free: all once it has left send memory, or each once it has.
enum class PioClear : std::uint8_t { kPacket, kBlock };
/// Of device.pio.steering_tag: writes without one.
inline constexpr unsigned kNoSteeringTag = 256;
/// Pairs of a virtual lane, 0..7, and its weight in blocks of 64 bytes, 0..255. [PIO-6.5]
using VlWeights = std::vector<std::pair<unsigned, unsigned>>;

/// Send memory of a device, where workload.via is pio (docs/pio.md). Each domain of the workload
/// has a send context, whose number it has.
struct PioConfig {
  unsigned depth = 64;         ///< blocks of a context
  unsigned deep_contexts = 0;  ///< the first so many have deep_depth
  unsigned deep_depth = 512;
  unsigned threshold = 8;  ///< blocks [PIO-7.3]
  bool early_return = false;
  PioClear clear = PioClear::kPacket;      ///< [PIO-6.8]
  unsigned steering_tag = kNoSteeringTag;  ///< of credit returns, 0..255
  unsigned group = 1;  ///< contexts that return together: 1, 2, 4 or 8 [PIO-8.1]
  struct {
    unsigned engines = 16;
    unsigned ring = 256;    ///< descriptors
    unsigned buffer = 256;  ///< blocks of each engine
    unsigned reads = 16;    ///< outstanding, of each engine
  } sdma;                   ///< [PIO-6.10]
  struct {
    double rate_gbps = 200;          ///< of the network port
    unsigned launch_fifo = 64;       ///< packets, of each VL
    Bytes buffer = Bytes{32} << 10;  ///< of the port, for each VL
    VlWeights high, low;             ///< both empty: data VLs take turns
    unsigned high_limit = 0;         ///< blocks of high before low has its turn, 0..16383
    unsigned stalled_vl = 0;         ///< VL that has no credits of the peer meanwhile
    Time stall_from{0};
    Time stall{0};                        ///< 0: no VL stalls
    std::string peer;                     ///< device at the other end of the wire; empty: none
    Time propagation = Time::from_ns(5);  ///< on the wire to it, there and back
  } egress;
  struct {
    Bytes buffer = Bytes{64} << 10;  ///< of each VL
    struct {
      Time parse = Time::from_ns(20);  ///< last byte of a packet to its place in memory
    } timing;
  } receive;
  struct {
    Time clock = Time::from_ps(1242);     ///< of all behind the PCIe interface
    Time crossing = Time::from_ps(2484);  ///< between the two clocks, each way
    Time egress = Time::from_ns(50);      ///< send memory to the port
  } timing;
};

/// RDMA adapter of a device, where workload.via is rdma (docs/rdma.md). Each domain of the workload
/// has a queue pair.
/// Shares of the frames that a device sends.
struct CableConfig {
  double loss = 0, duplication = 0, corruption = 0, reordering = 0;
  Time delay = Time::from_us(1);  ///< of what comes late: copies, and frames out of order
  bool is_bad() const { return loss + duplication + corruption + reordering > 0; }
};

/// Firmware of the adapter that translates addresses of static structures ahead of use.
struct PretranslationConfig {
  bool is_on = false;
  Bytes page_size = Bytes{4} << 10;  ///< a structure has to lie in one such page [EP-2]
  bool clears = false;               ///< an invalidation takes the address away [EP-7]
  bool retranslates = true;          ///< what an invalidation took [EP-9]
  unsigned requests = 32;            ///< outstanding
  struct {
    Time period = Time::from_us(100);  ///< between two looks at all structures [EP-1]
    Time retry = Time::from_us(10);    ///< after a failure; doubles with each [EP-6]
    Time longest_retry = Time::from_us(1'000);
  } timing;
};

/// How the resources of an adapter are shared between its functions. [HP-8]
struct AdapterSharesConfig {
  std::vector<unsigned> kicks;        ///< weights of their turns, by function; empty: all alike
  std::vector<unsigned> states;       ///< entries of the queue pair state cache; empty: no bounds
  std::vector<unsigned> later;        ///< likewise, from `change_at` on; empty: none
  Time change_at = Time::from_us(0);  ///< since the start of the workload
};

struct RdmaConfig {
  std::string peer;             ///< device at the other end of the cable that it asks; empty: none
  unsigned mtu = 4096;          ///< of a path: 256, 512, 1024, 2048 or 4096
  unsigned queue = 64;          ///< WQEs of a send queue, and of a receive queue
  unsigned cq = 256;            ///< entries of each of its two completion queues
  unsigned cqe = 64;            ///< bytes of an entry: 32 or 64
  unsigned window = 256;        ///< PSNs without acknowledgement [PS-3]
  unsigned max_rd_atomic = 16;  ///< [VB-10]
  unsigned timeout = 7;         ///< 4.096 us x 2^timeout [LR-3]
  unsigned retry_cnt = 7;       ///< time-outs without progress
  unsigned ack_every = 16;      ///< [RX-5]
  unsigned qpsc_entries = 128;  ///< of the queue pair state cache [HP-2]
  unsigned wqe_batch = 8;       ///< WQEs of one read, at most
  unsigned fifo = 32;           ///< entries of the queue of a stage
  Bytes dma_memory = Bytes{256} << 10;   ///< for payload that is to be sent [HP-10]
  Bytes payload_ram = Bytes{256} << 10;  ///< for frames that have come [HP-10]
  struct {
    double rate_gbps = 100;
    Time propagation = Time::from_ns(5);  ///< of the cable
  } port;
  CableConfig cable;
  PretranslationConfig pretranslation;
  AdapterSharesConfig shares;
  unsigned hostile_frames = 0;  ///< forged frames behind each thousand of its own
  struct {
    Time clock = Time::from_ns(1);
    Time collect = Time::from_ns(2);   ///< collect buffer controller; and a clock a beat of 64 B
    Time kick = Time::from_ns(1);      ///< virtual kick
    Time fetch = Time::from_ns(2);     ///< queue pair fetch that hits
    Time build = Time::from_ns(4);     ///< packet builder; and a clock a beat
    Time complete = Time::from_ns(2);  ///< completion
    Time check = Time::from_ns(4);     ///< packet receiver
    Time receive = Time::from_ns(2);   ///< receive
    Time entry = Time::from_ns(2);     ///< receive queue entry that is cached
    Time validate = Time::from_ns(2);  ///< DMA validation
  } timing;
};

/// How a session group weighs its sessions.
enum class WeightAlgorithm : std::uint8_t {
  kBandwidthRatio,
  kLatencyNorm,
  kRandomProbe,
  kQueueingTime,
  kEcnFraction,
  kStatic,
  kActivity
};
/// How it chooses one for each packet.
enum class ChoicePolicy : std::uint8_t {
  kLowestWeight,
  kWeightedHash,
  kHashTable,
  kRoundRobin,
  kRandom,
  kSingle
};
/// Of lowest_weight, between equal ones. [SEL-1]
enum class ChoiceTie : std::uint8_t { kRoundRobin, kLowestId, kHash };
/// What stays on one session while nothing of it is sent again. [SEL-5]
enum class ChoiceGranularity : std::uint8_t { kPacket, kMessage, kFlowlet };
/// Which sessions have to be above their threshold. [M 46,47]
enum class CongestedMode : std::uint8_t { kAll, kAny, kQuorum, kMean };
enum class ReceiveMode : std::uint8_t { kInOrder, kReorder, kDirect };  ///< [RX-2]
enum class Recovery : std::uint8_t { kGoBackN, kSelective };            ///< [LR-1, 2]
/// A window of each session, or one of the group, beside the rates of the source. [CC-4]
enum class RateControl : std::uint8_t { kNone, kDcqcnQp, kDcqcnSession, kWindow, kWindowGroup };
/// When session groups come up, of mode packet.
enum class GroupConnect : std::uint8_t {
  kStanding,  ///< they stand, without a handshake
  kBefore,    ///< flows of two hosts begin once their group stands
  kFirstFlow  ///< the first flow asks for it, and waits
};
/// Of a group without a session that may be used. [SG-9]
enum class DownAction : std::uint8_t { kStall, kError };

/// Who puts new weights into force: the adapter at once, or software after a while. [6.3]
enum class WeightEngine : std::uint8_t { kHardware, kSoftware };

/// Who begins and ends the change of a key. [KY-2]
enum class RekeyEngine : std::uint8_t { kHardware, kSoftware };

/// Session groups of a network port (docs/srdma.md). What is said of transport holds where
/// network.mode is packet; an adapter has its own.
struct SrdmaConfig {
  bool is_on = false;  ///< else plain RoCEv2 to port 4791 [CC-9]
  unsigned mtu = 4096;
  unsigned groups = 1;    ///< between two adapters, at least
  unsigned sessions = 2;  ///< of a group at its start [HS-7]
  unsigned min_sessions = 1, max_sessions = 64;
  unsigned first_port = 49'152, last_port = 65'535;
  bool is_secured = false;
  GroupConnect connect = GroupConnect::kStanding;
  unsigned cm_port = 4791;  ///< UDP, of control messages
  bool cm_plain = false;    ///< they are not secured
  unsigned cm_retries = 7;  ///< [HS-4]
  DownAction on_down = DownAction::kStall;
  WeightAlgorithm algorithm = WeightAlgorithm::kQueueingTime;
  std::vector<std::uint64_t> weights{};  ///< of kStatic, in percent, by session
  double gain = 0.125;                   ///< g_w
  WeightEngine weight_engine = WeightEngine::kHardware;
  ChoicePolicy policy = ChoicePolicy::kWeightedHash;
  ChoiceGranularity granularity = ChoiceGranularity::kPacket;
  ChoiceTie tie = ChoiceTie::kRoundRobin;
  unsigned beta = 0;              ///< packets in flight that weigh 1; 0: they do not count
  bool adaptive_routing = false;  ///< ar_class
  struct {
    bool is_on = false;  ///< sessions come and go
    CongestedMode mode = CongestedMode::kAll;
    unsigned quorum = 2;
    double threshold = 0.7, relaxed = 0.5;
    double cost = 8;  ///< C
  } control;
  ReceiveMode receive = ReceiveMode::kReorder;
  unsigned ooo_window = 256;  ///< packets of a queue pair
  Recovery recovery = Recovery::kSelective;
  bool sack = false;    ///< ACKs have a bitmap of what is held [RX-6]
  unsigned window = 0;  ///< PSNs; 0: max(256, 2 BDP / mtu) [PS-3]
  unsigned timeout = 7, retry_cnt = 7;
  unsigned ack_every = 16, ack_every_session = 1;
  struct {
    RateControl kind = RateControl::kDcqcnQp;
    double scale = 1;  ///< dcqcn_scale
  } congestion;
  struct {
    Time weights = Time::from_us(10);
    Time apply_delay = Time::from_us(20);  ///< of software, before weights are in force
    Time control = Time::from_us(50);
    Time gap = Time::from_us(50);  ///< gap_timer0 [RX-3]
    Time ack_delay = Time::from_us(1);
    Time stale = Time::from_us(100);
    Time base_window = Time::from_us(5'000);
    Time cnp = Time::from_us(50);
    Time handshake = Time::from_us(100);  ///< till a control message is sent again [HS-4]
    Time drain = Time::from_us(2'000);    ///< [SG-4]
    Time down = Time::from_us(10'000);    ///< [SG-9]
  } timing;
  struct {
    Time lifetime = Time::from_us(1'000'000);
    Time refresh_margin = Time::from_us(10'000);  ///< before its end a new one is asked for
    Time grace = Time::from_us(1'000);            ///< after its end packets are still taken
    RekeyEngine engine = RekeyEngine::kHardware;
    Time software_delay = Time::from_us(500);  ///< of software, before a key is used
    bool replaces = false;                     ///< on expiry, whatever the other sessions [KY-3]
  } keys;
};

struct DeviceConfig {
  struct {
    unsigned count = 1;  ///< PF 0 and its VFs
    bool has_pasid = true;
    PasidSpace pasid_space = PasidSpace::kFunction;
    Bytes bar_size = Bytes{64} << 10;  ///< BAR 0 of each function
    /// workload.functions: who carries it. kAllFunctions, kVirtualFunctions, or a rising list.
    std::vector<unsigned> carriers = kAllFunctions;
    /// workload.contexts: what a domain is, and how many of them are of one process. [DHI D22]
    ContextKind context_kind = ContextKind::kProcess;
    unsigned contexts_per_process = 1;
  } functions;
  struct {
    unsigned outstanding = 1024;  ///< reads in flight, whole device
    Time issue_interval{0};       ///< between two requests of the engine
    bool relaxed_ordering = false;
    bool id_based_ordering = false;
    bool no_snoop = false;  ///< of reads and writes [TCP-14]
  } dma;
  struct {
    Bytes memory = 0;       ///< of the device, that the ring copies to and from; 0: no ring
    unsigned prefetch = 8;  ///< descriptors that one read brings
  } ring;
  unsigned tag_bits = 10;  ///< 5, 8 or 10 [LNK-9.8]
  struct {
    bool supported = true;  ///< the DVSEC is there [DHI D5]
    bool enabled = true;
    unsigned bits = 8;  ///< handle width, 2..12
    OnMiss on_miss = OnMiss::kStall;
    AllocOrder alloc_order = AllocOrder::kFlush;
    VictimPolicy victim = VictimPolicy::kLru;
    bool prefer_ended = true;  ///< victims whose context has ended go first [DHI D9]
    bool prefer_idle = true;   ///< victims without outstanding request go first
    DeallocMode dealloc = DeallocMode::kImplicit;
    HandleManagement management = HandleManagement::kDevice;
    AllocateAt allocate_at = AllocateAt::kFirstUse;
    HandleContexts contexts = HandleContexts::kOwn;  ///< of domains that are contexts [DHI D22]
    bool trusted = false;                            ///< what its ALLOCs ask for [DHI D19]
    std::uint32_t capabilities = 0;                  ///< 16 bits, likewise [DHI D20]
    HandleStorageConfig storage;
  } dhi;
  AtcConfig atc;
  PriConfig pri;
  CxlDeviceConfig cxl;
  PioConfig pio;
  RdmaConfig rdma;
  SrdmaConfig srdma;
  struct {
    Time clock = Time::from_ns(2);
    Time pipeline = Time::from_ns(20);  ///< engine to link, and link to engine, each
    Time mmio = Time::from_ns(100);     ///< BAR access to its completion
    Time completion_timeout = Time::from_us(50'000);
  } timing;
};

// ---- workload
/// Which hosts of a network send to which, in mode packet and for kind flows. [docs/srdma.md]
enum class FlowPattern : std::uint8_t {
  kPermutation,
  kIncast,
  kAllToAll,
  kRing,   ///< steps of a ring all-reduce
  kSizes,  ///< sizes of workload.sizes between random hosts, at a load
  kTrace
};
struct FlowsConfig {
  FlowPattern pattern = FlowPattern::kPermutation;
  Bytes bytes = 20'000'000;  ///< of a flow
  double load = 0.5;         ///< kSizes: of each host's link
  unsigned count = 10'000;   ///< kSizes: flows
  unsigned queue_pairs = 1;  ///< between two hosts, of one session group [SG-7]
  unsigned parts = 1;        ///< of a flow, by queue pairs in turn
};

/// kFlows: what workload.flows says, by RDMA: each adapter is a host of its network.
enum class WorkloadKind { kPostedWrite, kRead, kReadWrite, kNic, kTrace, kHostile, kFlows };
/// Who makes the requests: the device by DMA or through its cache; or the host by CXL.mem into the
/// device's memory, the device's core there, or each of these two; or the host's cores by PIO; or
/// its software by RDMA.
enum class WorkloadVia { kDma, kCxlCache, kCxlMem, kCxlOwn, kCxlBoth, kPio, kRdma };
/// Does the device send requests of its own account, with identities?
constexpr bool has_requests(WorkloadVia via) {
  return via == WorkloadVia::kDma || via == WorkloadVia::kPio || via == WorkloadVia::kRdma;
}
enum class Arrival { kClosedLoop, kPoisson, kCbr, kOnOff };
enum class DomainChoice { kRoundRobin, kUniform, kZipf, kWorkingSet, kChurn };
/// Where in its domain's buffer the next request goes.
enum class BufferPlacement { kRing, kRandom };
enum class At { kUntranslated, kTranslated, kTranslatedPasid };

struct WorkloadConfig {
  WorkloadKind kind = WorkloadKind::kPostedWrite;
  WorkloadVia via = WorkloadVia::kDma;
  Bytes payload = 64;  ///< bytes per request, when sizes is empty
  std::string sizes;   ///< shipped name or CSV of bytes,cumulative_percent; empty: fixed
  Bytes size_cap = Bytes{64} << 10;  ///< longer messages are cut to this
  std::uint64_t requests = 100'000;  ///< counted requests, after run.warmup
  unsigned domains = 1;
  DomainChoice domain_choice = DomainChoice::kRoundRobin;
  double zipf_exponent = 0.99;
  unsigned working_set = 64;              ///< kWorkingSet: domains per phase
  std::uint64_t phase_requests = 10'000;  ///< kWorkingSet: requests per phase
  double churn =
      0.001;  ///< kChurn: probability per request that a context ends and a new one starts
  double read_fraction = 0.5;  ///< kReadWrite, kNic: share of reads (NIC: of transmits)
  Arrival arrival = Arrival::kClosedLoop;
  double rate_mrps = 1;      ///< open arrivals: mean rate, million requests per second
  std::uint64_t burst = 32;  ///< kOnOff: requests per burst
  At at = At::kUntranslated;
  std::string trace;                    ///< kTrace: CSV time_ns,domain,op,address,bytes
  Bytes buffer_base = Bytes{4} << 30;   ///< first byte of the DMA buffers
  Bytes buffer_size = Bytes{64} << 10;  ///< per domain
  BufferPlacement placement = BufferPlacement::kRing;
  bool real_payload = true;  ///< payload bytes are carried and written
  struct {
    unsigned write = 1, read = 0, send = 0, fetch_add = 0, cas = 0;
    unsigned sum() const { return write + read + send + fetch_add + cas; }
  } rdma;  ///< kRdma: weights of work requests
  FlowsConfig flows;
};

// ---- faults
/// Which transmissions of one direction arrive damaged: ordinals from 1, each transmission (also a
/// replay) counts.
struct DirectionFaults {
  std::vector<std::uint64_t> corrupt_tlps;
  std::vector<std::uint64_t> corrupt_dllps;
};

/// Rules that the model breaks on purpose, to show that the monitors notice (docs/monitors.md).
enum class BrokenRule : std::uint8_t {
  kCredits,
  kSequence,
  kOrdering,
  kTags,
  kCompletion,
  kBoundary4k,
  kByteEnables,
  kAt,
  kHandles,
  kSingleWriter,
  kCxlMessages,
  kRecall,
  kInvalidation
};

struct FaultsConfig {
  DirectionFaults up;
  DirectionFaults down;
  std::uint64_t drop_completions =
      0;  ///< the host drops this many read completions (tests the completion timeout)
  double pio_integrity = 0;        ///< share of packets that fail integrity at egress [PIO-6.7]
  std::uint32_t broken_rules = 0;  ///< a bit for each BrokenRule
  bool breaks(BrokenRule rule) const {
    return (broken_rules >> static_cast<unsigned>(rule) & 1U) != 0;
  }
};

// ---- trace, run
struct LatencyPair {
  std::string name;
  std::string from;  ///< name of a hop
  std::string to;
};

/// What --trace pcapng has.
enum class CaptureOf : std::uint8_t { kAll, kPorts, kLinks };

/// What of a run the traces have. (docs/traces.md)
struct TraceSelection {
  /// What a trace waits for: a unit that is damaged, lost or sent again; a completion without
  /// success, a poisoned TLP or a message of an error; a request that took `slow` or longer.
  enum class Trigger : std::uint8_t { kNone, kFault, kError, kSlow };

  Time from{}, until = Time::never();
  std::vector<std::string> links, types, requesters;  ///< empty: all; requesters as "01:00.0"
  Trigger trigger = Trigger::kNone;
  Time slow{};
  Time before = Time::from_us(1), after = Time::from_us(1);  ///< of the trigger

  bool has_words() const { return !links.empty() || !types.empty() || !requesters.empty(); }
  bool is_everything() const {
    return from == Time{} && until == Time::never() && !has_words() && trigger == Trigger::kNone;
  }
};

struct TraceConfig {
  CaptureOf capture = CaptureOf::kAll;
  std::vector<LatencyPair> latency;          ///< beside dma_read and dma_write
  std::vector<std::uint64_t> hosts;          ///< of mode packet, that are captured; empty: all
  std::map<std::string, std::string> files;  ///< --trace KIND=FILE; not part of the config proper
  TraceSelection selection;                  ///< of all files; likewise
};

enum class MonitorMode { kOn, kOff };

/// What ends a run: its requests, or that figures are known well enough (docs/statistics.md).
enum class RunUntil : std::uint8_t { kRequests, kConverged };
/// Figures that a run may wait for, of the first link and of all requests.
enum class ConvergingFigure : std::uint8_t {
  kUpGoodput,
  kDownGoodput,
  kUpEfficiency,
  kDownEfficiency,
  kReadLatency,
  kWriteLatency
};

struct ConvergedConfig {
  std::uint32_t figures = 1U << static_cast<unsigned>(ConvergingFigure::kUpGoodput);  ///< a set
  double tolerance = 0.01;            ///< of the mean: what the half width of the interval may be
  double confidence = 0.95;           ///< of the interval
  std::uint64_t min_requests = 1000;  ///< counted ones, before anything is known
};

struct RunConfig {
  std::uint64_t seed = 1;
  RunUntil until = RunUntil::kRequests;  ///< of kConverged workload.requests is the most
  ConvergedConfig converged;
  std::uint64_t warmup = 0;                      ///< requests before counting starts
  Time deadlock_after = Time::from_us(100'000);  ///< no progress for so long: exit code 3
  MonitorMode monitors = MonitorMode::kOn;       ///< watch every link (docs/monitors.md)
};

// ---- network
/// What joins the network ports of devices, or hosts (docs/network.md).
enum class NetworkTopology : std::uint8_t {
  kCable,
  kSwitch,
  kDumbbell,
  kLeafSpine,
  kFatTree,
  kGraph
};
/// Adapters of devices with all that is behind them; or hosts that are a network port and the rules
/// of SRDMA alone, for hundreds of them (docs/srdma.md).
enum class NetworkMode : std::uint8_t { kFull, kPacket };
enum class Switching : std::uint8_t { kStoreAndForward, kCutThrough };
/// Of a 5-tuple, by which switches pick one of several ways. [NW-2]
enum class FlowHash : std::uint8_t { kCrc32c, kToeplitz, kXorFold };
/// By what adaptive routing tells ways apart. [NW-5]
enum class AdaptiveMetric : std::uint8_t { kQueue, kUtil };
enum class AdaptiveTie : std::uint8_t { kRandom, kLowest };
/// Plain UDP packets beside the flows. [NW-7]
enum class BackgroundTraffic : std::uint8_t { kNone, kPoisson, kCbr, kOnOff };

/// Of network.graph.
struct NetworkEdgeConfig {
  std::string from, to;             ///< hosts and switches
  std::optional<double> rate_gbps;  ///< none: network.rate
  std::optional<Time> delay;        ///< none: network.timing.hop
};

struct NetworkConfig {
  NetworkTopology topology = NetworkTopology::kCable;
  NetworkMode mode = NetworkMode::kFull;
  unsigned hosts = 16;
  struct {
    unsigned leaves = 4, spines = 4;
  } leaf_spine;
  unsigned dumbbell_links = 1;  ///< between its two switches
  struct {
    std::vector<std::string> switches;  ///< their names
    std::vector<NetworkEdgeConfig> edges;
  } graph;
  double rate_gbps = 100;  ///< of each link
  Switching switching = Switching::kStoreAndForward;
  struct {
    FlowHash hash = FlowHash::kCrc32c;
    bool is_symmetric = false;
    bool is_polarised = false;  ///< all switches with one seed [NW-3]
  } ecmp;
  struct {
    unsigned value = 0x88, mask = 0xfc;  ///< of ToS [NW-4]
    AdaptiveMetric metric = AdaptiveMetric::kQueue;
    AdaptiveTie tie = AdaptiveTie::kRandom;
    Bytes level = 1;  ///< queues within one are alike [NW-5]
    Time flowlet{};   ///< a longer gap is a new choice; 0: each packet is one
    Time util_window = Time::from_us(10);
    bool follows_bth = false;  ///< the baseline bth_ar [CC-9]
  } routing;
  struct {
    bool is_on = true;
    Bytes kmin = 5'000, kmax = 200'000;  ///< [CC-1]
    double pmax = 0.01;
  } ecn;
  struct {
    bool is_on = false;
    Bytes headroom = Bytes{40} << 10;  ///< of a port, beyond XOFF
  } pfc;
  struct {
    BackgroundTraffic kind = BackgroundTraffic::kNone;
    double load = 0.1;                                       ///< of each host's link
    Bytes bytes = 1'000;                                     ///< of a packet's payload
    Time on = Time::from_us(100), off = Time::from_us(100);  ///< mean, kOnOff
  } background;
  struct {
    std::string link;      ///< "leaf0-spine1"; empty: none
    Time at{};             ///< since the start
    Time lasts{};          ///< 0: to the end
    double rate_gbps = 0;  ///< 0: it is down, or as before where it loses packets
    double loss = 0;       ///< share of packets, by chance
  } fault;
  bool allow_cycles = false;  ///< [NW-9]
  struct {
    Bytes queue = Bytes{1} << 20;  ///< of each output port
    struct {
      Time latency = Time::from_ns(500);  ///< from the last bit in to the first bit out
    } timing;
  } switches;
  struct {
    Time hop = Time::from_us(1);         ///< on a link, packet mode
    Time detect = Time::from_us(1'000);  ///< of a link that went down [NW-6]
  } timing;
};

/// All sections; validated. Instances (system.instances) are copies of this whole with their
/// overrides applied.
struct Config {
  SystemConfig system;
  HostConfig host;
  IommuConfig iommu;
  LinkConfig link;
  MessageConfig message;
  DeviceConfig device;
  NetworkConfig network;
  WorkloadConfig workload;
  FaultsConfig faults;
  TraceConfig trace;
  RunConfig run;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>>
      instances;  ///< name -> dotted key, canonical YAML value

  /// Requests of the device's cache name their domains by handle. [CXL-7.4]
  bool has_cxl_handles() const {
    return device.cxl.cache.size > 0 && link.cxl.identity == CxlIdentity::kDhiAdded;
  }
  /// The device does, in TLPs or on CXL.cache.
  bool uses_handles() const { return link.identity == Identity::kDhi || has_cxl_handles(); }
  /// Bits of a handle on D2H Req. [DHI D24]
  std::uint32_t cxl_handle_bits() const {
    return link.cxl.handle_bits > 0 ? link.cxl.handle_bits : device.dhi.bits;
  }
};

}  // namespace flitwise
