// SPDX-License-Identifier: Apache-2.0
#include "workload/flow_trace.h"

#include "workload/trace_lines.h"

namespace flitwise {
namespace {

constexpr const char* kFlowHeader = "time_ns,src,dst,bytes";
// A flow is one WRITE: as long as one may be by the smallest path MTU. [PS-3]
constexpr std::uint64_t kMostFlowBytes = std::uint64_t{(1U << 23) - 1} * 256;
constexpr std::uint64_t kMostTraceFlows = std::uint64_t{1} << 31;

bool parse_host(CsvReader& csv, std::uint32_t hosts, std::uint32_t& host) {
  const auto number = parse_unsigned(csv.field());
  if (!number || *number >= hosts) {
    return csv.refuse(fmt::format("a host, 0 to {}", hosts - 1));
  }
  host = static_cast<std::uint32_t>(*number);
  return true;
}

bool parse_flow(CsvReader& csv, std::uint32_t hosts, Flow& flow, Time& at) {
  TraceFields fields(csv);
  flow.source = flow.destination = hosts;  // none yet
  const bool is_whole = fields.time(at) && fields.take("src", "before src", [&] {
    return parse_host(csv, hosts, flow.source);
  }) && fields.take("dst", "before dst", [&] {
    return parse_host(csv, hosts, flow.destination) &&
           (flow.destination != flow.source || csv.refuse("another host than src"));
  }) && fields.take("bytes", "before bytes", [&] {
    flow.bytes = parse_unsigned(csv.field()).value_or(0);
    return (flow.bytes > 0 && flow.bytes <= kMostFlowBytes) ||
           csv.refuse(fmt::format("1 to {} bytes", kMostFlowBytes));
  });
  flow.start = at;
  return is_whole && fields.end("fifth");
}

class FlowTrace final : public FlowSource {
 public:
  FlowTrace(const std::string& path, std::uint32_t hosts)
      : lines_(path, kFlowHeader, [hosts](CsvReader& csv, Flow& flow, Time& at) {
          return parse_flow(csv, hosts, flow, at);
        }) {
    if (lines_.left() > kMostTraceFlows) {
      throw ConfigError(
          {{path, 0, 0, "",
            fmt::format("{} flows seen; expected {} at most", lines_.left(), kMostTraceFlows)}});
    }
  }
  bool next(Flow& flow) override {
    flow = Flow{};
    flow.id = made_;
    made_ += lines_.left() > 0 ? 1 : 0;
    return lines_.next(flow);
  }
  std::uint64_t left() const override { return lines_.left(); }

 private:
  TraceLines<Flow> lines_;
  std::uint32_t made_ = 0;
};

}  // namespace

std::unique_ptr<FlowSource> trace_flows(const std::string& path, std::uint32_t hosts) {
  return std::make_unique<FlowTrace>(path, hosts);
}

}  // namespace flitwise
