-- Schema of result.sqlite, one run a file. docs/formats/results.md explains the columns;
-- `flitwise list statistics` gives unit and definition of each.

CREATE TABLE run (
  version TEXT NOT NULL,
  config_sha256 TEXT NOT NULL,
  seed INTEGER NOT NULL,
  simulated_ns REAL NOT NULL,
  host_seconds REAL NOT NULL,
  interrupted INTEGER NOT NULL DEFAULT 0,  -- 1: stopped before its end
  window_began INTEGER NOT NULL DEFAULT 1,  -- 0: stopped in the warm-up or before; nothing measured
  config TEXT NOT NULL                -- the effective config as JSON
) STRICT;

-- One row per link and direction. wire_bytes_* add up to wire_bytes_total.
CREATE TABLE link_direction (
  link TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('up', 'down')),
  tlps INTEGER NOT NULL,
  payload_bytes INTEGER NOT NULL,
  goodput_gbps REAL,                  -- NULL: no TLPs in this direction
  utilisation REAL,
  link_efficiency REAL,
  window_ns REAL NOT NULL,
  wire_bytes_header REAL NOT NULL,
  wire_bytes_identity REAL NOT NULL,
  wire_bytes_payload REAL NOT NULL,
  wire_bytes_padding REAL NOT NULL,
  wire_bytes_framing REAL NOT NULL,
  wire_bytes_crc REAL NOT NULL,
  wire_bytes_dllp REAL NOT NULL,
  wire_bytes_fec REAL NOT NULL,
  wire_bytes_phy REAL NOT NULL,
  wire_bytes_replay REAL NOT NULL,
  wire_bytes_idle REAL NOT NULL,
  wire_bytes_total REAL NOT NULL,
  wire_bits_header INTEGER NOT NULL,  -- wire_bits_*: bit-packed carrier only, else 0
  wire_bits_identity INTEGER NOT NULL,
  wire_bits_payload INTEGER NOT NULL,
  wire_bits_padding INTEGER NOT NULL,
  wire_bits_crc INTEGER NOT NULL,
  wire_bits_total INTEGER NOT NULL,
  stall_ns_credits_posted REAL NOT NULL,
  stall_ns_credits_nonposted REAL NOT NULL,
  stall_ns_credits_completion REAL NOT NULL,
  stall_ns_credits_cxl_req REAL NOT NULL,
  stall_ns_credits_cxl_rsp REAL NOT NULL,
  stall_ns_credits_cxl_data REAL NOT NULL,
  stall_ns_tags REAL NOT NULL,
  stall_ns_replay_buffer REAL NOT NULL,
  stall_ns_handle REAL NOT NULL,
  replays INTEGER NOT NULL,
  replay_events INTEGER NOT NULL,
  naks INTEGER NOT NULL,
  acks INTEGER NOT NULL,
  update_fcs INTEGER NOT NULL,
  skps INTEGER NOT NULL,
  corrupted INTEGER NOT NULL,
  retrains INTEGER NOT NULL,
  flits_corrected INTEGER NOT NULL,
  lost_tlps INTEGER NOT NULL,
  PRIMARY KEY (link, direction)
) STRICT;

CREATE TABLE latency (
  name TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  unit TEXT NOT NULL,
  mean REAL NOT NULL,
  min REAL NOT NULL,
  p50 REAL NOT NULL,
  p90 REAL NOT NULL,
  p99 REAL NOT NULL,
  p999 REAL NOT NULL,
  max REAL NOT NULL
) STRICT;

-- One row per device with a handle table.
CREATE TABLE dhi (
  device TEXT PRIMARY KEY,
  lookups INTEGER NOT NULL,
  hits INTEGER NOT NULL,
  allocs INTEGER NOT NULL,
  deallocs INTEGER NOT NULL,
  evictions INTEGER NOT NULL,
  bypasses INTEGER NOT NULL,
  stall_ns REAL NOT NULL,
  rejected INTEGER NOT NULL,
  wrong_domain INTEGER NOT NULL,
  tlps_per_residency REAL NOT NULL,
  flushes INTEGER NOT NULL,
  acks INTEGER NOT NULL,
  handles_kept INTEGER NOT NULL
) STRICT;

CREATE TABLE dhi_rejection (
  device TEXT NOT NULL,
  kind TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (device, kind)
) STRICT;

