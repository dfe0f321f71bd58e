"""Random lines of PIO send memory, good and hostile, through the program: pio_hostile.py FLITWISE SEED LINES FOLDER.
Every line that it prints is a finding.

What a verb takes stands here once more, from docs/pio.md. A line that it does not take is answered by bad_line with its
number, what was seen and what was expected, and changes nothing: the good lines alone have the same answers. Arrays write
no `done`; operations and what is neither write one each.
"""
import json, random, subprocess, sys

program, seed, count, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
chance = random.Random(seed)
ANY = 2**64 - 1
CTX, ENGINE, CORE, THREAD, VL, BLOCKS = (0, 159), (0, 15), (0, 15), (0, 31), (0, 15), (1, 256)
VERBS = {
    "device": ["groups"], "setup": [CTX, (0, 65535), (0, 65535), (0, 2047), "address", "flag", "flag"],
    "cr_addr": [CTX, "address"], "write": [(0, 2**26 - 1), ("hex", 4096)], "fill": [(0, 255), BLOCKS, VL, "flag"],
    "sdma_fill": [ENGINE, BLOCKS, VL], "launch": [], "commit": [VL, "flag"], "arbitrate": ["flag"], "clear": [VL],
    "clear_block": [VL], "force": [CTX, "flag"], "set_thr": [CTX, (0, 2047)], "set_early": [CTX, "flag"],
    "bar_vls": [CTX, (0, 65535)], "vl_tables": ["weights", "weights", (0, 16383)], "launch_fifo": [(1, 16384)],
    "disable": [CTX], "restart": [CTX], "hold": ["flag"], "status": [CTX], "counts": [], "block": [(0, 16383)],
    "core": [CORE, (1, 64), (0, 256)], "store": [THREAD, (0, 2**26 - 1), ("hex", 64)], "sfence": [THREAD], "ack": [THREAD],
    "evict": [CORE], "send": [THREAD, CTX, (1, 162), VL, "flag", "store"], "core_counts": [CORE],
    "poke": [(0, ANY), ("hex", 16383)], "sdma_buffer": [ENGINE, (1, 1024)], "sdma_ring": [ENGINE, (0, ANY), (0, 65535), (0, ANY)],
    "sdma_tail": [ENGINE, (0, 65535)], "sdma_answer": [ENGINE, (0, 65535), "flag"], "sdma_restart": [ENGINE],
    "sdma_disable": [ENGINE], "sdma_status": [ENGINE],
}
ANSWERS = {"pio_stall", "pio_wait", "pio_context", "pio_counts", "pio_block", "pio_core", "sdma_engine", "pio_wire",
           "pio_cleared", "credit_return", "sdma_read", "sdma_head"}


def number_of(value):
    """None: no whole number from 0 on, as JSON or as text."""
    if isinstance(value, str):
        digits, base = (value[2:], 16) if value[:2] in ("0x", "0X") and len(value) > 2 else (value, 10)
        allowed = "0123456789abcdefABCDEF" if base == 16 else "0123456789"
        value = int(digits, base) if digits and all(c in allowed for c in digits) and len(digits) < 30 else -1
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= ANY else None


def takes(kind, value):
    if kind == "flag":
        return value is True or value is False or value in ("true", "false", "1", "0") or number_of(value) in (0, 1) and not isinstance(value, str)
    if kind == "address":
        return number_of(value) is not None and number_of(value) % 64 == 0
    if kind == "store":
        return number_of(value) in (8, 16, 32, 64)
    if kind == "groups":
        return isinstance(value, list) and len(value) == 20 and all(takes((0, 3), one) for one in value)
    if kind == "weights":
        return isinstance(value, list) and len(value) <= 16 and all(
            isinstance(pair, list) and len(pair) == 2 and takes((0, 7), pair[0]) and takes((0, 255), pair[1]) for pair in value)
    if kind[0] == "hex":
        digits = "".join(value.split()) if isinstance(value, str) else ""
        digits = digits[2:] if digits[:2] == "0x" else digits
        return len(digits) % 2 == 0 and 0 < len(digits) // 2 <= kind[1] and all(c in "0123456789abcdefABCDEF" for c in digits)
    return number_of(value) is not None and kind[0] <= number_of(value) <= kind[1]


def is_good_array(value):
    return (isinstance(value, list) and bool(value) and isinstance(value[0], str) and value[0] in VERBS
            and len(value) == 1 + len(VERBS[value[0]]) and all(map(takes, VERBS[value[0]], value[1:])))


def is_good(raw):
    def refuse(text):
        raise ValueError(text)
    try:
        value = json.loads(raw.decode(), parse_constant=refuse, parse_int=lambda text: -1 if text[0] == "-" or len(text) > 25 else int(text))
    except (ValueError, RecursionError):
        return False
    if isinstance(value, dict):
        return set(value) == {"op", "line"} and value["op"] == "pio" and is_good_array(value["line"])
    return is_good_array(value)


