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
same hosts "Limit: " "$configs/examples/two_hosts.yaml" "${small[@]}"
same refused "No request succeeded" "$config" "${small[@]}" --set host.dma_window.size=1B --set run.warmup=0

# A point of a sweep is a run.
printf 'base: %s\nset: {workload.requests: 500}\nblocks:\n- name: one\n  axes: {workload.payload: [256B]}\n' "$config" >"$work/study.yaml"
expect 0 sweep run "$work/study.yaml" -o "$work/sweep"
expect 0 report "$work/sweep/points/"*.json -o "$work/page.html"
expect 0 run "$config" "${small[@]}" --set workload.payload=256B
compare "point of a sweep"

# Each chart of a page is an image of its own as well.
cat >"$work/charts.yaml" <<Y
base: $config
set: {workload.requests: 500}
blocks:
- name: one
  axes: {workload.payload: [256B, 512B]}
  figures: {goodput: {is: up_goodput_gbps}}
  plots: [{title: a & b, x: workload.payload, figure: goodput}]
Y
expect 0 sweep run "$work/charts.yaml" -o "$work/plotted"
expect 0 report "$work/plotted" -o "$work/page.html" --charts "$work/charts"
python3 - "$work/page.html" "$work/charts" <<'P' || complain "the charts of a page are not its images"
import pathlib, sys
import xml.etree.ElementTree as tree
page = open(sys.argv[1]).read()
files = sorted(pathlib.Path(sys.argv[2]).iterdir())
assert [f.name for f in files] == [f"chart{i + 1:02}.svg" for i in range(page.count("<svg"))] != [], files
for file in files:
    image = tree.parse(file).getroot()
    assert image.tag == "{http://www.w3.org/2000/svg}svg" and image.get("aria-label") == "a & b", file
P
refuse 64 report "$work/plotted" -o "$work/page.html" --charts "$work/charts" --plain
finish
