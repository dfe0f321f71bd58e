// SPDX-License-Identifier: Apache-2.0
// Resets of a function of an RDMA adapter: what the other function feels of them.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "config/load.h"
#include "script/script.h"
#include "script_bench.h"

namespace flitwise::rdma_resets_test {
namespace {

using Json = test::ScriptAnswer::Json;

// The values of all `result` operations, in their order.
std::vector<double> results_of(const std::string& script, const std::vector<std::string>& sets) {
  LoadOptions options;
  options.sets = sets;
  const Config config =
      load_config(std::string(FLITWISE_SOURCE_DIR) + "/configs/checks/rdma_one_host.yaml", options);
  std::istringstream in(script);
  std::ostringstream out;
  EXPECT_EQ(script_command(in, out, config), 0) << out.str();
  std::istringstream written(out.str());
  std::vector<double> values;
  for (std::string line; std::getline(written, line);) {
    const Json event = Json::parse(line);
    if (event.value("event", "") == "result") {
      values.push_back(event["value"]);
    }
  }
  return values;
}

// Requests of both functions come at fixed distances. VF 1 is reset, set up and reset again: those
// of VF 2 are as many in the same time, and none takes longer than before. (What VF 1 makes up for
// behind its set-up is load as any other.)
TEST(RdmaResets, HP_4_AnotherFunctionDoesNotFeelThem) {
  const std::string look = R"({"op": "result", "path": "verbs.1.operations"}
{"op": "result", "path": "verbs.1.latency.mean"}
{"op": "result", "path": "verbs.1.latency.max"}
)";
  const std::string reset = R"({"op": "reset", "kind": "flr", "bdf": "01:00.1"}
)";
  const std::string set_up = R"({"op": "cfg_write", "bdf": "01:00.1", "reg": "COMMAND", "value": 4}
{"op": "mmio_write", "addr": "0x10000008018", "u64": "0x100000003"}
{"op": "mmio_write", "addr": "0x10000108018", "u64": "0x100000003"}
)";
  const std::string wait = R"({"op": "run", "for": "400us"}
)";
  const std::string count = R"({"op": "result", "path": "errors.function_reset"}
{"op": "result", "path": "verbs.0.operations"}
)";
  const std::string idle = R"({"op": "run", "until": "idle"}
)";
  const std::vector<double> seen =
      results_of(R"({"op": "start"}
)" + wait + look + reset +
                     wait + look + set_up + wait + look + count + reset + wait + idle + look,
                 {"workload.arrival=cbr", "workload.rate=2Mreq/s", "workload.requests=6000",
                  "device.rdma.qpsc_entries=64"});
  ASSERT_EQ(seen.size(), 14U);
  EXPECT_LE(seen[4], seen[1] * 1.05) << "mean with VF 1 down";
  for (const std::size_t at : {3U, 6U, 11U}) {
    EXPECT_LE(seen[at + 2], seen[2] * 1.1) << "longest at look " << at / 3;
  }
  EXPECT_NEAR((seen[3] - seen[0]) / (seen[6] - seen[3]), 1, 0.05);
  EXPECT_EQ(seen[11], 3000);
  EXPECT_GT(seen[9] + seen[10], 100) << "VF 1 went on behind its first reset";
}

}  // namespace
}  // namespace flitwise::rdma_resets_test
