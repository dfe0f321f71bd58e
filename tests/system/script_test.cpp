// SPDX-License-Identifier: Apache-2.0
// flitwise script: what a driver in another language sees.
#include "script/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "script_bench.h"

namespace flitwise::script_test {
namespace {

using test::hex_of;
using test::play;
using test::ScriptAnswer;
using testing::AllOf;
using testing::HasSubstr;

TEST(Script, DeviceReadsWhatSoftwarePoked) {
  const ScriptAnswer answer = play(R"(
{"op":"poke","addr":"0x100001000","u64":"0x1122334455667788","id":1}
{"op":"peek","addr":"0x100001000","bytes":4,"id":2}
{"op":"dma","port":"ep0","rid":"01:00.0","kind":"read","addr":"0x100001002","bytes":5,"id":"r"}
)");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.done(), 3U);
  EXPECT_EQ(answer.of(2).at(0).at("event"), "memory");
  EXPECT_EQ(answer.of(2).at(0).at("addr"), "0x100001000");
  EXPECT_EQ(answer.of(2).at(0).at("hex"), "88776655");
  ASSERT_EQ(answer.of("r").size(), 1U);
  EXPECT_EQ(answer.of("r")[0].dump(), R"({"event":"data","id":"r","hex":"6655443322"})");
  EXPECT_GT(answer.lines.back().at("t_ns").get<double>(), 300.0);  // it takes its time
}

TEST(Script, AnyRequesterIdWritesAcrossPages) {
  std::string hex;
  for (int i = 0; i < 5000; ++i) {
    hex += json_value::hex_bytes(reinterpret_cast<const std::uint8_t*>(&i), 1);
  }
  const ScriptAnswer answer =
      play(R"({"op":"dma","port":"ep0","rid":"7f:1f.7","pasid":5,"kind":"write","addr":"0xffd",)" +
           ("\"hex\":\"" + hex + "\",\"id\":1}\n") +
           R"({"op":"dma","rid":"01:00.0","kind":"read","addr":"0xffd","bytes":5000,"id":2}
{"op":"peek","addr":"0xffc","bytes":3,"id":3})");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.of(1).at(0).at("event"), "memory");
  EXPECT_EQ(answer.of(2).at(0).at("hex"), hex);
  EXPECT_EQ(answer.of(3).at(0).at("hex"), "000001");
}

const std::vector<std::string> kShortPatience = {"run.deadlock_after=4ms",
                                                 "device.timing.completion_timeout=1ms",
                                                 "host.timing.completion_timeout=1ms"};
std::vector<std::string> with_short_patience(std::vector<std::string> sets) {
  sets.insert(sets.end(), kShortPatience.begin(), kShortPatience.end());
  return sets;
}

// One TLP after the other, each when memory is done with the one before: seven times as long as
// patience lasts.
TEST(Script, AWriteThatGetsOnHasAllItsTime) {
  const ScriptAnswer answer =
      play(R"({"op":"dma","kind":"write","addr":"0x1000","id":1,"hex":")" +
               std::string(std::size_t{4096} * 2, '7') + "\"}\n",
           with_short_patience({"host.memory.bandwidth=1Mb/s", "link.credits.posted_headers=1"}));
  EXPECT_EQ(answer.code, 0);
  ASSERT_EQ(answer.of(1).size(), 1U);
  EXPECT_EQ(answer.of(1)[0].at("event"), "memory");
  EXPECT_GT(answer.lines.back().at("t_ns").get<double>(), 20e6);
}

// The only credit comes back 10 ms late, which the script itself has asked for.
TEST(Script, ADelayOfTheScriptIsNoDeadlock) {
  const ScriptAnswer answer =
      play(R"(
{"op":"fault","direction":"down","do":"delay","unit":"UpdateFC-P","by":"10ms"}
{"op":"dma","kind":"write","addr":"0x1000","hex":"01","id":1}
{"op":"dma","kind":"write","addr":"0x1001","hex":"02","id":2}
{"op":"peek","addr":"0x1000","bytes":2,"id":3}
)",
           with_short_patience({"link.ack_coalesce=1", "link.credits.posted_headers=1"}));
  EXPECT_EQ(answer.code, 0);
  ASSERT_EQ(answer.of(2).size(), 1U);
  EXPECT_EQ(answer.of(2)[0].at("event"), "memory");
  EXPECT_EQ(answer.of(3)[0].at("hex"), "0102");
  EXPECT_GT(answer.lines.back().at("t_ns").get<double>(), 10e6);
}

