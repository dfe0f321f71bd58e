"""What tshark shows of links, with the dissector that comes with the program, against the model's own fields.

wireshark.py fields: the columns for tshark; wireshark.py compare TSHARK.tsv TRACE.db: prints how many TLPs agreed.
"""
import sqlite3
import sys

COLUMNS = ["frame.interface_name", "flitwise.up", "flitwise.uid", "flitwise.first_ps", "flitwise.last_ps", "flitwise.sequence", "flitwise.replay",
           "flitwise.damaged", "flitwise.lost", "flitwise.in_flit", "flitwise.unit", "flitwise.tlp.type", "flitwise.tlp.requester",
           "flitwise.tlp.completer", "flitwise.tlp.tag", "flitwise.tlp.address", "flitwise.tlp.length", "flitwise.tlp.first_be", "flitwise.tlp.last_be",
           "flitwise.tlp.tc", "flitwise.tlp.at", "flitwise.tlp.ro", "flitwise.tlp.ido", "flitwise.tlp.ns", "flitwise.tlp.id_is_handle",
           "flitwise.tlp.pasid", "flitwise.tlp.status", "flitwise.tlp.byte_count", "flitwise.tlp.lower_address", "flitwise.tlp.message",
           "flitwise.dllp.type", "flitwise.tlp.request_in", "flitwise.tlp.completion_in", "_ws.lua.error"]
SQL = """SELECT link, direction = 'up', uid, first_ps, last_ps, sequence, is_replay, is_damaged, is_lost, in_flit, type, requester_id, completer_id, tag,
address, length_dw, first_be, last_be, tc, at, relaxed_ordering, id_based_ordering, no_snoop, is_handle, pasid, status, byte_count,
lower_address, message_code FROM unit ORDER BY rowid"""
NAMES = ["link", "up", "uid", "first_ps", "last_ps", "sequence", "replay", "damaged", "lost", "in_flit", "type", "requester", "completer", "tag", "address",
         "length", "first_be", "last_be", "tc", "at", "ro", "ido", "ns", "id_is_handle", "pasid", "status", "byte_count", "lower_address", "message"]


def number(text):
    if text in ("True", "1"):
        return 1
    if text in ("False", "0"):
        return 0
    return int(text, 0)


def compare(tsv, path):
    lines = [line.rstrip("\n").split("\t") for line in open(tsv)]
    seen = {}
    for line in lines:
        shown = dict(zip(COLUMNS, line + [""] * (len(COLUMNS) - len(line))))
        assert not shown["_ws.lua.error"], shown["_ws.lua.error"]
        key = (shown["frame.interface_name"], number(shown["flitwise.up"]), int(shown["flitwise.uid"]), int(shown["flitwise.first_ps"]))
        seen.setdefault(key, []).append(shown)
        arrives = not any(number(shown["flitwise." + flag]) for flag in ("replay", "damaged", "lost"))
        if shown["flitwise.tlp.type"].startswith("Cpl") and arrives:
            assert shown["flitwise.tlp.request_in"], ("names no request", shown)
            request = lines[int(shown["flitwise.tlp.request_in"]) - 1]
            for name, same in (("frame.interface_name", True), ("flitwise.tlp.tag", True), ("flitwise.up", False)):
                place = COLUMNS.index(name)
                assert (request[place] == line[place]) == same, (name, request, line)
    tlps = 0
    for row in sqlite3.connect(path).execute(SQL):
        own = dict(zip(NAMES, row))
        shown = seen[own["link"], own["up"], own["uid"], own["first_ps"]].pop(0)
        for name in ("last_ps", "sequence", "replay", "damaged", "lost", "in_flit"):
            assert number(shown["flitwise." + name]) == own[name], (name, own, shown)
        if own["requester"] is None:
            if shown["flitwise.unit"] == "3" and shown["flitwise.dllp.type"]:
                assert shown["flitwise.dllp.type"] == own["type"], (own, shown)
            continue
        assert shown["flitwise.tlp.type"] == own["type"], (own, shown)
        is_answer, is_message = own["type"].startswith("Cpl"), own["type"].startswith("Msg")
        is_flit = shown["flitwise.unit"] == "1"
        left_out = set()
        if is_answer or is_message or own["type"].startswith("Cfg"):
            left_out |= {"address"}
        if is_answer or is_message:
            left_out |= {"first_be", "last_be"}
        if is_flit and (is_answer or is_message or own["type"].startswith("Cfg")):
            left_out |= {"at"}  # no place for it
        for name in NAMES[11:]:
            text, due = shown["flitwise.tlp." + name], own[name]
            if name in left_out:
                continue
            if name in ("requester", "completer"):
                assert text == (due or ""), (name, own, shown)
            elif due is None:
                assert text == "", (name, own, shown)
            else:
                assert text != "" and number(text) == due, (name, text, own, shown)
        tlps += 1
    print(tlps)


if sys.argv[1] == "fields":
    print(" ".join("-e " + column for column in COLUMNS[:-1]))
else:
    compare(sys.argv[2], sys.argv[3])
