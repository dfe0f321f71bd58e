"""Are times and rates of an RDMA adapter those of its parts? rdma_device.py FLITWISE CONFIG SLOW; every line that it prints is a
finding. CONFIG: software of ep0 posts WRITEs on an adapter whose peer is ep1. SLOW: the same, where ep1 cannot take them as
fast as they come."""
import json, subprocess, sys

program, config, slow = sys.argv[1:]
failed = False


def complain(text):
    global failed
    failed = True
    print("FAILED:", text)


def run(*sets, file=config):
    arguments = [part for one in sets for part in ("--set", one)]
    done = subprocess.run([program, "run", file, "--json", *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        complain(f"{' '.join(sets)}: exit code {done.returncode}: {done.stderr[:600]}")
        sys.exit(1)
    result = json.loads(done.stdout)
    result["hca"] = {row["device"]: row for row in result["hca"]}
    result["verbs"] = {row["device"]: row for row in result["verbs"]}
    return result


# One WRITE at a time: each stage adds its time as often as the work request, its packet, the ACK and the completion pass it.
alone = ["workload.domains=1", "device.rdma.queue=1", "workload.requests=50", "host.verbs.timing.poll=1ns", "link.skp=off"]
step = 80  # ns, a multiple of all clocks
before = run(*alone)["verbs"]["ep0"]["latency"]["mean"]
passes = {"host.verbs.timing.post": 1, "device.rdma.timing.collect": 1, "device.rdma.timing.kick": 1, "device.rdma.timing.fetch": 3,
          "device.rdma.timing.build": 2, "device.rdma.port.propagation": 2, "device.rdma.timing.check": 2,
          "device.rdma.timing.receive": 2, "device.rdma.timing.entry": 0, "device.rdma.timing.validate": 1,
          "device.rdma.timing.complete": 1}
defaults = {"host.verbs.timing.post": 40, "device.rdma.timing.collect": 2, "device.rdma.timing.kick": 1,
            "device.rdma.timing.fetch": 2, "device.rdma.timing.build": 4, "device.rdma.port.propagation": 5,
            "device.rdma.timing.check": 4, "device.rdma.timing.receive": 2, "device.rdma.timing.entry": 2,
            "device.rdma.timing.validate": 2, "device.rdma.timing.complete": 2}
for key, times in passes.items():
    after = run(*alone, f"{key}={defaults[key] + step}ns")["verbs"]["ep0"]["latency"]["mean"]
    if abs(after - before - times * step) > 2:
        complain(f"{key}: {after - before:.1f} ns more with {step} ns more, expected {times} times that")

# A command brings work request and payload: no read, one clock more for its second line, and time for each store. [HP-1]
inline = ["host.verbs.inline=64B"]
pushed = run(*alone, *inline, "run.warmup=2")  # which have fetched states
reads = [row["count"] for row in pushed["latency"] if row["name"] == "dma_read"]
if sum(reads) != 0 or pushed["hca"]["ep0"]["pushed"] != 50:
    complain(f"{sum(reads)} reads, expected none; {pushed['hca']['ep0']['pushed']} of 50 work requests as commands")
read = next(row["mean"] for row in run(*alone, "run.warmup=2")["latency"] if row["name"] == "dma_read")
there, here = (run(*alone, *sets, "run.warmup=2")["verbs"]["ep0"]["latency"]["mean"] for sets in ([], inline))
if abs(there - here - (2 * read - 2 * 2 - 1)) > 5:
    complain(f"{there - here:.1f} ns less by a command, expected two reads of {read:.1f}")
store = run(*alone, *inline, "run.warmup=2", f"host.verbs.timing.store={2 + step}ns")["verbs"]["ep0"]["latency"]["mean"]
if abs(store - here - 2 * step) > 2:
    complain(f"{store - here:.1f} ns more with {step} ns more a store of two")
# Commands and doorbells of one queue pair take turns: READs and atomics are commands, what has payload is not.
mixed = ["workload.requests=600", "workload.payload=300B", "device.rdma.mtu=256", "workload.buffer_size=256KiB", "workload.rdma.write=2",
         "workload.rdma.read=2", "workload.rdma.send=2", "workload.rdma.fetch_add=1", "workload.rdma.cas=1"]
for sets, least, most in ((["host.verbs.inline=299B"], 200, 400), (["host.verbs.inline=300B"], 600, 600),
                          (["host.verbs.inline=960B", "device.rdma.fifo=2"], 1, 599)):  # no room for others
    row = run(*mixed, *sets)["hca"]["ep0"]
    if row["wqes"] != 600 or not least <= row["pushed"] <= most:
        complain(f"{sets}: {row['pushed']} of {row['wqes']} work requests as commands, expected {least} to {most}")
# Payload of commands whose packets are lost comes from memory.
again = run("workload.requests=60", "workload.domains=2", "workload.payload=960B", "host.verbs.inline=960B", "device.rdma.mtu=512",
            "device.rdma.timeout=4", file=slow)
if again["hca"]["ep0"]["retransmits"] == 0 or again["verbs"]["ep0"]["operations"] != 60 or again["hca"]["ep0"]["pushed"] < 20:
    complain(f"commands whose packets are lost: {again['hca']['ep0']}")

# WRITEs of 4 KiB: the cable carries 98 bytes beside each (14 Ethernet, 20 IP, 8 UDP, 12 BTH, 16 RETH, 4 ICRC, 24 of Ethernet's own).
large = ["workload.payload=4KiB", "workload.buffer_size=2MiB", "workload.domains=2", "workload.requests=600"]
for rate in (25, 100):
    goodput = run(*large, f"device.rdma.port.rate={rate}Gb/s")["verbs"]["ep0"]["goodput"]
    most = rate * 4096 / (4096 + 98)
    if not 0.95 * most < goodput <= most:
        complain(f"{goodput:.2f} Gb/s by a port of {rate} Gb/s, expected {most:.2f}")
# A link that is slower than the cable: at most what is left of 31.5 Gb/s by headers of completions of 256 bytes.
goodput = run(*large, "link.preset=gen3x4", "device.rdma.port.rate=400Gb/s")["verbs"]["ep0"]["goodput"]
if not 24 < goodput < 31.51 * 256 / (256 + 20):
    complain(f"{goodput:.2f} Gb/s through a link of 31.5 Gb/s")

# Frames are counted to the last: a WRITE of 64 bytes is one frame of 138 bytes, 24 of Ethernet's own beside it; so is its ACK.
counts = run("workload.requests=300", "device.rdma.queue=1")
ep0, ep1 = counts["hca"]["ep0"], counts["hca"]["ep1"]
seen = (ep0["wqes"], ep0["cqes"], ep0["sent_frames"], ep1["sent_frames"], ep1["placed_bytes"], ep0["sent_bytes"])
if seen != (300, 300, 300, 300, 300 * 64, 300 * (138 + 24)):
    complain(f"work requests, completions, frames there and back, bytes: {seen}")

# Every kind, each on its way to the end.
kinds = ["workload.rdma.write=2", "workload.rdma.read=2", "workload.rdma.send=2", "workload.rdma.fetch_add=1", "workload.rdma.cas=1"]
mixed = run("workload.requests=800", "workload.payload=300B", "device.rdma.mtu=256", "workload.buffer_size=256KiB", *kinds)
verbs = mixed["verbs"]["ep0"]
if verbs["operations"] != 800 or min(verbs[kind] for kind in ("writes", "reads", "sends", "atomics")) < 120:
    complain(f"a mix of kinds: {verbs}")
if mixed["verbs"]["ep1"]["received"] != verbs["sends"]:
    complain(f"{verbs['sends']} SENDs, {mixed['verbs']['ep1']['received']} messages taken")

# A cache for two states, 16 queue pairs: states go to host memory and come back [HP-2, HP-3], and it takes longer.
small = run("workload.requests=300", "device.rdma.qpsc_entries=2")
if small["hca"]["ep0"]["qpsc_misses"] < 100 or counts["hca"]["ep0"]["qpsc_misses"] > 16:
    complain(f"misses: {small['hca']['ep0']['qpsc_misses']} with two entries, {counts['hca']['ep0']['qpsc_misses']} with 128")

# A receiver without room drops frames, and the timer brings them again. [HP-10] [LR-3]
narrow = run("workload.requests=60", "workload.domains=1", "device.rdma.timeout=4", file=slow)
if narrow["hca"]["ep1"]["drops"].get("payload_ram", 0) == 0 or narrow["hca"]["ep0"]["retransmits"] == 0:
    complain(f"no frame was dropped and sent again: {narrow['hca']}")
if narrow["verbs"]["ep0"]["operations"] != 60:
    complain(f"work requests did not get through: {narrow['verbs']['ep0']}")
sys.exit(failed)