// A write that has no credit for long is given up as a run is: with what waits. It gets there once
// an UpdateFC does, at the end of the script.
TEST(Script, AWriteThatDoesNotGetOnIsGivenUpAsARunIs) {
  const ScriptAnswer answer =
      play(R"(
{"op":"fault","direction":"down","do":"drop","unit":"UpdateFC-P","count":200}
{"op":"dma","kind":"write","addr":"0x1000","hex":"01","id":1}
{"op":"dma","kind":"write","addr":"0x1001","hex":"02","id":2}
)",
           with_short_patience({"link.ack_coalesce=1", "link.credits.posted_headers=1"}));
  ASSERT_EQ(answer.of(2).size(), 1U);
  EXPECT_EQ(answer.of(2)[0].at("kind"), "no_progress");
  EXPECT_THAT(answer.of(2)[0].at("detail").get<std::string>(),
              AllOf(HasSubstr("no progress for 4000 us of simulated time"),
                    HasSubstr("what repeats:"), HasSubstr("rp0-ep0 up: 1 posted TLPs queued")));
}

TEST(Script, WhatCannotBeServedIsAnsweredWithItsStatus) {
  const ScriptAnswer answer = play(R"(
{"op":"dma","kind":"read","addr":"0x500000000000","bytes":8,"id":1}
{"op":"dma","kind":"write","addr":"0x500000000000","hex":"00112233","id":2}
{"op":"dma","kind":"read","addr":"0x1000","at":"translation_request","pasid":3,"no_write":true,"id":3}
{"op":"dma","kind":"read","addr":"0x1000","at":"translated","bytes":4,"id":4}
)");
  EXPECT_EQ(answer.code, 0);  // the machine's answers are no fault of the script
  ASSERT_EQ(answer.of(1).size(), 2U);
  EXPECT_EQ(answer.of(1)[0].at("kind"), "unsupported_request");
  EXPECT_EQ(answer.of(1)[0].at("detail"), "unmapped_address");
  EXPECT_EQ(answer.of(1)[1].at("event"), "completion");
  EXPECT_EQ(answer.of(1)[1].at("status"), "UR");
  ASSERT_EQ(answer.of(2).size(), 1U);  // posted: nobody is answered
  EXPECT_EQ(answer.of(2)[0].at("kind"), "unsupported_request");
  EXPECT_EQ(answer.of(3).back().at("status"), "UR");
  EXPECT_EQ(answer.of(4).at(0).at("event"), "data");
}

TEST(Script, RawTlpsTravelAsTheyAre) {
  Tlp read;
  read.type = TlpType::kMRd;
  read.tag = 0x42;
  read.requester_id = Bdf::of(9, 0, 0);
  read.length_dw = 1;
  read.first_be = 0xf;
  Tlp crossing = read;
  crossing.address = 0xffc;
  crossing.length_dw = 2;
  crossing.last_be = 0xf;
  Tlp stray;
  stray.type = TlpType::kCpl;
  stray.byte_count = 4;
  Tlp error;
  error.type = TlpType::kMsg;
  error.message_code = msg::kErrFatal;
  error.is_4dw = true;
  const auto line = [](int id, const std::string& hex) {
    return R"({"op":"tlp","port":"ep0","hex":")" + hex + R"(","id":)" + std::to_string(id) + "}\n";
  };
  const ScriptAnswer answer =
      play(R"({"op":"poke","addr":0,"u32":"0xddccbbaa"})"
           "\n" +
           line(1, hex_of(read)) + line(2, hex_of(crossing)) + line(3, hex_of(stray)) +
           line(4, hex_of(error)) + line(5, "ffff00") + R"({"op":"run","until":"idle"})");
  EXPECT_EQ(answer.code, 0);
  ASSERT_EQ(answer.of(1).size(), 1U);
  EXPECT_EQ(answer.of(1)[0].dump(),
            R"({"event":"completion","id":1,"tag":66,"status":"SC","hex":"aabbccdd"})");
  EXPECT_EQ(answer.of(2).at(0).at("kind"), "malformed_tlp");
  EXPECT_EQ(answer.of(2).at(0).at("detail"), "crosses_4kib");
  EXPECT_EQ(answer.of(3).at(0).at("kind"), "unexpected_completion");
  EXPECT_EQ(answer.of(4).at(0).at("event"), "message");
  EXPECT_EQ(answer.of(4).at(0).at("name"), "err_fatal");
  EXPECT_EQ(answer.of(5).at(0).at("kind"), "malformed_tlp");
  EXPECT_EQ(answer.of(5).at(0).at("detail"), "truncated");
}

