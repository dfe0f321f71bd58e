"""RoCEv2 frames of every opcode for roce_test.sh, and what tshark and scapy make of them.

  json                         the frames as `flitwise encode roce` reads them
  pcap                         hex digits, a frame a line, on stdin as a capture
  tshark JSON DECODED TSV      compares what `flitwise decode roce` and tshark say
  scapy PCAP [COUNT]           compares the ICRC of frames over IPv4, so many of them
"""

import json
import struct
import sys

RC = ("SEND_FIRST SEND_MIDDLE SEND_LAST SEND_LAST_WITH_IMMEDIATE SEND_ONLY SEND_ONLY_WITH_IMMEDIATE RDMA_WRITE_FIRST "
      "RDMA_WRITE_MIDDLE RDMA_WRITE_LAST RDMA_WRITE_LAST_WITH_IMMEDIATE RDMA_WRITE_ONLY "
      "RDMA_WRITE_ONLY_WITH_IMMEDIATE").split()
RC_ALONE = ("RDMA_READ_REQUEST RDMA_READ_RESPONSE_FIRST RDMA_READ_RESPONSE_MIDDLE RDMA_READ_RESPONSE_LAST "
            "RDMA_READ_RESPONSE_ONLY ACKNOWLEDGE ATOMIC_ACKNOWLEDGE COMPARE_SWAP FETCH_ADD SEND_LAST_WITH_INVALIDATE "
            "SEND_ONLY_WITH_INVALIDATE FLUSH ATOMIC_WRITE").split()
OPCODES = (["RC_" + name for name in RC + RC_ALONE] + ["UC_" + name for name in RC] +
           ["UD_SEND_ONLY", "UD_SEND_ONLY_WITH_IMMEDIATE", "CNP"])
WITHOUT_PAYLOAD = ("READ_REQUEST", "ACKNOWLEDGE", "COMPARE_SWAP", "FETCH_ADD", "FLUSH", "CNP")
# tshark 4.0 shows these as unknown opcodes, with the BTH alone.
UNKNOWN_TO_TSHARK = ("CNP", "RC_FLUSH", "RC_ATOMIC_WRITE")
SYNDROMES = (0x1f, 0x00, 0x60, 0x61, 0x62, 0x63, 0x2e, 0x3f)


def payload_of(opcode, number):
    if any(opcode.endswith(name) for name in WITHOUT_PAYLOAD):
        return b""
    # tshark takes a payload for an Ethernet packet whose bytes 2 and 3 are zero, as padding makes them.
    size = 8 if opcode.endswith("ATOMIC_WRITE") else 4 + number % 70
    return bytes(1 + (number * 7 + i * 11) % 251 for i in range(size))


def frames():
    number = 0
    for turn in range(4):
        for opcode in OPCODES:
            number += 1
            ip = {"version": 6, "src": "fd00::1", "dst": f"fd00::{number:x}"} if turn % 2 else {"ecn": number % 4}
            frame = {"ip": ip, "udp": {"src_port": 49152 + number, "dst_port": 4791 if turn < 2 else 40000 + turn},
                     "bth": {"opcode": opcode, "dest_qp": 0x123456 + number, "psn": 0xfffff0 + number & 0xffffff,
                             "ack_req": number % 3 == 0, "p_key": 0x8001 + number},
                     "payload": payload_of(opcode, number).hex()}
            if "RDMA_WRITE_FIRST" in opcode or "WRITE_ONLY" in opcode or "READ_REQUEST" in opcode:
                frame["reth"] = {"va": 0x7f0012345000 + number, "r_key": 0xdeadbe00 + number, "dma_length": 100 + number}
            if opcode in ("RC_COMPARE_SWAP", "RC_FETCH_ADD"):
                frame["atomiceth"] = {"va": 0x7f0098765000 + number, "r_key": 0xabcd0000 + number, "swap_add": number}
            if "RESPONSE" in opcode and "MIDDLE" not in opcode or "ACKNOWLEDGE" in opcode:
                frame["aeth"] = {"syndrome": SYNDROMES[number % len(SYNDROMES)], "msn": number}
            if "IMMEDIATE" in opcode:
                frame["immdt"] = {"data": 0xcafe0000 + number}
            if opcode == "CNP":
                frame["bth"]["becn"] = True
            yield frame


