"""Traces in the eyes of readers that share nothing with the program: Perfetto's wire format, VCD, SQLite, pcapng.

traces.py perfetto|vcd|sqlite|pcapng FILE PACKETS.csv [RESULT.json]: held against the CSV trace of the same run.
"""
import collections
import csv
import json
import sqlite3
import struct
import sys


def packets(path):
    return list(csv.DictReader(open(path)))


def ps(text):
    whole, _, rest = text.partition(".")
    return int(whole) * 1000 + int((rest + "000")[:3])


# ---- Perfetto: Trace.packet = 1; numbers of fields as in its public .proto files
def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError("wire type %d" % kind)
        yield key >> 3, value


def first(data, number, default=None):
    return next((value for key, value in fields(data) if key == number), default)


def notes(event):
    """What is noted beside a slice: numbers by name."""
    return {first(note, 10).decode(): first(note, 3) for key, note in fields(event) if key == 4}


def perfetto(path, rows, result):
    tracks, events = {}, []
    for number, packet in fields(open(path, "rb").read()):
        assert number == 1, "a field %d beside packets" % number
        assert first(packet, 10) == 1, "no sequence"
        descriptor = first(packet, 60)
        if descriptor is not None:
            process = first(descriptor, 3)
            name = first(process, 6) if process is not None else first(descriptor, 2)
            tracks[first(descriptor, 1)] = (name.decode(), first(descriptor, 5), first(descriptor, 8) is not None)
            continue
        event = first(packet, 11)
        assert first(event, 11) in tracks, "an event of no track"
        events.append((first(packet, 8), event))
    by_track = collections.defaultdict(list)
    flows = collections.defaultdict(list)
    for order, (at, event) in enumerate(events):
        track, kind = first(event, 11), first(event, 9)
        name, parent, is_counter = tracks[track]
        assert (kind == 4) == is_counter, "a counter value on a row of slices, or the other way round"
        assert parent in tracks and tracks[parent][1] is None, name
        by_track[track].append((at, order, kind, event))
        for key, value in fields(event):
            if key == 47:
                flows[value].append((at, name))
    units = collections.Counter()
    for track, list_of in by_track.items():
        name = tracks[track][0]
        list_of.sort(key=lambda one: one[:2])
        open_slices = []
        for at, _, kind, event in list_of:
            if kind == 1:
                units[name] += 1
                assert not open_slices, "%s: slices overlap at %d" % (name, at)
                open_slices.append(at)
            elif kind == 2:
                assert open_slices and open_slices.pop() <= at, "%s: an end without a begin" % name
            elif kind == 3:
                units[name] += 1
            if kind in (1, 3):
                assert first(event, 23), "a slice without a name"
        assert not open_slices, "%s: slices that never end" % name
        if "non-posted requests out" in name and list_of:
            assert first(list_of[-1][3], 30) == 0, "%s: requests are out at the end" % name
    for direction in ("up", "down"):
        due = sum(row["direction"] == direction for row in rows)
        assert units[direction + " wire"] == due, (direction, units, due)
    # On each link an arrow leads from the request to each completion that arrives, of the same tag.
    requests, answers = {}, 0
    for _, event in events:
        name, group, _ = tracks[first(event, 11)]
        flow = [value for key, value in fields(event) if key == 47]
        kind = (first(event, 23) or b"").decode()
        noted = notes(event)
        if name not in ("up wire", "down wire") or "tag" not in noted:
            continue
        if not kind.startswith("Cpl"):
            assert flow == [noted["uid"]], (name, kind, flow, noted)
            requests[group, flow[0]] = noted["tag"]
        elif not {"replay", "damaged", "lost"} & set(noted):
            assert len(flow) == 1 and requests.get((group, flow[0])) == noted["tag"], (tracks[group][0], kind, flow, noted)
            answers += 1
    due = sum(row["type"].startswith("Cpl") and row["replay"] == "0" and row["damaged"] == "0" for row in rows)
    assert answers == due, (answers, due)
    assert units["line"] or (units["wire to receiver"] > 0 and units["memory"] + units["memory to requester"] > 0), units