TEST(Script, AMalformedDmaEndsWithItsError) {
  // PASID on a locked read cannot be asked for; one that the root port does not take can.
  const ScriptAnswer answer = play(
      R"({"op":"dma","kind":"read","pasid":5,"addr":0,"bytes":4,"id":1})", {"host.pasid=false"});
  ASSERT_EQ(answer.of(1).size(), 1U);
  EXPECT_EQ(answer.of(1)[0].at("detail"), "pasid_not_enabled");
}

TEST(Script, RunMovesTimeBySpan) {
  const ScriptAnswer answer = play(R"({"op":"run","for":"1us"}
{"op":"run","for":"500ns","id":null})");
  ASSERT_EQ(answer.lines.size(), 2U);
  EXPECT_EQ(answer.lines[0].dump(), R"({"done":null,"t_ns":1000.0})");
  EXPECT_EQ(answer.lines[1].at("t_ns"), 1500.0);
}

TEST(Script, BadLinesAreNamedAndTheRestGoesOn) {
  const ScriptAnswer answer = play(R"({"op":"pok","addr":0,"u8":1,"id":"a"}
not json
{"op":"peek","addr":"0x5000000000000","id":"b"}
{"op":"dma","port":"ep7","kind":"read","addr":0,"bytes":4,"id":"c"}
{"op":"poke","adr":0,"u8":1,"id":"d"}
{"op":"poke","addr":0,"u8":7,"id":"e"}
{"op":"peek","addr":0,"bytes":1,"id":"f"})");
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.done(), 7U);
  EXPECT_EQ(answer.of("a").at(0).at("kind"), "bad_line");
  EXPECT_EQ(answer.of("a").at(0).at("line"), 1);
  EXPECT_THAT(answer.of("a").at(0).at("detail").get<std::string>(), HasSubstr("nearest op 'poke'"));
  EXPECT_EQ(answer.lines.at(2).at("line"), 2);
  EXPECT_THAT(answer.of("c").at(0).at("detail").get<std::string>(), HasSubstr("'ep7'"));
  EXPECT_EQ(answer.of("d").size(), 2U);  // no addr, and an unknown key
  EXPECT_EQ(answer.of("f").at(0).at("hex"), "07");
}