-- One row per translation agent.
CREATE TABLE iommu (
  name TEXT PRIMARY KEY,
  requests INTEGER NOT NULL,
  translated_requests INTEGER NOT NULL, -- of them: AT=10, which are not looked up
  iotlb_hits INTEGER NOT NULL,        -- answered by the caches
  iotlb_misses INTEGER NOT NULL,
  iotlb_misses_under_miss INTEGER NOT NULL, -- whose page a walk is due for already
  walks INTEGER NOT NULL,
  walk_reads INTEGER NOT NULL,        -- of tables in host memory
  faults INTEGER NOT NULL,
  invalidations INTEGER NOT NULL,
  device_invalidations INTEGER NOT NULL,  -- Invalidate Requests sent to devices
  held_back INTEGER NOT NULL,             -- of them: had to wait for room at their function
  page_requests INTEGER NOT NULL,
  page_requests_dropped INTEGER NOT NULL,
  permission_checks INTEGER NOT NULL, -- of translated requests, with Secure ATS
  permission_denied INTEGER NOT NULL,
  permission_reads INTEGER NOT NULL,  -- of permission tables
  maps INTEGER NOT NULL,                  -- by its driver, as all that follow; pages
  unmaps INTEGER NOT NULL,
  late_accesses INTEGER NOT NULL,         -- to pages that were unmapped, but not invalidated yet
  page_requests_served INTEGER NOT NULL,
  page_requests_refused INTEGER NOT NULL,
  faults_taken INTEGER NOT NULL,
  teardowns INTEGER NOT NULL              -- contexts ended
) STRICT;

-- One row per function whose ATC was ever enabled or invalidated.
CREATE TABLE ats (
  function TEXT PRIMARY KEY,          -- ep0.0
  requests INTEGER NOT NULL,          -- Translation Requests sent
  hits INTEGER NOT NULL,              -- TLPs, at their first look-up
  misses INTEGER NOT NULL,
  misses_under_miss INTEGER NOT NULL, -- that waited for a translation that was due already
  invalidations INTEGER NOT NULL,     -- Invalidate Requests taken
  page_requests INTEGER NOT NULL      -- Page Requests sent
) STRICT;

-- One row per queue: waits that are over.
CREATE TABLE wait (
  place TEXT NOT NULL,                -- iommu0
  resource TEXT NOT NULL,             -- walkers
  count INTEGER NOT NULL,             -- who had to wait
  wait_ns REAL NOT NULL,              -- all of them together
  PRIMARY KEY (place, resource)
) STRICT;

-- One row per device with a cache for lines of the host (CXL.cache).
CREATE TABLE cxl_cache (
  device TEXT PRIMARY KEY,            -- ep0
  reads INTEGER NOT NULL,             -- lines that the core asked for
  writes INTEGER NOT NULL,
  hits INTEGER NOT NULL,              -- of them, without a word to the home
  evictions INTEGER NOT NULL,
  snoops INTEGER NOT NULL,            -- answered
  snoops_modified INTEGER NOT NULL,        -- of them, with a line that it had modified
  bogus INTEGER NOT NULL              -- evictions overtaken by a snoop
) STRICT;

-- One row per device whose memory host and device both cache (HDM-DB).
CREATE TABLE cxl_hdm_db (
  device TEXT PRIMARY KEY,             -- ep0
  host_reads INTEGER NOT NULL,         -- lines that the host's cores asked for
  host_writes INTEGER NOT NULL,
  host_hits INTEGER NOT NULL,          -- of them, without a word to the device
  host_evictions INTEGER NOT NULL,
  device_reads INTEGER NOT NULL,       -- lines that the device's core asked for
  device_writes INTEGER NOT NULL,
  device_hits INTEGER NOT NULL,        -- of them, in its cache
  back_invalidations INTEGER NOT NULL, -- BISnp sent
  write_backs INTEGER NOT NULL,        -- lines that the host wrote for one
  conflicts_early INTEGER NOT NULL,    -- a request of the host that the device had not served
  conflicts_late INTEGER NOT NULL      -- one that it had
) STRICT;

-- What hostile devices tried, by kind; empty where no device is hostile.
CREATE TABLE attack (
  attack TEXT PRIMARY KEY,
  tried INTEGER NOT NULL,             -- TLPs that reached a switch or root port above the device
  through INTEGER NOT NULL            -- of them: got what is not their device's
) STRICT;

CREATE TABLE error (
  kind TEXT PRIMARY KEY,
  count INTEGER NOT NULL
) STRICT;

CREATE TABLE check_result (
  name TEXT PRIMARY KEY,
  ok INTEGER NOT NULL,                -- 1: holds
  detail TEXT NOT NULL
) STRICT;

-- Rules that a protocol monitor saw broken, the first of each link.
CREATE TABLE violation (
  rule TEXT NOT NULL,                 -- its id in docs/rules
  sentence TEXT NOT NULL,
  link TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('up', 'down')),
  time_ns REAL NOT NULL,
  packet TEXT NOT NULL,
  other TEXT NOT NULL                 -- the packet, or the state, that it goes against
) STRICT;