# ---- VCD
def requests_out(base, link, direction):
    """Requests without their last completion from each time on, by the units in the SQLite trace."""
    events = []
    for way, kind, begin, end, requester, tag, dw, count, lower, status, bad, again, is_handle in base.execute(
            "SELECT direction, type, first_ps, last_ps, requester_id, tag, length_dw, byte_count, lower_address, status, is_damaged OR is_lost,"
            " is_replay, is_handle FROM unit WHERE link = ? AND tag IS NOT NULL", (link,)):
        if way == direction and kind in ("MRd", "FetchAdd", "Swap", "CAS", "DMWr", "CfgRd0", "CfgWr0", "CfgRd1", "CfgWr1") and not again:
            # All handles here are of one function, so that the tag alone tells them apart.
            events.append((begin, 1, ("handle" if is_handle else requester, tag)))
        elif way != direction and kind in ("Cpl", "CplD") and not bad and (status or kind == "Cpl" or count + lower % 4 <= 4 * dw):
            events.append((end, 0, (requester, tag)))
    out, times = set(), {}
    for at, is_request, (who, tag) in sorted(events):
        if is_request:
            out.add((who, tag))
        else:
            out -= {(who, tag), ("handle", tag)}
        times[at] = len(out)
    return times


def vcd(path, rows, result):
    lines = open(path).read().split("\n")
    scope, names, at = [], {}, 0
    busy = collections.defaultdict(int)
    since = {}
    last = -1
    values = collections.defaultdict(dict)
    for line in lines:
        words = line.split()
        if not words:
            continue
        if words[0] == "$scope":
            scope.append(words[2])
        elif words[0] == "$upscope":
            scope.pop()
        elif words[0] == "$var":
            assert words[3] not in names, "an identifier twice"
            names[words[3]] = (scope[-1], words[4])
        elif words[0].startswith("#"):
            at = int(words[0][1:])
            assert at > last, "time goes back at %d" % at
            last = at
        elif words[0][0] in "01":
            place = names[words[0][1:]]
            if place[1] == "busy":
                if words[0][0] == "1":
                    since[place] = at
                else:
                    busy[place[0]] += at - since.pop(place)
        elif not words[0].startswith("$"):
            assert words[1] in names, line
            if words[0][0] == "b":
                values[names[words[1]]][at] = int(words[0][1:], 2)
    assert lines[0] == "$timescale 1 ps $end"
    assert not since, "a wire is busy at the end"
    for link in {row["link"] for row in rows}:
        for direction in ("up", "down"):
            own = [row for row in rows if (row["link"], row["direction"]) == (link, direction)]
            spans = sorted({(ps(row["first_ns"]), ps(row["last_ns"])) for row in own})
            due = until = 0
            for begin, end in spans:  # units may share a symbol time
                due += max(0, end - max(begin, until))
                until = max(until, end)
            seen = busy["%s_%s" % (link, direction)]
            assert abs(seen - due) <= len(spans), (link, direction, seen, due)
    base = sqlite3.connect(path[:-4] + ".db")
    for link, direction in {(row["link"], row["direction"]) for row in rows}:
        scope = "%s_%s" % (link, direction)
        due, seen = requests_out(base, link, direction), values[scope, "requests_out"]
        out = shown = 0
        for at in sorted(set(due) | set(seen)):
            out, shown = due.get(at, out), seen.get(at, shown)
            assert out == shown, "%s at %d: %d requests are out, not %d" % (scope, at, out, shown)
        # No more is ever left than the receiver has in all.
        for kind in ("posted", "nonposted", "completion"):
            most = result["config"]["link"]["credits"][kind + "_headers"]
            left = values[scope, kind + "_header_credits"].values()
            assert most == "infinite" or all(value <= most for value in left), (scope, kind, most, max(left))


# ---- SQLite
def sqlite(path, rows, result):
    base = sqlite3.connect(path)
    units = base.execute("SELECT link, direction, type, uid, first_ps, last_ps, requester_id, tag, address, length_dw, pasid, payload_bytes, is_replay FROM unit ORDER BY rowid").fetchall()
    assert len(units) == len(rows), (len(units), len(rows))
    for unit, row in zip(units, rows):
        link, direction, kind, uid, begin, end, requester, tag, address, dw, pasid, payload, replay = unit
        assert (link, direction, kind, uid) == (row["link"], row["direction"], row["type"], int(row["uid"])), (unit, row)
        assert abs(begin - ps(row["first_ns"])) <= 1 and abs(end - ps(row["last_ns"])) <= 1, (unit, row)
        assert (payload, replay) == (int(row["payload_bytes"]), int(row["replay"]))
        if row["requester_id"]:
            assert (requester, tag, dw) == (row["requester_id"], int(row["tag"]), int(row["length_dw"]))
            assert address is None or address == int(row["address"], 16), (unit, row)
            assert str("" if pasid is None else pasid) == row["pasid"]
    # A second way to the latencies: from issue to the end of each counted request of one TLP.
    for kind, name in (("MRd", "dma_read"), ("MWr", "dma_write_tlp")):
        due = next(one for one in result["latency"] if one["name"] == name)
        counted = base.execute("SELECT count(*), avg(done_ps - issue_ps) FROM request WHERE type = ? AND is_counted", (kind,)).fetchone()
        if counted[0] and kind == "MWr":
            assert counted[0] == due["count"], (kind, counted, due)
            assert abs(counted[1] / 1000 - due["mean"]) < 0.01 * due["mean"], (counted, due)
    stamps = base.execute("SELECT issue_ps, handle_ps, queued_ps, sent_ps, received_ps, resolved_ps, memory_ps, completed_ps FROM request").fetchall()
    for one in stamps:
        known = [at for at in one if at is not None]
        assert known == sorted(known), one
    assert base.execute("SELECT count(*) FROM request WHERE link IS NULL AND type IN ('MRd', 'MWr')").fetchone()[0] == 0


