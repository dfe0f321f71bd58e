"""Are warnings of keys without effect true? effect.py FLITWISE CONFIGS FOLDER; every line that it prints is a finding.

Each machine below is run once as it is, and once with another value of every key whose condition does not hold there:
the results are the same. Its whole configuration, given as a file, is warned of in exactly these keys. Then each key that
a configuration of configs/ sets to other than its default is turned: some value of it changes the result, or is refused.
"""
import glob, json, os, re, subprocess, sys

program, configs, folder = sys.argv[1:]
failed = False

few = "workload.requests=150"
read_write, domains = "workload.kind=read_write", "workload.domains=8"
translated = [few, domains, read_write, "iommu.translation=first_stage"]
pretranslation = [few, "workload.domains=4", "workload.buffer_size=128KiB", "iommu.translation=first_stage", "device.rdma.pretranslation.enabled=true"]
machines = [
    ("checks/saturated", [few, domains]),
    ("checks/saturated", [few, domains, read_write, "link.identity=dhi", "device.dhi.bits=2"]),
    ("checks/saturated", [few, "link.identity=dhi", "link.dhi_form=tag", "host.dhi.table=shared", "host.dhi.grant=configured",
                          "host.dhi.storage.kind=dram", "device.dhi.storage.kind=dram"]),
    ("checks/saturated", [few, "workload.kind=hostile"]),
    ("checks/saturated", ["workload.requests=4000", "workload.payload=1KiB", "link.error_rate=1e-7", "run.until=converged"]),
    ("checks/saturated", [few, domains, read_write, "workload.at=translated"]),
    ("checks/saturated", [few, domains, "host.dhi.grant=configured", "host.dhi.granted.first_pasid=1"]),
    ("checks/saturated", [few, "link.preset=gen6x16", "link.error_rate=1e-6", "host.dma_window.size=8GiB", "host.trusted_window.size=4KiB"]),
    ("checks/saturated", [few, "workload.kind=nic", "workload.sizes=google_rpc_2008", "workload.arrival=on_off"]),
    ("checks/saturated", [few, domains, "workload.domain_choice=zipf"]),
    ("checks/saturated", [few, domains, "workload.domain_choice=working_set", "workload.working_set=4"]),
    ("checks/saturated", [few, domains, "workload.domain_choice=churn"]),
    ("checks/bit_packed", [few]),
    ("checks/saturated", [few, "device.ring.memory=1MiB"]),
    ("checks/saturated", translated),
    ("checks/saturated", translated + [f"iommu.{cache}.entries=none" for cache in ("context_cache", "pasid_cache", "iotlb", "paging_cache")]),
    ("checks/saturated", [few, domains, "iommu.translation=nested"]),
    ("checks/saturated", [few, domains, "iommu.translation=nested", "iommu.second_stage_cache.entries=none"]),
    ("checks/saturated", translated + ["device.atc.enabled=true", "device.atc.when=reuse", "iommu.secure_ats=true"]),
    ("checks/saturated", translated + ["device.atc.enabled=true", "device.atc.when=prefetch", "iommu.secure_ats=true", "iommu.permission_cache.entries=none"]),
    ("checks/saturated", translated + ["device.atc.enabled=true", "device.atc.when=hint", "device.pri.enabled=true", "host.iommu_driver.enabled=true",
                                       "host.iommu_driver.premapped=0.5", "host.iommu_driver.unmap_rate=1e6", "host.iommu_driver.mode=deferred"]),
    ("checks/saturated", translated + ["host.iommu_driver.enabled=true", "host.iommu_driver.teardown_rate=1e5"]),
    ("checks/saturated", [few, "system.topology=switch", "system.devices=2", "link.identity=dhi", "link.dhi_form=rid_fabric"]),
    ("examples/switch_two_devices", [few]),
    ("examples/switch_tree", ["workload.requests=20"]),
    ("examples/own_trace", []),
    ("examples/own_trace", ["link.identity=bdf_pasid"]),
    ("examples/cxl_cache", [few]),
    ("examples/cxl_cache", [few, "link.cxl.identity=dhi_added"]),
    ("examples/cxl_cache", [few, domains, "link.cxl.identity=dhi_added", "device.dhi.bits=2", "host.dhi.table=shared", "host.dhi.grant=configured"]),
    ("examples/cxl_cache", [few, domains, "link.cxl.identity=full_added", "iommu.translation=first_stage", "iommu.secure_ats=true"]),
    ("checks/saturated", [few, domains, "link.identity=dhi", "device.dhi.management=software"]),
    ("checks/saturated", [few, domains, "link.identity=dhi", "workload.contexts.kind=queue_pair", "workload.contexts.per_process=4", "host.dhi.grant=configured"]),
    ("checks/saturated", [few, "workload.kind=hostile", "device.functions.count=4"]),
    ("checks/saturated", [few, "workload.kind=hostile", "device.functions.count=4", "iommu.translation=first_stage"]),
    ("examples/cxl_cache", [few, "iommu.translation=first_stage"]),
    ("examples/cxl_memory", [few, "iommu.translation=first_stage", "device.functions.count=4"]),
    ("examples/cxl_hdm_db", [few]),
    ("examples/cxl_memory", [few]),
    ("checks/pio", [few]),
    ("checks/pio", [few, "host.cores.sdma_from=64B", "device.pio.sdma.ring=8", "device.pio.sdma.engines=2"]),
    ("checks/pio", [few, "device.pio.deep_contexts=2", "device.pio.egress.stall=10us", "host.cores.fence=packet",
                    "device.pio.egress.high=[[0, 2]]", "device.pio.egress.low=[[1, 1]]"]),
    ("checks/pio", [few, "device.pio.deep_contexts=2", "device.pio.egress.stall=10us", "host.cores.fence=packet"]),
    ("checks/pio", [few, "host.cores.hostile=2", "faults.pio_integrity=0.02"]),
    ("checks/pio", [few, "host.cores.credit_wait=interrupt", "device.pio.depth=8"]),
    ("checks/pio", [few, "device.pio.egress.peer=ep0"]),
    ("examples/pio_two_devices", [few]),
    ("checks/rdma", [few]),
    ("checks/rdma", [few, "host.verbs.inline=64B"]),
    ("checks/rdma", [few, "host.verbs.completions=interrupt"]),
    ("checks/rdma", [few] + [f"device.rdma.cable.{fault}=0.02" for fault in ("loss", "duplication", "corruption", "reordering")]),
    ("checks/rdma", pretranslation),
    ("checks/rdma", pretranslation + ["host.iommu_driver.enabled=true", "host.iommu_driver.unmap_rate=1e5"]),
    ("checks/rdma", [few, "device.rdma.hostile_frames=300", "device.rdma.timeout=4"]),
    ("checks/rdma", [few, "device.functions.count=3", "workload.domains=6", "device.rdma.shares.kicks=[3, 1]", "device.rdma.shares.later=[1, 3]",
                     "device.rdma.shares.change_at=5us", "device.rdma.shares.states=[2, 2]"]),
    ("checks/rdma", [few, "device.functions.count=3", "workload.domains=6", "host.verbs.hostile=1", "device.rdma.timeout=4"]),
    ("examples/rdma_two_hosts", [few]),
    ("examples/srdma_two_hosts", [few]),
    ("examples/srdma_two_hosts", [few, "device.srdma.secured=true", "device.srdma.keys.rekey_engine=sw", "device.srdma.receive=in_order",
                                  "device.srdma.congestion.kind=none"]),
    ("examples/srdma_two_hosts", [few, "device.srdma.policy=lowest_weight", "device.srdma.control.enabled=true",
                                  "device.srdma.weight_engine=sw"]),
    ("checks/srdma", ["workload.flows.bytes=200000B"]),
    ("checks/srdma", ["workload.flows.bytes=200000B", "device.srdma.algorithm=static"]),
    ("checks/srdma", ["workload.flows.bytes=200000B", "device.srdma.policy=lowest_weight", "network.ecn.enabled=false",
                      "network.background.kind=poisson", "device.srdma.congestion.kind=dcqcn_qp", "network.fault.link=leaf0-spine1",
                      "device.srdma.adaptive_routing=true"]),
    ("checks/srdma", ["workload.flows.bytes=200000B", "device.srdma.enabled=false", "device.srdma.congestion.kind=none", "device.srdma.receive=in_order",
                      "network.pfc.enabled=true", "network.ecn.enabled=false"]),
    ("checks/srdma", ["workload.flows.bytes=200000B", "device.srdma.adaptive_routing=true", "network.routing.metric=util", "device.srdma.control.enabled=true",
                      "device.srdma.control.mode=quorum", "network.topology=dumbbell", "network.background.kind=on_off", "device.srdma.sessions=4"]),
    ("checks/srdma", ["workload.flows.bytes=200000B", "device.srdma.connect=first_flow", "device.srdma.sessions=4"]),
    ("checks/srdma", ["workload.flows.bytes=200000B", "device.srdma.connect=before", "device.srdma.sessions=4", "device.srdma.secured=true"]),
    ("checks/srdma", ["network.topology=switch", "workload.flows.pattern=sizes", "workload.flows.count=300", "workload.sizes=google_rpc_2008"]),
    ("examples/network_graph", ["workload.flows.bytes=100000B"]),
    ("examples/network_graph", ["workload.flows.bytes=100000B", "network.topology=dumbbell", "network.pfc.enabled=true", "network.background.kind=poisson",
                                "network.fault.link=left-right", "network.fault.at=5us", "network.fault.rate=20Gb/s"]),
    ("examples/rdma_incast", ["workload.requests=20", "network.switch.queue=24KiB", "device.rdma.timeout=3"]),
]
# Lists, files and names, of which the schema knows no other value.
never_turned = {"device.pio.egress.high", "device.pio.egress.low", "device.pio.egress.peer", "device.rdma.peer", "device.rdma.shares.kicks", "device.rdma.shares.later", "device.rdma.shares.states", "device.srdma.weights", "network.fault.link", "network.graph.switches", "network.graph.edges", "system.nodes", "system.edges", "system.acs.egress", "workload.sizes", "workload.trace"}
# What contradicts something else where it is not read is refused, and cannot be turned.
contradicts = {"link.shared_credits.posted_headers", "link.shared_credits.posted_data", "link.shared_credits.nonposted_headers",
               "link.shared_credits.nonposted_data", "link.shared_credits.completion_headers", "link.shared_credits.completion_data",
               "link.shared_credits.merged", "host.iommu_driver.teardown_reset", "device.atc.enabled", "device.pri.enabled", "device.cxl.coherence", "link.cxl.latency_optimised",
               "link.credits.scaled", "link.credits.posted_data", "link.credits.completion_data", "workload.at",
               "workload.functions", "network.routing.value",
               "device.atc.stu"}  # beside device.atc.enabled
