# The studies of address translation: small versions of them run, and say what docs/ says of them.
. "$(dirname "$0")/program.sh"
studies="$FLITWISE_SOURCE_DIR/configs/studies"

# study NAME REQUESTS PREDICATE: runs the points of a study for which the Python expression over `p` (block and
# axes) holds, with so many requests each. The merged table is $work/NAME/points.csv.
study() {
  local name="$1" requests="$2" predicate="$3"
  expect 0 sweep plan "$studies/$name.yaml" -o "$work/$name"
  python3 - "$work/$name/manifest.jsonl" "$requests" "$predicate" <<'P' || complain "$name: no manifest"
import json, sys
path, requests, predicate = sys.argv[1:4]
kept = []
for line in open(path):
    point = json.loads(line)
    p = dict(point["axes"], block=point["block"])
    if eval(predicate, {"p": p}):
        point["config"]["workload"]["requests"] = int(requests)
        kept.append(point)
assert kept, "no point is left"
with open(path, "w") as out:
    for index, point in enumerate(kept):
        point["index"] = index
        out.write(json.dumps(point) + "\n")
P
  expect 0 sweep run "$work/$name" -j 2
}

# holds NAME EXPRESSION...: each Python expression over the table is true; get(column, **axes) is a number of one
# row, by columns named as in the study with _ for the dots.
holds() {
  local name="$1"
  shift
  python3 - "$work/$name/points.csv" "$@" <<'P' || complain "$name does not say what it should"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
def get(column, **axes):
    named = [{key.replace(".", "_"): value for key, value in row.items()} for row in rows]
    found = [row for row in named if all(row[key] == str(value) for key, value in axes.items())]
    assert len(found) == 1, (axes, len(found))
    value = found[0][column.replace(".", "_")]
    return float(value) if value else 0.0
bad = 0
for expression in sys.argv[2:]:
    try:
        if not eval(expression):
            raise AssertionError("is false")
    except Exception as error:
        print("FAILED:", expression, repr(error))
        bad = 1
sys.exit(bad)
P
}

# A hit of the ATC is worth a walk, a miss costs a round trip of the link and the bytes of a second request.
study atc_size 2000 'p["block"] == "window" and p["workload.buffer_size"] in ("64KiB", "4MiB") and p["atc"] in ("none", "64", "1024")'
holds atc_size \
  'abs(get("dma_read_mean_ns", atc="64", workload_buffer_size=65536) - get("dma_read_mean_ns", atc="none", workload_buffer_size=65536)) < 5' \
  'get("ats_misses", atc="64", workload_buffer_size=65536) < 20' \
  'get("dma_read_mean_ns", atc="64", workload_buffer_size=4194304) > get("dma_read_mean_ns", atc="none", workload_buffer_size=4194304) + 200' \
  'get("ats_misses", atc="64", workload_buffer_size=4194304) > 0.9 * 2000' \
  'get("dma_read_mean_ns", atc="1024", workload_buffer_size=4194304) < get("dma_read_mean_ns", atc="64", workload_buffer_size=4194304) - 100'

# Handles win while the domains fit the small IOTLB, the larger IOTLB beyond.
study handle_lookup 3000 'p["workload.domains"] in ("128", "192") and p["way"] in ("full 128", "full 512", "handle 10 ns")'
holds handle_lookup \
  'get("up_goodput_gbps", block="goodput", way="handle 10 ns", workload_domains=128) > 1.03 * get("up_goodput_gbps", block="goodput", way="full 512", workload_domains=128)' \
  'get("up_goodput_gbps", block="goodput", way="handle 10 ns", workload_domains=192) < 0.5 * get("up_goodput_gbps", block="goodput", way="full 512", workload_domains=192)' \
  'abs(get("dma_read_mean_ns", block="latency", way="handle 10 ns", workload_domains=128) - get("dma_read_mean_ns", block="latency", way="full 128", workload_domains=128) - 12) < 1' \
  'get("dma_read_mean_ns", block="latency", way="full 512", workload_domains=192) < get("dma_read_mean_ns", block="latency", way="handle 10 ns", workload_domains=192) - 50'

# Who checks AT=10 keeps it out, for no bytes; who names processes keeps them apart, a handle for no bytes either.
study secure_ats 1000 'p["way"] in ("handle", "ATS no pasid", "ATS no pasid, secure", "ATS pasid, secure", "ATS handle, secure")'
holds secure_ats \
  'get("attack_translated_address_through", block="attacked", way="ATS no pasid") > 20' \
  'get("attack_translated_address_tried", block="attacked", way="ATS no pasid, secure") > 20' \
  'get("attack_translated_address_through", block="attacked", way="ATS no pasid, secure") == 0' \
  'get("attack_process_through", block="attacked", way="ATS no pasid, secure") > 20' \
  'get("attack_process_tried", block="attacked", way="ATS handle, secure") > 20' \
  'sum(get(f"attack_{kind}_through", block="attacked", way=way) for kind in ("requester_id", "pasid", "handle", "translated_address", "process", "untranslated_address", "handle_message", "completion") for way in ("handle", "ATS pasid, secure", "ATS handle, secure")) == 0' \
  'get("up_wire_bytes_identity", block="cost", way="ATS handle, secure") == 0' \
  'get("up_wire_bytes_identity", block="cost", way="ATS pasid, secure") == 4 * 1000' \
  'get("dma_read_mean_ns", block="cost", way="ATS handle, secure") < get("dma_read_mean_ns", block="cost", way="ATS no pasid") + 10'