TEST(Script, CfgReadsAndWritesReachTheDeviceAsTlps) {
  const ScriptAnswer answer = play(R"(
{"op":"cfg_read","bdf":"01:00.0","offset":0,"id":"ids"}
{"op":"cfg_read","bdf":"01:00.0","offset":"0x3","bytes":1,"id":"byte"}
{"op":"cfg_write","bdf":"01:00.0","offset":"0x3c","bytes":1,"value":"0x5a","id":"w"}
{"op":"cfg_read","bdf":"01:00.0","offset":"0x3c","bytes":2,"id":"r"}
{"op":"cfg_read","bdf":"00:01.0","offset":"0x19","bytes":1,"id":"bus"}
{"op":"cfg_read","bdf":"40:00.0","offset":0,"id":"none"}
)");
  EXPECT_EQ(answer.code, 0);
  ASSERT_EQ(answer.of("ids").size(), 1U);
  const std::string ids = answer.of("ids")[0].at("hex");
  EXPECT_EQ(ids.size(), 8U);
  EXPECT_EQ(answer.of("byte").at(0).at("hex"), ids.substr(6, 2));
  EXPECT_TRUE(answer.of("w").empty());
  EXPECT_EQ(answer.of("r").at(0).at("hex").get<std::string>().substr(0, 2), "5a");
  EXPECT_EQ(answer.of("bus").at(0).at("hex"), "01");
  EXPECT_EQ(answer.of("none").at(0).dump(),
            R"({"event":"completion","id":"none","status":"UR","hex":""})");
  EXPECT_GT(answer.lines.back().at("t_ns").get<double>(), 1'000.0);  // there and back, six times
}

TEST(Script, MmioReadsWhatMmioWroteAtTheBar) {
  // Where host software places the first BAR: 64 bits, prefetchable, 1 TiB up.
  const ScriptAnswer answer = play(R"(
{"op":"cfg_read","bdf":"01:00.0","offset":"0x10","id":"low"}
{"op":"cfg_read","bdf":"01:00.0","offset":"0x14","id":"high"}
{"op":"mmio_write","addr":"0x10000000103","hex":"112233445566","id":"w"}
{"op":"mmio_read","addr":"0x10000000104","bytes":3,"id":"r"}
{"op":"mmio_write","addr":"0x10000000200","u64":"0x1122334455667788"}
{"op":"mmio_read","addr":"0x10000000204","id":"dw"}
{"op":"cfg_write","bdf":"01:00.0","offset":4,"bytes":2,"value":4}
{"op":"mmio_read","addr":"0x10000000204","id":"off"}
)");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.of("low").at(0).at("hex"), "0c000000");
  EXPECT_EQ(answer.of("high").at(0).at("hex"), "00010000");
  EXPECT_TRUE(answer.of("w").empty());
  EXPECT_EQ(answer.of("r").at(0).dump(), R"({"event":"data","id":"r","hex":"223344"})");
  EXPECT_EQ(answer.of("dw").at(0).at("hex"), "44332211");
  EXPECT_EQ(answer.of("off").back().at("status"), "UR") << "Memory Space Enable is clear";
}

TEST(Script, MmioOutsideOfAnyWindowIsUnsupported) {
  const ScriptAnswer answer = play(R"(
{"op":"mmio_read","addr":"0x700000000000","bytes":4,"id":"r"}
{"op":"mmio_write","addr":"0x700000000000","u32":1,"id":"w"}
{"op":"mmio_read","addr":"0xffe","bytes":4,"id":"page"}
{"op":"mmio_write","addr":0,"id":"empty"}
{"op":"cfg_read","bdf":"01:00.0","offset":2,"bytes":4,"id":"odd"}
{"op":"cfg_write","bdf":"01:00.0","offset":4,"bytes":2,"value":"0x10000","id":"large"}
)");
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.of("r").at(0).at("status"), "UR");
  EXPECT_EQ(answer.of("w").at(0).at("kind"), "unsupported_request");
  for (const char* id : {"page", "empty", "odd", "large"}) {
    ASSERT_EQ(answer.of(id).size(), 1U) << id;
    EXPECT_EQ(answer.of(id)[0].at("kind"), "bad_line") << id;
  }
}

TEST(Script, ATimeoutOfSoftwareIsToldOnceUnderItsOperation) {
  const ScriptAnswer answer = play(R"(
{"op":"fault","direction":"up","do":"delay","unit":"CplD","by":"30us"}
{"op":"mmio_read","addr":"0x10000001000","id":"late"}
)",
                                   {"host.timing.completion_timeout=10us"});
  EXPECT_EQ(answer.code, 0);
  ASSERT_EQ(answer.of("late").size(), 1U);
  EXPECT_EQ(answer.of("late")[0].at("kind"), "completion_timeout");
}

