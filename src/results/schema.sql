-- Schema of result.sqlite, one run a file: what stands here, and a table for each table of
-- statistics (`flitwise list statistics`). docs/formats/results.md explains the columns.

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