# ---- pcapng
def blocks(data):
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0 and struct.unpack_from("<I", data, at + length - 4)[0] == length
        yield kind, data[at + 8 : at + length - 4]
        at += length


TYPES = {(0, 0): "MRd", (1, 0): "MRd", (2, 0): "MWr", (3, 0): "MWr", (0, 10): "Cpl", (2, 10): "CplD", (0, 4): "CfgRd0",
         (2, 4): "CfgWr0", (0, 5): "CfgRd1", (2, 5): "CfgWr1"}


def tlp_fields(data):
    """Of a TLP of non-flit mode: type, length, requester, tag, address, PASID, by the layout of the base specification."""
    pasid, at = "", 0
    while data[at] >> 5 == 4:
        if data[at] & 0x1F == 0x11:
            pasid = str(struct.unpack_from(">I", data, at)[0] & 0xFFFFF)
        at += 4
    fmt, kind = data[at] >> 5, data[at] & 0x1F
    dws = struct.unpack_from(">4I", data[at : at + 16] + bytes(4))
    name = TYPES.get((fmt, kind), "Msg" if kind & 0x18 == 0x10 else "?")
    length = dws[0] & 0x3FF or (1024 if name in ("MRd", "MWr", "CplD") else 0)
    tag = (dws[0] >> 23 & 1) << 9 | (dws[0] >> 19 & 1) << 8
    if name.startswith("Cpl"):
        return name, length, dws[2] >> 16, tag | (dws[2] >> 8 & 0xFF), None, pasid
    address = dws[2] << 32 | dws[3] & ~3 if fmt & 1 else dws[2] & ~3
    return name, length, dws[1] >> 16, tag | (dws[1] >> 8 & 0xFF), address, pasid


def pcapng(path, rows, result):
    links, units = [], []
    for kind, body in blocks(open(path, "rb").read()):
        if kind == 1:
            size = struct.unpack_from("<H", body, 10)[0]
            links.append((struct.unpack_from("<H", body)[0], body[12 : 12 + size].decode()))
        elif kind == 6:
            port, count = struct.unpack_from("<I", body)[0], struct.unpack_from("<I", body, 12)[0]
            if links[port][0] == 252:
                units.append((links[port][1], body[20 : 20 + count]))
    assert len(units) == len(rows), (len(units), len(rows))
    seen = collections.defaultdict(list)
    for link, data in units:
        tag, size = struct.unpack_from(">HH", data)
        assert tag == 12 and data[4 : 4 + size] == b"flitwise"
        head = data[4 + size + 4 :]
        version, kind, flags, _, sequence, _, uid, begin, end = struct.unpack_from(">BBBBHHQQQ", head)
        assert version == 1
        seen[link, "up" if flags & 1 else "down", uid, begin].append((kind, flags, sequence, end, head[32:]))
    tlps = 0
    for row in rows:
        candidates = seen[row["link"], row["direction"], int(row["uid"]), ps(row["first_ns"])]
        assert candidates, row
        kind, flags, sequence, end, data = candidates.pop(0)
        assert abs(end - ps(row["last_ns"])) <= 1 and sequence == int(row["sequence"]) and (flags >> 1 & 1) == int(row["replay"])
        if kind == 0 and not row["type"].startswith("Msg"):
            name, length, requester, number, address, pasid = tlp_fields(data)
            assert name == row["type"] and number == int(row["tag"]), (row, name, number)
            assert "%02x:%02x.%x" % (requester >> 8, requester >> 3 & 31, requester & 7) == row["requester_id"], (row, requester)
            assert length == int(row["length_dw"]) or name in ("Cpl",), (row, length)
            assert address is None or name.startswith("Cfg") or address == int(row["address"], 16), (row, address)
            assert pasid == row["pasid"], (row, pasid)
            tlps += 1
    print(tlps)


{"perfetto": perfetto, "vcd": vcd, "sqlite": sqlite, "pcapng": pcapng}[sys.argv[1]](
    sys.argv[2], packets(sys.argv[3]), json.load(open(sys.argv[4])) if len(sys.argv) > 4 else None)