# Keys that act on what does not happen in a short run of a configuration that sets them.
silent = {
    "workload.domains",          # PASIDs are of one size, and without handles or translation nothing looks at them
    "workload.trace", "workload.sizes", "device.rdma.peer",  # files, and the name of a device
    "device.atc.entries", "iommu.iotlb.entries", "iommu.paging_cache.entries",  # each page once: nothing is found again
    "link.relaxed_passing",      # no request of these has RO or IDO
    "device.rdma.max_rd_atomic", # READs and atomics alone, and how much memory the program takes
    "host.requester_check", "system.source_validation", "system.acs.source_validation",  # for what scripts send
}


def complain(text):
    global failed
    failed = True
    print("FAILED:", text)


def call(command, config, sets):
    arguments = [part for each in sets for part in ("--set", each)]
    return subprocess.run([program, command, config] + (["--json"] if command == "run" else []) + arguments, capture_output=True, text=True)


def leaves(node, path=""):
    for name, child in node["properties"].items():
        if f"{path}{name}" not in ("base", "system.instances"):
            yield from leaves(child, f"{path}{name}.") if "properties" in child else [(path + name, child)]


def value_of(config, path):
    for part in path.split("."):
        config = config.get(part, {})
    return config


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value)


def fits(value, pattern):
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern


