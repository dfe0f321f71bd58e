"""Networks in packets against closed forms, over seeds. network_forms.py FLITWISE FOLDER; every line that it prints is a finding.

Each figure is a mean over seeds, and is held against its form within four standard errors of that mean, which the runs
themselves tell, or within the bound that stands beside it.
"""
import json, math, random, statistics, subprocess, sys

program, folder = sys.argv[1:]


def run(seed, keys, flows=None):
    """The result. `flows`: rows of a trace, (ns, source, destination, bytes)."""
    keys = {"network.mode": "packet", "device.srdma.enabled": "true", **keys}
    if flows:
        with open(f"{folder}/trace.csv", "w") as file:
            file.write("time_ns,src,dst,bytes\n")
            file.writelines("%d,%d,%d,%d\n" % flow for flow in flows)
        keys.update({"workload.flows.pattern": "trace", "workload.trace": f"{folder}/trace.csv"})
    with open(f"{folder}/empty.yaml", "w") as file:
        file.write("workload: {}\n")
    arguments = [part for key, value in keys.items() for part in ("--set", f"{key}={value}")]
    done = subprocess.run([program, "run", f"{folder}/empty.yaml", "--json", "--seed", str(seed)] + arguments, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: {keys}, seed {seed}: exit code {done.returncode}: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def packets(result, names):
    ports = {port["name"]: port["packets"] for port in result["network"]["ports"]}
    return [ports[name] for name in names]


def all_flows(result):
    return next(row for row in result["network"]["times"] if row["name"] == "all")


def within(what, seen, due, bound):
    if not abs(seen - due) <= bound:
        print(f"FAILED: {what}: {seen:.4f}, due {due:.4f} +- {bound:.4f}")


def mean_is(what, seen, due):
    """By chance once in 16,000 times beyond this, and always the same for the same seeds."""
    within(f"{what}, {len(seen)} seeds", statistics.mean(seen), due, 4 * statistics.stdev(seen) / math.sqrt(len(seen)))


plain = {"device.srdma.policy": "oblivious", "device.srdma.congestion.kind": "none", "network.ecn.enabled": "false"}


def two_sides(hosts, links):
    return {"network.topology": "dumbbell", "network.hosts": 2 * hosts, "network.dumbbell_links": links,
            "network.switch.queue": "16MiB"}


# 3.1, 3.2: n flows of line rate over n links that a hash chooses. The share of links that carry something is the goodput
# of a flow, for those of one link share it alike.
for n, seeds in (2, 100), (4, 100), (8, 60), (16, 30):
    busy, goodput, clear = [], [], []
    for seed in range(seeds):
        result = run(seed, {**plain, **two_sides(n, n), "device.srdma.sessions": 1}, [(0, i, n + i, 400_000) for i in range(n)])
        used = [count > 0 for count in packets(result, [f"left.{n + link}" for link in range(n)])]
        busy.append(sum(used) / n)
        clear.append(float(all(used)))
        goodput.append(statistics.mean(flow["ideal_ns"] / flow["fct_ns"] for flow in result["network"]["flows"]))
    due = 1 - (1 - 1 / n) ** n
    mean_is(f"busy links of {n}", busy, due)
    # The last packet of each flow waits for the other flows alone: 400 kB are 98 packets.
    within(f"goodput over {n} links", statistics.mean(goodput), due, 4 * statistics.stdev(goodput) / math.sqrt(seeds) + 0.01)
    if n <= 4:
        mean_is(f"no collision among {n}", clear, math.factorial(n) / n ** n)

# 3.4: links that k sessions of one flow use, of n.
for n, k, seeds in (4, 4, 100), (8, 4, 100), (8, 8, 100), (8, 16, 100), (8, 32, 100), (16, 16, 100):
    ways = []
    for seed in range(seeds):
        result = run(seed, {**plain, **two_sides(1, n), "device.srdma.sessions": k}, [(0, 0, 1, 4096 * 2 * k)])
        ways.append(sum(count > 0 for count in packets(result, [f"left.{1 + link}" for link in range(n)])))
    mean_is(f"of {n} links those that {k} sessions use", ways, n * (1 - (1 - 1 / n) ** k))

# 3.6: shares of sessions with fixed weights, by hash and by its table of 1,024 entries.
weights = [10, 30, 50, 90]
for policy in "weighted_hash", "hash_table":
    sent = [0] * len(weights)
    seeds = 5
    for seed in range(seeds):
        result = run(seed, {"network.topology": "cable", "network.hosts": 2, "device.srdma.congestion.kind": "none", "network.ecn.enabled": "false",
                            "device.srdma.sessions": len(weights), "device.srdma.policy": policy, "device.srdma.algorithm": "static",
                            "device.srdma.weights": weights}, [(0, 0, 1, 80_000_000)])
        for session in result["srdma"][0]["sessions"]:
            sent[int(session["id"])] += session["packets"]
    for weight, count in zip(weights, sent):
        due = (100 - weight) / sum(100 - one for one in weights)
        # Until weights are first looked at, up to 10 us, all sessions are alike: 30 packets of 20,000.
        places = sum(sent) if policy == "weighted_hash" else 1024 * seeds
        within(f"{policy}, share of weight {weight}", count / sum(sent), due, 4 * math.sqrt(due * (1 - due) / places) + 0.0005)

# 3.7: packets that come at random from many sides to one port: M/D/1.
for load in 0.5, 0.8, 0.9:
    waits, service = [], (4096 + 82 + 16) * 0.08
    for seed in range(10):
        chance, now, flows = random.Random(seed), 0.0, []
        for _ in range(10_000):
            now += chance.expovariate(load / service)
            flows.append((round(now), 1 + chance.randrange(63), 0, 4096))
        result = run(seed, {**plain, "network.topology": "switch", "network.hosts": 64, "network.switch.queue": "64MiB", "device.srdma.sessions": 1}, flows)
        ideal = result["network"]["flows"][0]["ideal_ns"]
        waits.append((all_flows(result)["mean_ns"] - ideal) / service)
    due = load / (2 * (1 - load))
    # Two packets of one host wait there, one for the other: 1/63 of the arrivals.
    within(f"M/D/1 at load {load}", statistics.mean(waits), due, 4 * statistics.stdev(waits) / math.sqrt(len(waits)) + 0.02 * due)

# 3.7: n hosts that send B bytes to one, at once: the last is done after n B / C.
for n in 7, 15:
    for sessions in 1, 16:
        last = [all_flows(run(seed, {"network.topology": "leaf_spine", "network.hosts": 16, "device.srdma.congestion.kind": "window",
                                     "device.srdma.policy": "oblivious", "device.srdma.sessions": sessions},
                              [(0, 1 + i, 0, 2_000_000) for i in range(n)]))["max_ns"] for seed in range(5)]
        due = n * 2e6 * 4178 / 4096 * 0.08
        within(f"incast of {n}, {sessions} sessions", statistics.mean(last), due * 1.015, due * 0.015)

# 3.9: packets that are lost by chance: go-back-N sends W of them again, what leaves in the round trip of a NAK.
for loss in 0.001, 0.01:
    for how in "in_order", "reorder":
        goodput = []
        for seed in range(6):
            result = run(seed, {**plain, "network.topology": "cable", "network.hosts": 2, "network.timing.hop": "10us", "device.srdma.sessions": 1,
                                "device.srdma.receive": how, "device.srdma.timeout": 4, "network.fault.link": "h0-h1",
                                "network.fault.loss": loss, "device.srdma.window": 1024, "device.srdma.ooo_window": 1024},
                         [(0, 0, 1, 40_000_000)])
            flow = result["network"]["flows"][0]
            goodput.append(flow["ideal_ns"] / flow["fct_ns"])
        window = (20_000 + 334 + 8) / 334
        due = (1 - loss) / (1 - loss + loss * window) if how == "in_order" else 1 - loss
        within(f"{how} with loss {loss}", statistics.mean(goodput), due, 4 * statistics.stdev(goodput) / math.sqrt(len(goodput)) + 0.02 * due)

# W5: a way of eight fails. Goodput by when flows are over, in parts of 100 us: 90 % of (n - 1) / n of what it was. With
# weights packets leave it after four losses in a row (MO-3), long before switches know; in turn, once those go around it.
flows = [(17_000 * k, host, (host + 8) % 16, 200_000) for k in range(150) for host in range(16)]
for how, recovered in ({"device.srdma.policy": "lowest_weight", "device.srdma.beta": 8}, 1), ({"device.srdma.policy": "oblivious"}, 12):
    parts = [0.0] * 100
    for seed in range(5):
        result = run(seed, {**how, "network.topology": "leaf_spine", "network.hosts": 16, "network.leaf_spine.leaves": 2, "network.leaf_spine.spines": 8,
                            "device.srdma.sessions": 32, "device.srdma.congestion.kind": "dcqcn_qp", "network.fault.link": "leaf0-spine7",
                            "network.fault.at": "500us", "network.timing.detect": "1ms"}, flows)
        for flow in result["network"]["flows"]:
            parts[int((flow["start_ns"] + flow["fct_ns"]) / 100_000)] += flow["bytes"] * 8 / 100_000 / 5
    before = statistics.mean(parts[2:5])
    due = 0.9 * 7 / 8 * before
    after = statistics.mean(parts[6 + recovered:14 + recovered])
    if after < due or recovered > 1 and statistics.mean(parts[7:14]) > due:
        print(f"FAILED: {how}: {before:.0f} Gb/s before a link fails, {after:.0f} Gb/s after it, due {due:.0f}: {[round(part) for part in parts[:30]]}")

# Few sessions that are chosen by weight, packets in flight counted, against many in turn: a permutation of 20 MB on 4 leaves,
# 4 hosts each, and 4 spines.
def permutation(**keys):
    return statistics.mean(all_flows(run(seed, {"network.topology": "leaf_spine", "network.hosts": 16, "workload.flows.bytes": "20000000B",
                                                **{f"device.srdma.{key}": value for key, value in keys.items()}}))["mean_slowdown"]
                           for seed in range(1, 21))


for control in "none", "window_group", "dcqcn_qp":
    rates = {"congestion.kind": control}
    many = permutation(sessions=64, policy="oblivious", **rates)
    few = permutation(sessions=16, policy="lowest_weight", beta=8, **rates)
    if few > 1.03 * many:
        print(f"FAILED: {control}: 16 sessions by weight {few:.3f}, 64 in turn {many:.3f}")
