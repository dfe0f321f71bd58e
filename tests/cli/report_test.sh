# The page of a run shows what the terminal shows: the same lines and tables in the same order, none of them empty.
. "$(dirname "$0")/program.sh"
configs="$FLITWISE_SOURCE_DIR/configs"

# compare NAME: stdout in $work/out with $work/page.html.
compare() {
  python3 - "$work/out" "$work/page.html" "$1" <<'P' || complain "$1: the page does not show what stdout does"
import html.parser, re, sys

class Page(html.parser.HTMLParser):
    """Lines and tables in order. What has to be clicked open is no part of the summary."""
    def __init__(self):
        super().__init__()
        self.parts, self.closed, self.tag, self.sections = [], 0, None, 0
        self.empty = []

    def handle_starttag(self, tag, attributes):
        self.closed += tag == "details"
        self.sections += tag == "h3"
        if tag == "table":
            self.table = []
        elif tag == "tr":
            self.table.append([])
        elif tag in ("th", "td"):
            self.table[-1].append("")
        elif tag == "p":
            self.text = ""
        self.tag = tag if tag in ("th", "td", "p") else None

    def handle_data(self, data):
        if self.tag in ("th", "td"):
            self.table[-1][-1] += data
        elif self.tag == "p":
            self.text += data

    def handle_endtag(self, tag):
        self.closed -= tag == "details"
        if tag == "table":
            if len(self.table) < 2 or all(c in ("", "-") for row in self.table[1:] for c in row):
                self.empty.append(self.table)
            if not self.closed and self.sections == 0:
                self.parts.append([" ".join(" ".join(row).split()) for row in self.table])
        elif tag == "p" and not self.closed and self.sections == 0:
            self.parts.append([self.text])
        self.tag = None if tag == self.tag else self.tag

page = Page()
page.feed(open(sys.argv[2]).read())
shown = [line for part in page.parts for line in part]
told = [" ".join(line.split()) for line in open(sys.argv[1])][1:]  # behind the line that the page has as facts
# When windows ended is in no result.json, and with it the line about what drained.
told = [line for line in told if line and "goodput is of" not in line]
for seen, expected in zip(shown + [None] * len(told), told):
    if seen != expected:
        sys.exit(f"{sys.argv[3]}: the page has {seen!r} where stdout has {expected!r}")
if len(shown) != len(told):
    sys.exit(f"{sys.argv[3]}: stdout lacks {shown[len(told):]}")
if page.empty:
    sys.exit(f"{sys.argv[3]}: empty tables: {page.empty}")
P
}

# same NAME HEADING CONFIG OPTIONS...: runs it; stdout has the heading, and so the page.
same() {
  local name="$1" heading="$2"
  shift 2
  expect 0 run "$@" -o "$work/$name"
  printed "$heading"
  mv "$work/out" "$work/told"
  expect 0 report "$work/$name" -o "$work/page.html" --plain
  mv "$work/told" "$work/out"
  compare "$name"
}

same link "Bytes on the wire, %" "$config" "${small[@]}"
same handles "Device handles" "$configs/examples/handles_under_zipf.yaml" "${small[@]}"
same iommu "Translations" "$configs/bench/iommu_walk4_read_64B.yaml" "${small[@]}"
same ats "Address translation caches" "$configs/bench/ats_hit_read_64B.yaml" "${small[@]}"
same cxl "CXL caches" "$configs/examples/cxl_cache.yaml" "${small[@]}"
same hdm_db "Memory by HDM-DB" "$configs/examples/cxl_hdm_db.yaml" "${small[@]}"
same bit_packed "Latency, ns" "$configs/checks/bit_packed.yaml" "${small[@]}"
same switch "Waited for" "$configs/examples/switch_two_devices.yaml" "${small[@]}"
same srdma "HCA " "$configs/examples/srdma_two_hosts.yaml" --set workload.requests=20
same hosts "Limit: " "$configs/examples/two_hosts.yaml" "${small[@]}"
same refused "No request succeeded" "$config" "${small[@]}" --set host.dma_window.size=1B --set run.warmup=0

# A point of a sweep is a run.
printf 'base: %s\nset: {workload.requests: 500}\nblocks:\n- name: one\n  axes: {workload.payload: [256B]}\n' "$config" >"$work/study.yaml"
expect 0 sweep run "$work/study.yaml" -o "$work/sweep"
expect 0 report "$work/sweep/points/"*.json -o "$work/page.html"
expect 0 run "$config" "${small[@]}" --set workload.payload=256B
compare "point of a sweep"