def good_value(kind):
    if kind == "flag":
        return chance.choice([True, False, 0, 1, "true"])
    if kind == "address":
        return 64 * chance.choice([0, 1, 1024, chance.randrange(2**58)])
    if kind == "store":
        return chance.choice([8, 16, 32, 64, "0x10"])
    if kind == "groups":
        return [chance.randrange(4) for _ in range(20)]
    if kind == "weights":
        return [[chance.randrange(8), chance.randrange(256)] for _ in range(chance.randrange(17))]
    if kind[0] == "hex":
        return chance.randbytes(chance.choice([1, 4, 8, 8, 16, 32, 64, 64, kind[1]])).hex()
    number = chance.choice([kind[0], kind[1], chance.randint(*kind), min(kind[1], kind[0] + chance.randrange(8))])
    return hex(number) if chance.random() < 0.1 else number


def hostile_value():
    nested = []
    for _ in range(chance.choice([1, 5, 90, 200])):
        nested = [nested]
    return chance.choice([-1, -2**63, 2**64, 10**40, 1.0, 0.5, 1e308, None, "", "0x", "-1", "1e3", " 1", "many", "\u00e9", "\x00", "zz", "abc",
                          [], {}, [[]], {"a": 1}, nested, "7" * 5000, True, 2**63, 257, 65536])


def line():
    name = chance.choice(list(VERBS))
    array = [name] + [good_value(kind) for kind in VERBS[name]]
    kind = chance.random()
    if kind < 0.25 and len(array) > 1:
        array[chance.randrange(1, len(array))] = hostile_value()
    elif kind < 0.30:
        del array[chance.randrange(len(array))]
    elif kind < 0.33:
        array.insert(chance.randrange(len(array) + 1), hostile_value())
    elif kind < 0.35:
        array[0] = chance.choice(["fil", "", "FILL", "launch ", 0, None, [], {}, "x" * 3000])
    shown = {"op": "pio", "line": array} if chance.random() < 0.1 else array
    raw = json.dumps(shown, ensure_ascii=chance.random() < 0.5).encode()
    if 0.35 <= kind < 0.45:  # bytes of the text
        at = chance.randrange(len(raw))
        raw = chance.choice([raw[:at], raw[:at] + chance.choice([b"\x00", b"\xff", b"]", b"[", b",", b"-", b".5", b"NaN", b"e999", b"\""]) + raw[at:],
                             raw[:at] + raw[at + 1:], raw + raw])
    return raw


def answers(lines, name):
    with open(f"{folder}/{name}.jsonl", "wb") as file:
        file.write(b"\n".join(lines) + b"\n")
    run = subprocess.run([program, "script", f"{folder}/{name}.jsonl"], capture_output=True, timeout=300)
    if run.stderr:
        print("stderr has", run.stderr[:300])
    return run.returncode, [json.loads(text) for text in run.stdout.splitlines()]


lines = [b'["setup", %d, %d, 64, 4, 4096, false, true]' % (i, 64 * i) for i in range(32)] + [line() for _ in range(count)]
bad = {number for number, raw in enumerate(lines, 1) if raw.strip(b" \t\r") and not is_good(raw)}
done = sum(bool(raw.strip(b" \t\r")) and raw.lstrip(b" \t\r")[:1] != b"[" for raw in lines)
code, all_answers = answers(lines, "all")
refusals = [one for one in all_answers if one.get("kind") == "bad_line"]
if code != 2:
    print(f"exit code {code}; expected 2")
if not count / 5 < len(bad) < count * 4 / 5:
    print(f"{len(bad)} of {count} lines are hostile: a test of little")
for number in sorted(bad ^ {one["line"] for one in refusals})[:20]:
    print(f"line {number} is {'taken' if number in bad else 'refused'}: {lines[number - 1][:200]}")
for one in refusals:
    if "expected" not in one["detail"] or len(json.dumps(one)) > 2000:
        print("a refusal without what was expected, or a long one:", json.dumps(one)[:300])
if sum("done" in one for one in all_answers) != done:
    print(f"{sum('done' in one for one in all_answers)} times done; expected {done}")
good_code, good_answers = answers([b"" if number in bad else raw for number, raw in enumerate(lines, 1)], "good")
if good_code != 0:
    print(f"exit code {good_code} of the good lines; expected 0")
without_done = [[one for one in those if "done" not in one and one.get("kind") != "bad_line"] for those in (all_answers, good_answers)]
if without_done[0] != without_done[1]:
    print("refused lines change what the others answer")
for one in good_answers:
    kind = one.get("event")
    if not (kind in ANSWERS or kind == "error" and one["kind"] in ("pio_setup_refused", "pio_store_refused")
            or kind is None and set(one) & {"wire", "addr", "sdma_read", "sdma_head", "done"}):
        print("no answer of a line of send memory:", one)
if len({one["event"] for one in good_answers if "event" in one}) < 8:
    print("the good lines reach next to nothing")