# [EP-12] Structures that are translated ahead of use are no look-ups of anybody, which pays where caches are too small for them.
study pretranslation 1000 'p["block"] == "pairs" and p["workload.domains"] == "128" and p["mode"] in ("none", "ATC 64", "pre-translation") or p["block"] == "storm" and p["on"] == "restore 10us" and p["host.iommu_driver.unmap_rate"] == "1000000"'
holds pretranslation \
  'all(float(row["checks_failed"]) == 0 for row in rows)' \
  'get("hca_untranslated", block="pairs", mode="pre-translation") < 5' \
  'get("iommu_walks", block="pairs", mode="pre-translation") < 0.9 * get("iommu_walks", block="pairs", mode="none")' \
  'get("verbs_latency_mean", block="pairs", mode="pre-translation") < get("verbs_latency_mean", block="pairs", mode="none")' \
  'get("verbs_latency_mean", block="pairs", mode="pre-translation") < get("verbs_latency_mean", block="pairs", mode="ATC 64") < get("verbs_latency_mean", block="pairs", mode="none")' \
  'get("eps_invalidations_hit", block="storm", host_iommu_driver_mode="deferred") > 3'

# A teardown is the sum of its parts; entries of the ATC do not matter, the length of the link does.
study context_teardown 6000 'p["block"] == "parts" or p.get("device.atc.entries") in ("16", "1024") or p.get("link.timing.propagation") in ("5ns", "500ns")'
holds context_teardown \
  'all(float(row["checks_failed"]) == 0 and float(row["iommu_teardowns"]) > 10 for row in rows)' \
  'get("teardown_mean_ns", block="parts", machine="handles") > get("teardown_mean_ns", block="parts", machine="full identity") + 1000' \
  'get("teardown_mean_ns", block="parts", machine="ATC") > get("teardown_mean_ns", block="parts", machine="full identity") + 500' \
  'get("teardown_reset_mean_ns", block="parts", machine="ATC, handles, FLR") > 2000' \
  'abs(sum(get(f"teardown_{phase}_mean_ns", block="parts", machine="ATC, handles, FLR") for phase in ("stop", "handle", "agent", "device", "reset")) - get("teardown_mean_ns", block="parts", machine="ATC, handles, FLR")) < 1' \
  'abs(get("teardown_mean_ns", block="atc", device_atc_entries=16) - get("teardown_mean_ns", block="atc", device_atc_entries=1024)) < 100' \
  'get("teardown_mean_ns", block="link", link_timing_propagation="500.0") > get("teardown_mean_ns", block="link", link_timing_propagation="5.0") + 6 * 495'

# What the driver must not do with contexts and permissions is noticed.
cat >"$work/driver.yaml" <<Y
base: $FLITWISE_SOURCE_DIR/configs/presets/gen5x16.yaml
iommu: {translation: first_stage}
host: {iommu_driver: {enabled: true, teardown_rate: 100000}}
workload: {kind: read_write, payload: 64B, domains: 16, buffer_size: 16KiB, placement: random, arrival: poisson, rate: 4Mreq/s, requests: 2000}
Y
ends=(run "$work/driver.yaml" --quiet -o "$work/driver")
expect 0 "${ends[@]}"
expect 3 "${ends[@]}" --set host.iommu_driver.mistake=no_stop
said "no request of a context that has ended"
expect 3 "${ends[@]}" --set host.iommu_driver.mistake=no_pasid_cache
said "no access by a stale translation"
secure=("${ends[@]}" --set iommu.secure_ats=true --set device.atc.enabled=true --set device.pri.enabled=true
  --set host.iommu_driver.unmap_rate=100000)
for way in link.identity=dhi workload.at=translated_pasid workload.at=untranslated; do
  expect 0 "${secure[@]}" --set "$way"
done
expect 3 "${secure[@]}" --set workload.at=translated_pasid --set host.iommu_driver.mistake=no_revoke
said "permitted is what is mapped"

# Carriers: 4 of 28 + s bytes without flits, 4 of 20 + s with them; on CXL.cache a handle costs no bytes of the standard's, and once
# the round trip of its ALLOC.
study dhi_on_flits 2000 'p["block"] in ("carriers", "cache_spec") and p["workload.payload"] == "64B" and p["workload.kind"] == "posted_write" and p.get("link.preset") != "cxl256_gen6x16"'
holds dhi_on_flits \
  'abs(get("up_goodput_gbps", carrier="PCIe Gen5", identity="handle") / get("up_goodput_gbps", carrier="PCIe Gen5", identity="full") - 92 / 88) < 0.003' \
  'abs(get("up_goodput_gbps", carrier="PCIe flits", identity="handle") / get("up_goodput_gbps", carrier="PCIe flits", identity="full") - 84 / 80) < 0.003' \
  'abs(get("up_goodput_gbps", carrier="CXL.io 68 B", identity="handle") / get("up_goodput_gbps", carrier="CXL.io 68 B", identity="full") - 92 / 88) < 0.003' \
  'get("up_goodput_gbps", carrier="CXL.cache 68 B", identity="handle") > 1.1 * get("up_goodput_gbps", carrier="CXL.cache 68 B", identity="full")' \
  'get("up_wire_bytes_identity", block="cache_spec", identity="handle 12") == 0' \
  'abs(get("up_wire_bytes_identity", block="cache_spec", identity="full 36") - 2000 * 22 / 8) < 20'

