"""Reads captures of pcapng_test.sh block by block, apart from the program's own code.

  pio FILE RESULT       compares ports, counts and times with the result of two devices that send by PIO to each other
  rdma FILE RESULT      the same of two RDMA adapters, by a cable of 100 Gb/s and 123 ns
  srdma FILE RESULT     the same of two RDMA adapters with session groups: tuples, ICRCs and packets of each session
  epochs FILE           prints the highest epoch of a key that a frame of a secured session has
  tshark FILE TSV       compares with the fields that tshark prints of each packet
  roce FILE TSV         compares with those that it prints of each RoCEv2 frame
  cable FILE RESULT     what a bad cable of 123 ns has done, as its two ends show it, against the errors of the result
  network FILE RESULT   what five adapters and the ports of their switch have sent and taken, against the result; cables of 500 ns
  outbound FILE PCAP    writes what left its port into another capture, of Ethernet alone; prints how many that are
"""

import json
import struct
import sys
import zlib

OPTION_NAMES = {1: {2: "name", 3: "description", 9: "tsresol", 13: "fcslen"}, 6: {1: "comment", 2: "flags", 5: "id"}}


def options_of(block, at, names):
    found = {}
    while True:
        code, length = struct.unpack_from("<HH", block, at)
        if code == 0:
            assert length == 0 and at + 4 == len(block), "options that do not end with their block"
            return found
        assert block[at + 4 + length:at + 4 + (length + 3) // 4 * 4].strip(b"\0") == b"", "padding that is not zero"
        found[names[code]] = block[at + 4:at + 4 + length]
        at += 4 + (length + 3) // 4 * 4


def read(path):
    """Ports and packets of a file, each a dict."""
    data = open(path, "rb").read()
    ports, packets, at = [], [], 0
    assert struct.unpack_from("<IIIHHq", data) == (0x0a0d0d0a, struct.unpack_from("<I", data, 4)[0], 0x1a2b3c4d, 1, 0, -1)
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0 and struct.unpack_from("<I", data, at + length - 4)[0] == length, f"length at {at}"
        block = data[at + 8:at + length - 4]
        at += length
        if kind == 1:
            link_type, _, limit = struct.unpack_from("<HHI", block)
            options = options_of(block, 8, OPTION_NAMES[1])
            assert limit == 0 and options["tsresol"] == b"\x09"
            ports.append({"type": link_type, "name": options["name"].decode(), "description": options["description"].decode()})
        elif kind == 6:
            port, high, low, captured, original = struct.unpack_from("<IIIII", block)
            options = options_of(block, 20 + (captured + 3) // 4 * 4, OPTION_NAMES[6])
            whole, fraction = options["comment"].decode().removesuffix(" ps").split(".")
            assert captured == original and len(fraction) == 3
            packets.append({"port": port, "ns": high << 32 | low, "fs": int(whole + fraction), "bytes": block[20:20 + captured],
                            "comment": options["comment"].decode(), "flags": struct.unpack("<I", options["flags"])[0],
                            "id": struct.unpack("<Q", options["id"])[0]})
        else:
            assert kind == 0x0a0d0d0a and not ports, f"block of type {kind}"
    return ports, packets


def check_times(packets):
    """Stamps are those of the comments; each frame is one packet out and one in, ids in the order of sending."""
    assert all(packet["ns"] == packet["fs"] // 10**6 for packet in packets), "a stamp that is not its comment"
    times = [packet["fs"] for packet in packets]
    assert times == sorted(times), "times that fall"
    sent = {packet["id"]: packet for packet in packets if packet["flags"] == 2}  # in the order of the file
    came = {packet["id"]: packet for packet in packets if packet["flags"] == 1}
    assert len(sent) + len(came) == len(packets) and sorted(sent) == list(range(1, len(sent) + 1))
    assert set(came) <= set(sent) and all(sent[i]["bytes"] == came[i]["bytes"] for i in came)
    return sent, came


def check_wire(ports, sent, came, propagation, fs_of):
    """The wire takes one frame at a time at each port, for fs_of(frame), and each arrives after the same time."""
    assert all(came[i]["fs"] - sent[i]["fs"] == propagation and came[i]["port"] == 1 - sent[i]["port"] for i in came)
    for port in range(len(ports)):
        ends = [(packet["fs"], packet["fs"] - fs_of(packet["bytes"])) for packet in sent.values() if packet["port"] == port]
        assert all(begin >= end for (end, _), (_, begin) in zip(ends, ends[1:])), "frames overlap on the wire"


def count(packets, port):
    return sum(packet["port"] == port for packet in packets.values())


def compare_pio(path, result_path):
    result = json.load(open(result_path))
    ports, packets = read(path)
    assert [(port["name"], port["type"]) for port in ports] == [("ep0", 147), ("ep1", 147)], ports
    assert [port["description"] for port in ports] == ["network port of ep0 of h0, below rp0", "network port of ep1 of h0, below rp1"], ports
    sent, came = check_times(packets)
    assert {len(packet["bytes"]) for packet in sent.values()} == {1020}
    check_wire(ports, sent, came, 50 * 10**6, lambda frame: (len(frame) + 4) * 8 * 5000)  # an ICRC more; 200 Gb/s
    assert [row["packets"] for row in result["pio"]] == [count(sent, 0), count(sent, 1)]
    assert [row["packets"] for row in result["pio_receive"]] == [count(came, 0), count(came, 1)]
    print(f"{len(sent)} frames left, {len(came)} came")


def compare_rdma(path, result_path):
    result = json.load(open(result_path))
    ports, packets = read(path)
    assert [(port["name"], port["type"]) for port in ports] == [("ep0", 1), ("ep1", 1)], ports
    assert [port["description"] for port in ports] == ["network port of ep0 of h0, below rp0", "network port of ep1 of h1, below h1.rp0"], ports
    sent, came = check_times(packets)
    check_wire(ports, sent, came, 123 * 10**6, lambda frame: (max(len(frame), 60) + 24) * 8 * 10**4)
    assert [(row["sent_frames"], row["received_frames"]) for row in result["hca"]] == [(count(sent, port), count(came, port)) for port in (0, 1)]
    assert len(packets) >= 10000, len(packets)
    print(f"{len(sent)} frames left, {len(came)} came")


def icrc_of(frame):
    """Of IPv4 without options: what switches change counts as ones."""
    masked = bytearray(frame[14:-4])
    for at in (1, 8, 10, 11, 26, 27, 32):
        masked[at] = 0xff
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


def compare_srdma(path, result_path):
    result = json.load(open(result_path))
    ports, packets = read(path)
    sent, _ = check_times(packets)
    rows = {(group["device"], row["src_port"], row["dst_port"]): row["packets"] for group in result["srdma"] for row in group["sessions"]}
    requests, control = dict.fromkeys(rows, 0), 0
    for packet in sent.values():
        frame = packet["bytes"]
        source, destination = struct.unpack_from(">HH", frame, 34)
        if (source, destination) == (4791, 4791):
            control += 1
            continue
        assert (ports[packet["port"]]["name"], source, destination) in rows, (source, destination)
        assert frame[-4:] == icrc_of(frame), "an ICRC that is wrong"
        opcode = frame[42]
        is_probe = opcode == 0x0a and len(frame) == 42 + 12 + 16 + 4
        if (opcode <= 0x0c or opcode >= 0x13) and opcode < 0x80 and not is_probe:
            requests[ports[packet["port"]]["name"], source, destination] += 1
    assert requests == rows, (requests, rows)
    assert control >= 3, control
    print(f"{len(sent)} frames left, {control} of them control messages")


def print_epochs(path):
    _, packets = read(path)
    print(max(struct.unpack_from(">H", packet["bytes"], 44)[0] for packet in packets if packet["bytes"][34:38] != b"\x12\xb7\x12\xb7"))


def compare_cable(path, result_path):
    result = json.load(open(result_path))
    _, packets = read(path)
    sent = {packet["id"]: packet for packet in packets if packet["flags"] == 2}
    came = {number: [] for number in sent}
    for packet in packets:
        if packet["flags"] == 1:
            came[packet["id"]].append(packet)
    late = 10**9  # device.rdma.cable.delay, in fs
    first = {number: each[0] for number, each in came.items() if each}
    seen = {"lost": len(sent) - len(first), "repeated": sum(len(each) == 2 for each in came.values()),
            "damaged": sum(packet["bytes"] != sent[number]["bytes"] for number, packet in first.items())}
    for number, each in came.items():
        spans = [packet["fs"] - sent[number]["fs"] - 123 * 10**6 for packet in each]
        assert spans in ([], [0], [late], [0, late], [late, late]), spans
        seen["delayed"] = seen.get("delayed", 0) + (spans[:1] == [late])
        assert all(packet["bytes"] == first[number]["bytes"] for packet in each)
    counted = {row["kind"].removeprefix("frame_"): row["count"] for row in result["errors"]}
    assert {kind: counted.get(kind, 0) for kind in seen} == seen, (seen, counted)
    assert min(seen.values()) > 20, seen
    print(seen)


def compare_network(path, result_path):
    result = json.load(open(result_path))
    ports, packets = read(path)
    names = [f"ep{i}" for i in range(5)] + [f"network.ep{i}" for i in range(5)]
    assert [(port["name"], port["type"]) for port in ports] == [(name, 1) for name in names], ports
    sent, came = check_times(packets)
    # By each cable, either way; to the port that has the address of its device.
    assert all(came[i]["port"] == (sent[i]["port"] + 5) % 10 and came[i]["fs"] - sent[i]["fs"] == 500 * 10**6 for i in came)
    down = [packet for packet in sent.values() if packet["port"] >= 5]
    assert all(packet["bytes"][33] == packet["port"] - 5 + 1 and packet["bytes"][22] == 63 for packet in down)
    assert [row["packets"] for row in result["network"]["ports"]] == [count(sent, port) for port in range(5, 10)]
    assert [(row["sent_frames"], row["received_frames"]) for row in result["hca"]] == [(count(sent, port), count(came, port)) for port in range(5)]
    # First in, first out: what one port sends to another keeps its order, and its bytes but TTL and checksum.
    for source in range(5):
        for target in range(5):
            ways = [[packet["bytes"][26:] for packet in list_ if packet["bytes"][29] == source + 1 and packet["bytes"][33] == target + 1]
                    for list_ in ([p for p in sent.values() if p["port"] == source], [p for p in down if p["port"] == target + 5])]
            assert ways[0] == ways[1], (source, target)
    print(f"{len(sent)} frames left, {len(came)} came")


def compare_tshark(path, tsv):
    ports, packets = read(path)
    seen = [line.rstrip("\n").split("\t") for line in open(tsv)]
    assert len(seen) == len(packets), (len(seen), len(packets))
    for packet, (name, description, direction, number, time, comment, length) in zip(packets, seen):
        port = ports[packet["port"]]
        seconds, nanoseconds = time.split(".")
        expected = [port["name"], port["description"], packet["flags"], packet["id"], packet["ns"], packet["comment"], len(packet["bytes"])]
        got = [name, description, int(direction, 0), int(number, 0), int(seconds) * 10**9 + int(nanoseconds), comment, int(length)]
        assert got == expected, (got, expected)
    print(f"{len(seen)} packets seen by tshark")


def compare_roce(path, tsv):
    """Opcode, queue pair and PSN where they stand in frames of IPv4 without VLAN, and nothing malformed."""
    _, packets = read(path)
    seen = [line.rstrip("\n").split("\t") for line in open(tsv)]
    assert len(seen) == len(packets), (len(seen), len(packets))
    opcodes = set()
    for number, (packet, (opcode, pair, psn, malformed, message)) in enumerate(zip(packets, seen), 1):
        bth = packet["bytes"][42:54]
        expected = [bth[0], int.from_bytes(bth[5:8], "big"), int.from_bytes(bth[9:12], "big")]
        assert [int(text, 0) for text in (opcode, pair, psn)] == expected, (number, opcode, pair, psn, expected)
        assert not malformed and message == packet["comment"], (number, malformed, message)  # no other remark of an expert
        opcodes.add(bth[0])
    # SEND, WRITE and READ in several packets, acknowledgements, both atomics.
    assert opcodes >= {0x00, 0x02, 0x06, 0x08, 0x0c, 0x0d, 0x0f, 0x11, 0x12, 0x13, 0x14}, opcodes
    print(f"{len(seen)} frames of {len(opcodes)} opcodes seen by tshark")


def write_outbound(path, pcap):
    _, packets = read(path)
    outbound = [packet for packet in packets if packet["flags"] == 2]
    with open(pcap, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))  # nanoseconds, Ethernet
        for packet in outbound:
            size = len(packet["bytes"])
            out.write(struct.pack("<IIII", packet["ns"] // 10**9, packet["ns"] % 10**9, size, size) + packet["bytes"])
    print(len(outbound))


if __name__ == "__main__":
    sys.exit({"pio": compare_pio, "rdma": compare_rdma, "tshark": compare_tshark, "roce": compare_roce,
              "cable": compare_cable, "srdma": compare_srdma, "epochs": print_epochs, "network": compare_network, "outbound": write_outbound}[sys.argv[1]](*sys.argv[2:]))