def write_pcap():
    sys.stdout.buffer.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))  # nanoseconds, Ethernet
    for number, line in enumerate(sys.stdin):
        frame = bytes.fromhex(line)
        sys.stdout.buffer.write(struct.pack("<IIII", 0, number * 1000, len(frame), len(frame)) + frame)


def number_of(value):
    """Of 5, "5", "0x5", True; None of another text."""
    try:
        return int(value, 0) if isinstance(value, str) else int(value)
    except ValueError:
        return None


def tshark_row(decoded, code):
    """What tshark has to say of a frame, by the fields of roce_test.sh."""
    bth, aeth, reth = decoded["bth"], decoded.get("aeth"), decoded.get("reth", decoded.get("atomiceth"))
    return [code, bth["dest_qp"], bth["psn"], bth["p_key"], bth["pad"], bth["ack_req"],
            aeth and aeth["syndrome"], aeth and aeth["msn"],
            reth and reth["va"], reth and reth["r_key"], reth and reth.get("dma_length"),
            decoded["immdt"]["data"][2:].zfill(8) if "immdt" in decoded else None]


def code_of(opcode):
    """By the order of the operations, apart from the program's own table."""
    if opcode == "CNP":
        return 0x81
    transport, name = opcode.split("_", 1)
    codes = {name: code for code, name in enumerate(RC)}
    codes.update(zip(RC_ALONE, list(range(0x0c, 0x15)) + [0x16, 0x17, 0x1c, 0x1d]))
    return {"RC": 0, "UC": 0x20, "UD": 0x60}[transport] + codes[name]


def compare_with_tshark(made_file, decoded_file, tsv_file):
    made = [json.loads(line) for line in open(made_file)]
    decoded = [json.loads(line) for line in open(decoded_file)]
    seen = [line.rstrip("\n").split("\t") for line in open(tsv_file)]
    bad = len(made) != len(seen) or len(made) != len(decoded)
    for number, (frame, ours, theirs) in enumerate(zip(made, decoded, seen), 1):
        opcode = frame["bth"]["opcode"]
        expected = tshark_row(ours, code_of(opcode))
        *fields, icrc, udp_status, ip_status, malformed, message = theirs
        if opcode in UNKNOWN_TO_TSHARK:
            fields, expected = fields[:6], expected[:6]
        else:
            if not opcode.startswith("UD"):  # of which tshark shows the payload as a MAD, and no ICRC
                bad |= say(number, opcode, "ICRC " + icrc, icrc == "0x" + ours["icrc"])
            bad |= say(number, opcode, f"malformed {malformed} {message}", not malformed and not message)
        for place, (own, text) in enumerate(zip(expected, fields)):
            text = text.split(",")[0]  # the data of an immediate comes twice
            same = text == "" if own is None else text == own or text != "" and number_of(text) == number_of(own)
            bad |= say(number, opcode, f"field {place}: {text} seen; expected {own}", same)
        is_ipv6 = ours["ip"]["version"] == 6
        bad |= say(number, opcode, f"checksums {udp_status} {ip_status}",
                   udp_status == ("1" if is_ipv6 else "3") and (is_ipv6 or ip_status == "1"))
    print(f"{len(made)} frames, {len(seen)} seen by tshark")
    return bad


def say(number, opcode, what, is_good):
    if not is_good:
        print(f"frame {number}, {opcode}: {what}")
    return not is_good


def compare_with_scapy(file, expected=2 * len(OPCODES)):
    import logging
    logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
    from scapy.all import IP, UDP, bind_layers, load_contrib, rdpcap
    load_contrib("roce")
    from scapy.contrib.roce import BTH
    for port in range(40000, 40010):
        bind_layers(UDP, BTH, dport=port)
    checked, bad = 0, False
    for number, frame in enumerate(rdpcap(file), 1):
        if IP in frame:
            own = frame.copy()
            del own[BTH].icrc
            bad |= say(number, hex(frame[BTH].opcode), "ICRC", bytes(own)[-4:] == bytes(frame)[-4:])
            checked += 1
    print(f"{checked} frames checked by scapy")
    return bad or checked != int(expected)


def main(what, *files):
    if what == "json":
        for frame in frames():
            print(json.dumps(frame))
    elif what == "pcap":
        write_pcap()
    else:
        return {"tshark": compare_with_tshark, "scapy": compare_with_scapy}[what](*files)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
