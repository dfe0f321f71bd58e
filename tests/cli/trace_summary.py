"""What `flitwise trace --json` says of a SQLite trace, reckoned a second way from its tables and held against the results.

trace_summary.py SUMMARY.json TRACE.db RESULT.json
"""
import collections
import json
import sqlite3
import sys

summary, result = (json.load(open(path)) for path in (sys.argv[1], sys.argv[3]))
base = sqlite3.connect(sys.argv[2])
rows = base.execute("SELECT uid, type, is_counted, issue_ps, done_ps FROM request").fetchall()
has_measured = any(row[2] for row in rows)
summed = {row[0]: row[4] - row[3] for row in rows if row[4] is not None and (row[2] or not has_measured)}

# Stalls add up to the latencies, which those of the results agree with.
assert summary["total_ps"] == sum(summed.values()) == sum(stall["total_ps"] for stall in summary["stalls"])
for kind in summary["transactions"]:
    own = [row for row in rows if row[1] == kind["type"]]
    assert kind["over"] == len(own) and kind["measured"] == sum(row[2] for row in own), kind
    times = sorted(summed[row[0]] for row in own if row[0] in summed)
    assert kind["summed"] == len(times)
    if times:
        assert kind["max_ps"] == times[-1] and abs(kind["mean_ps"] * len(times) - sum(times)) < 1e-6 * sum(times) + 1
        assert times[0] <= kind["p50_ps"] <= kind["p99_ps"] <= times[-1]
    due = next((one for one in result["latency"] if one["name"] == {"MRd": "dma_read", "MWr": "dma_write_tlp"}.get(kind["type"])), None)
    if due and due["count"] == kind["summed"]:
        assert abs(kind["mean_ps"] / 1000 - due["mean"]) < 1e-9 * due["mean"] + 1e-3, (kind, due)

# Counts are those of the tables and, where all is measured, of the results. A wire is busy while any unit is on it.
for wire in summary["wires"]:
    place = (wire["link"], wire["direction"])
    units = base.execute("SELECT type, count(*), sum(is_replay), sum(is_damaged), sum(is_lost), total(payload_bytes * (1 - is_replay)), "
                         "total(identity_bits * (1 - is_replay)) FROM unit WHERE link = ? AND direction = ? GROUP BY type", place).fetchall()
    said = {(u["type"], u["count"], u["again"], u["damaged"], u["lost"], u["payload_bytes"], u["identity_bits"]) for u in wire["units"]}
    assert said == set(units), (place, said, units)
    busy = until = 0
    for first, last in base.execute("SELECT first_ps, last_ps FROM unit WHERE link = ? AND direction = ? ORDER BY first_ps", place):
        busy += max(0, last - max(first, until))
        until = max(until, last)
    assert wire["busy_ps"] == busy, (place, wire["busy_ps"], busy)
    due = next(one for one in result["links"] if one["name"] == wire["link"])[wire["direction"]]
    tlps = base.execute("SELECT count(*) FROM unit WHERE link = ? AND direction = ? AND tag IS NOT NULL AND NOT is_replay", place).fetchone()[0]
    has_others = any(" " in unit["type"] or unit["type"] == "message" for unit in wire["units"])  # lines, or bit-packed
    if not has_others and all(row[2] for row in rows):
        assert due["tlps"] == tlps, (place, due["tlps"], tlps)
        assert due["payload_bytes"] == sum(unit["payload_bytes"] for unit in wire["units"]), place

# The slowest are the slowest, and steps lead from the issue to the end without a gap.
times = [one["latency_ps"] for one in summary["slowest"]]
assert times == sorted(summed.values(), reverse=True)[: len(times)], times
for one in summary["slowest"]:
    at = one["issue_ps"]
    for step in one["steps"]:
        assert step["from_ps"] == at < step["until_ps"], (one["uid"], step)
        at = step["until_ps"]
    assert at == one["done_ps"] and sum(s["until_ps"] - s["from_ps"] for s in one["steps"]) == one["latency_ps"] == summed[one["uid"]]
    assert len(one["units"]) == base.execute("SELECT count(*) FROM unit WHERE uid = ?", (one["uid"],)).fetchone()[0]
    # A read has all its bytes from the completions that were found, once each, on each link of its way.
    if one["type"] == "MRd":
        came = collections.defaultdict(dict)
        for unit in one["completions"]:
            came[unit["link"]][unit["uid"]] = base.execute("SELECT payload_bytes FROM unit WHERE uid = ?", (unit["uid"],)).fetchone()[0]
        assert set(came) == {unit["link"] for unit in one["units"]}, one["uid"]
        assert all(sum(sizes.values()) == 4 * one["length_dw"] for sizes in came.values()), (one["uid"], came)
print(len(summary["slowest"]))
