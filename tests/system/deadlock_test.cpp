// SPDX-License-Identifier: Apache-2.0
// A machine in which nothing moves any more says so, and says what waits.
#include <gmock/gmock.h>
#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/error.h"
#include "flitwise/link_socket.h"
#include "flitwise/system.h"

namespace flitwise::deadlock_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// Takes one request and never says anything again.
class DeadMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<DeadMemory> socket{"socket"};

  explicit DeadMemory(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &DeadMemory::forward);
  }

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& /*delay*/) {
    payload.acquire();
    return tlm::TLM_ACCEPTED;
  }
};

/// What the run ends with, and when.
std::string death_of(const std::string& yaml, Time& end) {
  DeadMemory memory("dead");
  System system(config_from_text(yaml, "run.yaml", ""), memory.socket);
  try {
    system.run();
  } catch (const SimulationError& error) {
    end = now();
    return error.what();
  }
  return "";
}

TEST(Deadlock, IsReportedAfterTheTimeThatTheUserSetWithTheEngineThatWaits) {
  Time end{};
  const std::string why = death_of(R"(
workload: {kind: posted_write, requests: 5000}
device: {timing: {completion_timeout: 200us}}
host: {timing: {completion_timeout: 200us}}
run: {deadlock_after: 300us}
)",
                                   end);
  EXPECT_THAT(why, HasSubstr("no progress for 300 us"));
  EXPECT_THAT(why, HasSubstr("ep0: engine: "));
  EXPECT_THAT(why, HasSubstr("more to come; 0 reads of at most 1024"));
  EXPECT_THAT(why, HasSubstr("rp0-ep0 up: "));
  EXPECT_GT(end, Time::from_us(300));
  EXPECT_LT(end, Time::from_us(400)) << "boot and first writes take some microseconds";
}

TEST(Deadlock, AHostileDeviceSaysHowFarItGot) {
  Time end{};
  const std::string why = death_of(R"(
workload: {kind: hostile, requests: 50000}
device: {timing: {completion_timeout: 200us}}
host: {timing: {completion_timeout: 200us}}
run: {deadlock_after: 300us}
)",
                                   end);
  EXPECT_THAT(why, HasSubstr("of 50000 hostile TLPs sent"));
}