# [CXL-7.7] [CXL-7.10] A look-up costs its time in each miss and no bytes of 68-byte flits, a permission that is cached that of the cache; hits cost nothing.
study cxl_identity 2000 'p["block"] in ("lookup", "isolation") or p["block"] == "hit_rate" and p["workload.buffer_size"] in ("4KiB", "8KiB") and p["link.preset"] == "cxl68_gen5x16"'
holds cxl_identity \
  'all(abs(get("dma_read_mean_ns", block="lookup", identity="handle", host_dhi_storage_timing_by_handle=at) - get("dma_read_mean_ns", block="lookup", identity="spec", host_dhi_storage_timing_by_handle=at) - 2 - float(at)) < 0.24 for at in ("2.0", "10.0", "50.0"))' \
  'abs(get("dma_read_mean_ns", way="handle with permissions") - get("dma_read_mean_ns", way="spec") - 8) < 0.24' \
  'abs(get("bytes", way="handle with permissions") - get("bytes", way="spec")) < 0.01' \
  'get("bytes", way="full with permissions") > get("bytes", way="spec") + 2.5' \
  'get("iommu_permission_checks", way="handle with permissions") == 2000' \
  'get("dhi_lookups", block="hit_rate", identity="handle", workload_buffer_size=4096) < 0.1 * get("dhi_lookups", block="hit_rate", identity="handle", workload_buffer_size=8192)'
# A READ alone: its parts add up to what software measures, whatever is in its way, and commands and ATC save reads and walks.
study five_systems 60 'p["block"] == "alone" and p["way"] == "cable" and p["workload.payload"] == "64B" and p["iommu.iotlb.entries"] == "none"'
holds five_systems \
  'all(243 < get("software", step=step) < 252 for step in ("plain", "handle", "ATC", "command", "sessions", "keys", "permissions"))' \
  '250 < get("latency", step="handle") - get("latency", step="ATC") < 266' \
  '390 < get("latency", step="pre-translation") - get("latency", step="command") < 402' \
  '0 < get("latency", step="permissions") - get("latency", step="command") < 20'

# [CXL-7.11] Lines of a page that is taken back go with it, and modified ones take longer.
study cxl_revocation 20000 'p["iommu.page"] == "2MiB" and p["device.cxl.cache.size"] in ("64KiB", "1MiB")'
holds cxl_revocation \
  'all(float(row["checks_failed"]) == 0 and float(row["iommu_unmaps"]) > 3 for row in rows)' \
  'get("lines", workload_kind="read", device_cxl_cache_size=1048576) > 2 * get("lines", workload_kind="read", device_cxl_cache_size=65536)' \
  'get("unmap_mean_ns", workload_kind="posted_write", device_cxl_cache_size=1048576) > get("unmap_mean_ns", workload_kind="posted_write", device_cxl_cache_size=65536) + 500' \
  'get("unmap_mean_ns", workload_kind="posted_write", device_cxl_cache_size=1048576) > get("unmap_mean_ns", workload_kind="read", device_cxl_cache_size=1048576) + 500'

# [DHI-38] A handle for the process, or one for each queue pair, saves 4 of 92 bytes of a write, which nothing holds up; 16 handles for 64 that take turns go in full.
study dhi_vs_pasid 10000 'p["block"] == "queue_pairs" and p["workload.domain_choice"] == "round_robin"'
holds dhi_vs_pasid \
  'abs(get("up_goodput_gbps", identity="one handle") / get("up_goodput_gbps", identity="bdf_pasid") - 92 / 88) < 0.001' \
  'abs(get("up_goodput_gbps", identity="64 handles") / get("up_goodput_gbps", identity="bdf_pasid") - 92 / 88) < 0.001' \
  'get("up_goodput_gbps", identity="16 handles stall") < 0.05 * get("up_goodput_gbps", identity="bdf_pasid")' \
  'get("up_goodput_gbps", identity="16 handles bypass") > get("up_goodput_gbps", identity="bdf_pasid")'

# [DHI-40] READs of an RDMA adapter by 64 queue pairs of one process: one ALLOC, or one each.
study rdma_identity 2000 'p["block"] == "queue_pairs"'
holds rdma_identity \
  'get("dhi_allocs", handles="one") == 1' \
  'get("dhi_allocs", handles="64 of them") == 64' \
  'get("verbs_operations", handles="16 of them") == 2000' \
  'get("up_wire_bytes_identity", handles="one") < 0.01 * get("up_wire_bytes_identity", handles="none")'
finish