def is_read(key, config, asked=()):
    """By the schema's condition, evaluated here once more: what a key that is not read says does not count, and those asked for may say anything."""
    asked += (key,)

    def holds(test):
        value = text_of(value_of(config, test["key"]))
        is_one = any(fits(value, one) for one in test.get("is", test.get("is_not")))
        return test["key"] in asked or (is_one == ("is" in test) and is_read(test["key"], config, asked))
    ways = schema[key].get("x-read-when")
    return ways is None or any(all(map(holds, tests)) for tests in ways)


def others(key, now):
    """Values that are not the present one: words, the next number, twice the quantity."""
    own = schema[key]
    if key in ("iommu.page", "device.rdma.pretranslation.page_size"):
        yield "2MiB" if now == "4KiB" else "4KiB"
    for choice in [own] + own.get("anyOf", []) + own.get("oneOf", []):
        if choice.get("type") == "boolean":
            yield text_of(not now)
        elif "enum" in choice:
            yield from (text_of(one) for one in choice["enum"] if one != now)
        elif choice.get("type") in ("integer", "number"):
            number = now if isinstance(now, (int, float)) else choice.get("minimum", 1)
            low, high = choice.get("minimum", 0), choice.get("maximum", 2**40)
            yield from (text_of(one) for one in (number * 2, number // 2 if isinstance(number, int) else number / 2, number + 1, number - 1)
                        if low <= one <= high and one != now)
        elif "pattern" in choice:
            number, unit = re.fullmatch(r"([\d.]+)(\D+)", now).groups() if now[:1].isdigit() else ("4", "KiB" if "KiB" in choice["pattern"] else "Gb/s" if "b/s" in choice["pattern"] else "us")
            yield from (f"{float(number) * factor:.12g}{unit}" for factor in (2, 0.5) if float(number) * factor != float(number))
            yield f"{float(number) + 3:.12g}{unit}"
            if unit == "KiB":  # where only less is taken
                yield "64B"


def outcome(run):
    result = json.loads(run.stdout)
    for name in ("config", "config_sha256"):
        result.pop(name, None)
    for name in ("config_sha256", "host_seconds"):
        result["flitwise"].pop(name, None)
    return result


def warned(run):
    return set(re.findall(r"warning: (\S+) has no effect", run.stderr))


def turned_where_accepted(config, sets, keys, whole):
    """Another value of each key, and the run with all of them; a value that is refused gives way to the next."""
    values = {key: others(key, value_of(whole, key)) for key in sorted(keys)}
    # Of lists and texts the schema knows no other value.
    turned = {key: value for key in values if (value := next(values[key], None)) is not None}
    while True:
        run = call("run", config, sets + [f"{key}={value}" for key, value in turned.items()])
        wrong = {key for key in re.findall(r"^--set ([\w.]+)=", run.stderr, re.M) if key in turned}
        if run.returncode != 2 or not wrong:
            return turned, run
        for key in wrong:
            turned[key] = next(values[key], None)
            if turned[key] is None:
                turned.pop(key)
                if key not in contradicts:
                    complain(f"{os.path.basename(config)}: every other value of {key} is refused: {run.stderr[-300:]}")


schema = dict(leaves(json.loads(subprocess.run([program, "schema", "--json"], capture_output=True, text=True, check=True).stdout)))
# A result does not repeat what is traced, so that no whole configuration has it.
conditional = {key for key in schema if "x-read-when" in schema[key] and not key.startswith("trace.")}
read, unread = set(), set()
for file, sets in machines:
    name = f"{file} {' '.join(sets)}"
    config = f"{configs}/{file}.yaml"
    base = call("run", config, sets)
    if base.returncode != 0:
        complain(f"{name}: exit code {base.returncode}: {base.stderr}")
        continue
    whole = json.loads(base.stdout)["config"]
    idle = {key for key in conditional if not is_read(key, whole)}
    read |= conditional - idle
    if not whole["system"]["instances"]:
        unread |= idle
        with open(f"{folder}/whole.yaml", "w") as out:
            json.dump(whole, out)
        seen = warned(call("check", f"{folder}/whole.yaml", []))
        if seen != idle:
            complain(f"{name}: said of {sorted(seen - idle)}, not said of {sorted(idle - seen)}")
    else:
        idle = {key for key in idle if not key.startswith(("device.", "link."))}  # instances have their own
    turned, all_turned = turned_where_accepted(config, sets, idle - never_turned, whole)
    changes = [f"{key}={value}" for key, value in turned.items()]
    if all_turned.returncode != 0:
        complain(f"{name}: exit code {all_turned.returncode} with {' '.join(changes)}: {all_turned.stderr[-300:]}")
        continue
    after = json.loads(all_turned.stdout)["config"]  # one may be a condition of another, though not of what runs
    if untold := {key for key in turned if not is_read(key, after)} - warned(all_turned):
        complain(f"{name}: not said of {sorted(untold)}")
    beside = set(re.findall(r"warning: (\S+) has no effect but for", all_turned.stderr))
    plain = [each for each in changes if each.split("=")[0] not in beside]
    if outcome(call("run", config, sets + plain)) != outcome(base):
        alone = {each: call("run", config, sets + [each]) for each in plain}  # some are refused without the others
        guilty = [each for each, run in alone.items() if run.returncode != 2 and outcome(run) != outcome(base)]
        complain(f"{name}: said to have no effect, and yet the result changes with {guilty or 'several of them together'}")
for key in sorted(conditional - read):
    complain(f"{key}: no machine here reads it: its condition may never hold")
for key in sorted(conditional - unread):
    complain(f"{key}: every machine here reads it: its condition may always hold")

for config in sorted(path for folder in ("examples", "checks", "bench") for path in glob.glob(f"{configs}/{folder}/*.yaml")):
    sets = [few, "run.warmup=0"] if "own_trace" not in config else []
    base = call("run", config, sets)
    whole = json.loads(base.stdout)["config"]
    for key in schema if "checks/linux" not in config else ():  # Linux drives that one
        now = value_of(whole, key)
        if now == schema[key]["default"] or key in silent or f"{key}={now}" in sets or schema[key].get("type") == "array" or now == {}:
            continue
        for value in others(key, now):
            run = call("run", config, sets + [f"{key}={value}"])
            if run.returncode == 2 or key in warned(run) or outcome(run) != outcome(base):
                break
        else:
            complain(f"{os.path.relpath(config, configs)}: no value of {key} changes anything, and nobody says so")
sys.exit(failed)