// 200 writes of 64 bytes, half a millisecond each, are given to memory within microseconds.
TEST(Deadlock, IsNoneWhileMemoryWorksOnWhatItHasTaken) {
  System system(config_from_text(R"(
workload: {kind: posted_write, payload: 64B, requests: 200}
host: {memory: {bandwidth: 1Mb/s}}
run: {warmup: 0, deadlock_after: 50ms}
)",
                                 "run.yaml", ""));
  EXPECT_NO_THROW(system.run());
  EXPECT_GT(now(), Time::from_us(100'000)) << "longer than patience lasts";
}

/// Why the run of a machine with its own memory ends; empty where it gives a result.
std::string end_of(const std::string& yaml) {
  System system(config_from_text(yaml, "run.yaml", ""));
  try {
    system.run();
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "";
}

// Each Recovery is told of by ERR_COR, which is sent again as well: the machine never gets quiet.
TEST(Deadlock, OfAMachineThatDoesNotComeUpSaysWhoRepeatsWhat) {
  const std::string why = end_of(R"(
link: {preset: gen6x16, flit_mode: true, timing: {propagation: 1us, replay_timeout: 100ns}}
workload: {kind: posted_write, requests: 10}
)");
  EXPECT_THAT(why, HasSubstr("the machine does not come up: no progress"));
  EXPECT_THAT(why, HasSubstr("TLPs or flits sent again"));
  EXPECT_LT(now(), Time::from_us(200'000));
}

// More than 500 TLPs and flits go again, or are damaged, for one that arrives; each read gives up
// in its time, and so ends.
TEST(Deadlock, ALinkThatHardlyEverDeliversHasFailedThoughRequestsGiveUp) {
  const std::string why = end_of(R"(
link: {preset: gen3x8, identity: none, error_rate: 1e-2}
device: {dma: {outstanding: 1}, timing: {completion_timeout: 50us}}
workload: {kind: read, payload: 64B, requests: 20000}
run: {warmup: 2000}
)");
  EXPECT_THAT(why,
              ContainsRegex("no progress on rp0-ep0: [1-9][0-9]{1,2} TLPs arrived while the last "
                            "10[0-9]{4} TLPs, flits and DLLPs were damaged or sent again"));
  EXPECT_THAT(why, Not(HasSubstr("accesses to devices"))) << "the boot is long over";
}

// The engine goes on behind what is patience for others, and each request has all of it again.
TEST(Deadlock, IsNoneWhereAnEnginePausesForLongerThanPatienceLasts) {
  EXPECT_EQ(end_of(R"(
device: {dma: {issue_interval: 10ms}, timing: {completion_timeout: 40us}}
host: {timing: {completion_timeout: 40us}}
workload: {kind: read, payload: 64B, requests: 20}
run: {warmup: 0, deadlock_after: 900us}
)"),
            "");
  EXPECT_GT(now(), Time::from_us(190'000));
}

// Cores send packets and wait for the next arrival, three times as long as patience lasts. Blocks
// of their store buffers are out meanwhile, and nobody takes them back.
TEST(Deadlock, IsNoneWherePacketsOfPioComeLaterThanPatienceLasts) {
  EXPECT_EQ(end_of(R"(
host: {cores: {count: 2, threads: 2}, timing: {completion_timeout: 200us}}
device: {functions: {bar_size: 64MiB}, pio: {depth: 16, threshold: 0, early_return: true}, timing: {completion_timeout: 200us}}
workload: {via: pio, requests: 8, payload: 200B, domains: 4, arrival: cbr, rate: 1000req/s}
run: {warmup: 0, deadlock_after: 300us}
)"),
            "");
  EXPECT_GT(now(), Time::from_us(4'000));
}

// The first write keeps the only credit, the second waits for it: the pace of the engine excuses
// nothing any more.
TEST(Deadlock, OfWorkThatIsUnderWayIsNotPutOffByThePaceOfTheEngine) {
  Time end{};
  const std::string why = death_of(R"(
link: {credits: {posted_headers: 1}}
workload: {kind: posted_write, payload: 64B, requests: 1000}
device: {dma: {issue_interval: 2ms}, timing: {completion_timeout: 200us}}
host: {timing: {completion_timeout: 200us}}
run: {warmup: 0, deadlock_after: 300us}
)",
                                   end);
  EXPECT_THAT(why, HasSubstr("no progress for 300 us"));
  EXPECT_LT(end, Time::from_us(10'000));
}

// The driver lets three times as much time pass as patience lasts, and then a walk goes on.
TEST(Deadlock, IsNoneBehindATimerThatHasRunOut) {
  EXPECT_EQ(end_of(R"(
iommu: {translation: first_stage}
device: {atc: {enabled: true}, pri: {enabled: true}, timing: {completion_timeout: 500us}}
host:
  timing: {completion_timeout: 500us}
  iommu_driver: {enabled: true, premapped: 0, map_latency: 3ms}
workload: {kind: read, payload: 64B, requests: 20, domains: 4}
run: {warmup: 0, deadlock_after: 1ms}
)"),
            "");
  EXPECT_GT(now(), Time::from_us(3'000));
}

// As before, while the driver unmaps other pages all the time, which is no progress.
TEST(Deadlock, IsNoneBeforeATimerThatRunsOutWhileOthersGoOn) {
  EXPECT_EQ(end_of(R"(
iommu: {translation: first_stage}
device: {atc: {enabled: true}, pri: {enabled: true}, timing: {completion_timeout: 100us}}
host:
  timing: {completion_timeout: 100us}
  iommu_driver: {enabled: true, premapped: 0.2, map_latency: 1ms, unmap_rate: 300000}
workload: {kind: posted_write, payload: 64B, requests: 200, domains: 4, placement: random, buffer_size: 64KiB}
run: {warmup: 0, deadlock_after: 100us}
)"),
            "");
  EXPECT_GT(now(), Time::from_us(50'000));
}

/// A run with a driver whose accesses take nearly as long as patience lasts, and fields of
/// host.iommu_driver and workload.
std::string driver_config(const std::string& driver, const std::string& workload) {
  return "iommu: {translation: first_stage}\n"
         "device: {atc: {enabled: true}, pri: {enabled: true}, timing: {completion_timeout: "
         "100us}}\n"
         "host: {timing: {completion_timeout: 100us}, iommu_driver: {enabled: true, " +
         driver + "}}\nworkload: {kind: posted_write, payload: 64B, domains: 4, " + workload +
         "}\nrun: {warmup: 0, deadlock_after: 100us}\n";
}

// An unmap that is under way when the last request is over takes four accesses and more.
TEST(Deadlock, IsNoneWhileTheDriverTakesTheStepsOfAnUnmap) {
  EXPECT_EQ(end_of(driver_config("step: 90us, unmap_rate: 10000000", "requests: 200")), "");
  EXPECT_GT(now(), Time::from_us(4 * 90));
}
// A batch takes more than two accesses for each of its unmaps, each short.
TEST(Deadlock, IsNoneWhileTheDriverUnmapsABatch) {
  EXPECT_EQ(
      end_of(driver_config("step: 1us, batch: 256, unmap_rate: 1000000000", "requests: 2000")), "");
  EXPECT_GT(now(), Time::from_us(2 * 256));
}
TEST(Deadlock, IsNoneWhileTheDriverTakesTheStepsOfAPageAnswer) {
  EXPECT_EQ(end_of(driver_config("step: 90us, premapped: 0", "requests: 4")), "");
  EXPECT_GT(now(), Time::from_us(6 * 90));
}
// The device stops the context, then caches are told, each with a wait behind it.
TEST(Deadlock, IsNoneWhileTheDriverTakesTheStepsOfATeardown) {
  EXPECT_EQ(end_of(driver_config("step: 90us, teardown_rate: 10000000", "requests: 200")), "");
  EXPECT_GT(now(), Time::from_us(6 * 90));
}

// Caches of one entry, and two domains in turn: each request has walks for a page that has been
// walked for before, in an earlier doubt.
TEST(Deadlock, IsNoneWhilePagesOfEarlierRequestsAreWalkedForAgain) {
  EXPECT_EQ(end_of(R"(
iommu: {translation: first_stage, iotlb: {entries: none}, pasid_cache: {entries: 1}, paging_cache: {entries: 1}}
device: {dma: {issue_interval: 20ms}, timing: {completion_timeout: 500us}}
host: {memory: {timing: {latency: 600us}}, timing: {completion_timeout: 500us}}
workload: {kind: posted_write, payload: 64B, requests: 6, domains: 2}
run: {warmup: 0, deadlock_after: 1ms}
)"),
            "");
  EXPECT_GT(now(), Time::from_us(80'000));
}

// Of 100 reads most give up after 50 ms; the walks for their Translation Requests take 300 ms more.
TEST(Deadlock, IsNoneWhileWalksGoOnForRequestsThatHaveGivenUp) {
  EXPECT_EQ(end_of(R"(
iommu: {translation: first_stage}
device: {atc: {enabled: true}}
host: {memory: {timing: {latency: 3ms}}}
workload: {kind: read, payload: 64B, requests: 100, domains: 64, buffer_size: 4KiB}
run: {warmup: 0}
)"),
            "");
  EXPECT_GT(now(), Time::from_us(250'000));
}

// Each step of the walk comes behind half of the patience, and each is shorter than it: eight
// reads, four updates of A and D, and then the write itself.
TEST(Deadlock, IsNoneWhileOneWalkTakesLongerThanPatienceLasts) {
  EXPECT_EQ(end_of(R"(
iommu: {translation: first_stage}
host: {memory: {timing: {latency: 60ms}}}
workload: {kind: posted_write, payload: 64B, requests: 10}
run: {warmup: 0}
)"),
            "");
  constexpr std::int64_t kAccesses = 13;
  EXPECT_GT(now(), Time::from_us(kAccesses * 60'000));
  EXPECT_LT(now(), Time::from_us(kAccesses * 60'000 + 100)) << "the boot takes some microseconds";
}

// Memory has twice as long for one write as patience lasts.
TEST(Deadlock, IsNoneWhileMemoryAloneHasTheLastWrites) {
  EXPECT_EQ(end_of(R"(
host: {memory: {timing: {latency: 200ms}}}
workload: {kind: posted_write, payload: 64B, requests: 10}
run: {warmup: 0}
)"),
            "");
  EXPECT_GT(now(), Time::from_us(200'000));
  EXPECT_LT(now(), Time::from_us(200'100));
}

// A flit of an Ack gets lost again and again: more than 90 of 100 are.
TEST(Deadlock, OfALinkThatFailsBehindTheLastRequestSaysThatAllAreOver) {
  EXPECT_THAT(end_of(R"(
link: {preset: gen6x16, error_rate: 0.002, error_burst: 16}
workload: {kind: read_write, requests: 1500}
)"),
              ContainsRegex("no progress on rp0-ep0: .*; all requests are over; what repeats:"));
}

TEST(Deadlock, OfAMachineWhoseDeviceAnswersTooLateNamesTheTimeout) {
  EXPECT_THAT(end_of("link: {timing: {propagation: 13ms}}\nworkload: {requests: 10}\n"),
              HasSubstr("found 0 of 1 devices; 1 of its requests had no answer within "
                        "host.timing.completion_timeout, 50ms"));
}

// [PIO-8.2]
TEST(Deadlock, OfThreadsWhoseCreditsAreRefusedSaysSo) {
  EXPECT_THAT(end_of(R"(
host: {cores: {count: 1}, dma_window: {base: 0B, size: 4KiB}, timing: {completion_timeout: 200us}}
device: {functions: {bar_size: 64MiB}, pio: {depth: 16, threshold: 4}, timing: {completion_timeout: 200us}}
workload: {via: pio, requests: 200, payload: 200B, domains: 1}
run: {deadlock_after: 300us}
)"),
              HasSubstr("16 of 16 blocks used; the host has refused writes with returned credits"));
}

// Another word than the device has returned stands in memory.
TEST(Deadlock, OfAThreadWhoseCreditsMakeNoSenseSaysWhichTheyAre) {
  const Config config = config_from_text(R"(
host: {cores: {count: 1}, dma_window: {base: 0B, size: 4KiB}, timing: {completion_timeout: 200us}}
device: {functions: {bar_size: 64MiB}, pio: {depth: 16, threshold: 4}, timing: {completion_timeout: 200us}}
workload: {via: pio, requests: 200, payload: 200B, domains: 1}
run: {deadlock_after: 300us}
)",
                                         "run.yaml", "");
  System system(config);
  system.poke(config.workload.buffer_base, {100});
  try {
    system.run();
    FAIL() << "it has ended";
  } catch (const SimulationError& error) {
    EXPECT_THAT(error.what(), HasSubstr("returned 100 blocks by the word in memory, and software "
                                        "has filled 16, both modulo 2048; expected 0 to 16 fewer"));
  }
}

/// Memory that loses what software maps once a device has asked for a page.
class ForgetfulMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<ForgetfulMemory> socket{"socket"};

  explicit ForgetfulMemory(const sc_core::sc_module_name& name)
      : sc_module(name), bytes_(std::size_t{256} << 20) {
    socket.register_nb_transport_fw(this, &ForgetfulMemory::forward);
    socket.register_transport_dbg(this, &ForgetfulMemory::debug);
  }

 private:
  static constexpr std::uint64_t kQueues = std::uint64_t{48} << 20, kTables = kQueues + (1U << 20);

  bool access(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const std::size_t size = payload.get_data_length();
    if (size > bytes_.size() || address > bytes_.size() - size) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return false;
    }
    std::uint8_t* const here = bytes_.data() + address;
    if (payload.is_read()) {
      std::copy_n(here, size, payload.get_data_ptr());
    } else {
      std::copy_n(payload.get_data_ptr(), size, here);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
  }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    forgets_ = forgets_ || (payload.is_write() && address >= kQueues && address < kTables);
    access(payload);
    delay += sc_core::sc_time(100, sc_core::SC_NS);
    return tlm::TLM_COMPLETED;
  }
  unsigned int debug(tlm::tlm_generic_payload& payload) {
    const bool is_lost = forgets_ && payload.is_write() && payload.get_address() >= kTables;
    return is_lost || access(payload) ? payload.get_data_length() : 0;
  }

  std::vector<std::uint8_t> bytes_;
  bool forgets_ = false;
};

// Asks for the translation, which is refused; for the page, which is granted; and so for ever.
TEST(Deadlock, OfADeviceThatIsRefusedTheSameTranslationForEverIsReportedThoughWalksGoOn) {
  ForgetfulMemory memory("forgetful");
  System system(config_from_text(R"(
iommu: {translation: first_stage}
device: {atc: {enabled: true}, pri: {enabled: true}, timing: {completion_timeout: 500us}}
host:
  memory: {size: 256MiB}
  timing: {completion_timeout: 500us}
  iommu_driver: {enabled: true, premapped: 0, map_latency: 1us}
workload: {kind: read, payload: 64B, requests: 50, domains: 4, buffer_size: 16KiB, buffer_base: 128MiB}
run: {warmup: 0, deadlock_after: 1ms}
)",
                                 "run.yaml", ""),
                memory.socket);
  std::string why;
  try {
    system.run();
  } catch (const SimulationError& error) {
    why = error.what();
  }
  EXPECT_THAT(why, HasSubstr("no progress for 1000 us"));
  EXPECT_THAT(why, HasSubstr("Translation Requests sent"));
  EXPECT_LT(now(), Time::from_us(20'000));
}

}  // namespace
}  // namespace flitwise::deadlock_test