TEST(Script, RegistersAreFoundByName) {
  const ScriptAnswer answer = play(R"(
{"op":"map","pasid":5,"address":"0x40000000","to":"0x777000"}
{"op":"iommu_write","reg":"IQA","value":"0x6000800"}
{"op":"iommu_write","reg":"GCMD","value":["QIE"]}
{"op":"translate","state":"on"}
{"op":"iommu_read","reg":"GSTS","id":"on"}
{"op":"iommu_read","reg":"RTADDR","id":"root"}
{"op":"dma","kind":"write","pasid":5,"addr":"0x40000010","hex":"00112233"}
{"op":"peek","addr":"0x777010","bytes":4,"id":"there"}
{"op":"translate","state":"off"}
{"op":"iommu_read","reg":"GSTS","id":"off"}
{"op":"cfg_write","bdf":"01:00.0","reg":"AER_UNCORRECTABLE_MASK","value":"0x1000"}
{"op":"cfg_read","bdf":"01:00.0","offset":"0x108","id":"mask"}
{"op":"cfg_read","bdf":"01:00.0","reg":"PRI_STATUS","id":"none"}
)");
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.of("on").at(0).at("value"), "0xc4000000");  // TES, RTPS, QIES
  EXPECT_EQ(answer.of("root").at(0).at("value"), "0x4000400");
  EXPECT_EQ(answer.of("there").at(0).at("hex"), "00112233");
  EXPECT_EQ(answer.of("off").at(0).at("value"), "0x44000000");
  EXPECT_EQ(answer.of("mask").at(0).at("hex"), "00100000");
  EXPECT_EQ(answer.of("none").at(0).at("detail"), "reg: 01:00.0 has no capability with PRI_STATUS");
}

TEST(Script, RunStopsAtTheEventItWaitsFor) {
  const ScriptAnswer answer = play(R"(
{"op":"tlp","tlp":{"type":"MRd","requester_id":"01:00.0","tag":7,"address":"0x1000","length_dw":1}}
{"op":"run","until":{"event":"wire","type":"CplD","tag":7},"id":"first"}
{"op":"run","until":{"event":"completion","tag":7}}
{"op":"tlp","tlp":{"type":"MWr","requester_id":"01:00.0","address":"0x1000","length_dw":1,"payload":"11223344"}}
{"op":"run","until":{"event":"committed","addr":"0x1000"}}
)");
  EXPECT_EQ(answer.code, 0);
  ASSERT_EQ(answer.lines.size(), 8U);  // five lines, and what three of them waited for
  EXPECT_EQ(answer.lines[1].at("event"), "wire");
  EXPECT_EQ(answer.lines[1].at("tag"), 7);
  EXPECT_EQ(answer.lines[1].at("at_ns"), answer.lines[2].at("t_ns")) << "at once";
  EXPECT_EQ(answer.lines[3].at("event"), "completion");
  EXPECT_EQ(answer.lines[6].at("event"), "committed");
}

TEST(Script, AnEventThatDoesNotComeIsToldWithTheNearest) {
  const ScriptAnswer answer = play(R"(
{"op":"tlp","tlp":{"type":"MRd","requester_id":"01:00.0","tag":7,"address":"0x1000","length_dw":1}}
{"op":"run","until":{"event":"completion","tag":8},"limit":"2us","id":"miss"}
{"op":"run","until":{"event":"completion","tga":8},"id":"typo"}
)");
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.of("miss").at(0).at("event"), "missed_event");
  EXPECT_EQ(answer.of("miss").at(0).at("line"), 3);
  EXPECT_THAT(answer.of("miss").at(0).at("detail"),
              AllOf(HasSubstr("completion tag=8 did not happen within 2000 ns; nearest: "),
                    HasSubstr("completion tag=7")));
  EXPECT_THAT(answer.of("typo").at(0).at("detail"),
              HasSubstr("until.tga: no field is called 'tga'; nearest field 'tag'"));
  EXPECT_EQ(answer.lines.back().at("t_ns"), 2000.0);
}

TEST(Script, LinesOfSendMemoryWriteNoDone) {
  const ScriptAnswer answer = play(R"({"op":"run","until":"idle","id":1}
["device",[1,2,3]]
["setup",0,0,1,1,64,false,false]
["force",0,1])");
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.lines.at(1).at("kind"), "bad_line");
  EXPECT_EQ(answer.lines.at(1).at("line"), 2);
  EXPECT_EQ(answer.lines.back().at("ctx"), 0);
  EXPECT_EQ(answer.done(), 1U);
}

}  // namespace
}  // namespace flitwise::script_test