# The page of a sweep: what came out stands on top, and its charts are drawn without a network.
cat >"$work/charts.yaml" <<Y
base: $config
set: {workload.requests: 500, workload.domains: 16}
blocks:
- name: one
  title: Is it worth it?
  axes: {link.identity: [bdf_pasid, dhi], workload.payload: [256B, 512B]}
  figures:
    goodput: {is: up_goodput_gbps}
    gain: {is: 100 * goodput / baseline(goodput) - 100, unit: "%"}
  baseline: {where: {link.identity: bdf_pasid}, match: [workload.payload]}
  verdict: {figure: gain, within: 0.1, per: link.identity}
  plots: [{title: a & b, x: workload.payload, series: link.identity, figure: goodput}]
Y
expect 0 sweep run "$work/charts.yaml" -o "$work/plotted"
expect 0 report "$work/plotted" -o "$work/page.html"
cp "$work/page.html" "$work/again.html"
expect 0 report "$work/plotted" -o "$work/page.html"
cmp -s "$work/page.html" "$work/again.html" || complain "the same results make another page"
python3 - "$work/page.html" <<'P' || complain "the page does not say what came out, or its charts are no specifications"
import html.parser, json, os, sys

class Page(html.parser.HTMLParser):
    """Elements that are open have to be closed, and no attribute names a place elsewhere."""
    def __init__(self):
        super().__init__()
        self.open, self.specs, self.headings, self.links, self.text = [], [], [], [], ""

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "link", "br"):
            self.open.append((tag, dict(attributes)))
        assert not any(name == "src" or name == "href" and (":" in value or value.startswith("/")) for name, value in attributes), attributes
        self.links += [value for name, value in attributes if name == "href" and not value.startswith("#")]
        if tag == "figure":
            assert dict(attributes)["aria-label"] and dict(attributes)["tabindex"] == "0"

    def handle_data(self, data):
        tag, attributes = self.open[-1] if self.open else ("", {})
        if tag == "script" and attributes.get("type") == "application/json":
            self.specs.append(json.loads(data))
        elif tag == "h2":
            self.headings.append(data)
        if tag != "script":
            self.text += data

    def handle_endtag(self, tag):
        seen = self.open.pop()[0]
        assert seen == tag, f"</{tag}> ends <{seen}>"

page = Page()
page.feed(open(sys.argv[1]).read())
assert page.open == [], page.open
assert page.headings[:2] == ["Conclusion", "What varies"], page.headings
assert "wins" in page.text
assert [spec["title"] for spec in page.specs] == ["a & b", "Where the bytes of the first link went, up, idle left out"], page.specs
folder = os.path.dirname(sys.argv[1])
assert len(page.links) == 4 and all(json.load(open(os.path.join(folder, link)))["point"]["id"] in link for link in page.links), page.links
values = page.specs[0]["data"]["values"]
assert [(v["s"], v["x"]) for v in values] == [(s, x) for s in (values[0]["s"], values[2]["s"]) for x in (256, 512)], values
P
expect 0 report "$work/plotted" -o "$work/plain.html" --plain
! grep -q '<script\|<figure' "$work/plain.html" || complain "a plain page has a script or a chart"
# Beside a trace of figures over time, which uPlot draws and no image is made of.
expect 0 run "$config" "${small[@]}" --trace series="$work/series.csv"
expect 0 report "$work/plotted" "$work/series.csv" -o "$work/page.html"
if command -v node >/dev/null; then
  "$FLITWISE_SOURCE_DIR/scripts/report_charts" "$work/page.html" "$work/images" || complain "scripts/report_charts fails"
  grep -q 'aria-roledescription="line mark container"' "$work/images/chart01.svg" || complain "the image of a chart has no curve"
fi
browser="$(command -v chromium || true)"
if [[ -n $browser ]]; then
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$work/browser" --enable-logging=stderr --virtual-time-budget=4000 \
    --dump-dom "file://$work/page.html" >"$work/dom" 2>"$work/console"
  grep -q 'data-ready="2"' "$work/dom" || complain "the charts of the page are not drawn: $(grep CONSOLE "$work/console")"
  grep -q 'aria-roledescription="line mark container"' "$work/dom" || complain "the chart of the page has no curve"
  grep -q 'class="uplot' "$work/dom" || complain "figures over time are not drawn"
  ! grep -q CONSOLE "$work/console" || complain "the page complains: $(grep CONSOLE "$work/console")"
fi
# The way of a TLP, hop by hop, adds up to the latency of those that were looked at.
expect 0 run "$config" --quiet --set workload.kind=read --set workload.requests=500 -o "$work/hops"
python3 - "$work/hops/result.json" <<'P' || complain "hops do not add up to the latency of reads"
import json, sys
result = json.load(open(sys.argv[1]))
mean = result["latency"][0]["mean"]
sys.exit(abs(sum(row["mean_ns"] for row in result["hops"]) - mean) > 0.05 * mean)
P
finish
