// SPDX-License-Identifier: Apache-2.0
// flitwise script: what a driver in another language sees.
#include "system/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "config/load.h"
#include "tlp/json_value.h"
#include "tlp/tlp_encoder.h"

namespace flitwise {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;

struct Answer {
  int code = 0;
  std::vector<Json> lines;

  /// The events of one operation, without their done line.
  std::vector<Json> of(const Json& id) const {
    std::vector<Json> events;
    for (const Json& line : lines) {
      if (line.contains("event") && line.value("id", Json()) == id) {
        events.push_back(line);
      }
    }
    return events;
  }
  std::size_t done() const {
    std::size_t count = 0;
    for (const Json& line : lines) {
      count += line.contains("done") ? 1 : 0;
    }
    return count;
  }
};

Answer play(const std::string& script) {
  const Config config =
      load_config(std::string(FLITWISE_SOURCE_DIR) + "/configs/checks/script.yaml");
  std::istringstream in(script);
  std::ostringstream out;
  Answer answer;
  answer.code = script_command(in, out, config);
  std::istringstream written(out.str());
  std::string line;
  while (std::getline(written, line)) {
    answer.lines.push_back(Json::parse(line));
  }
  return answer;
}

std::string hex_of(const Tlp& tlp, const std::vector<std::uint8_t>& payload = {}) {
  std::vector<std::uint8_t> bytes;
  encode(tlp, payload.data(), payload.size(), bytes);
  return json_value::hex_bytes(bytes.data(), bytes.size());
}

TEST(Script, DeviceReadsWhatSoftwarePoked) {
  const Answer answer = play(R"(
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
  const Answer answer =
      play(R"({"op":"dma","port":"ep0","rid":"7f:1f.7","pasid":5,"kind":"write","addr":"0xffd",)" +
           ("\"hex\":\"" + hex + "\",\"id\":1}\n") +
           R"({"op":"dma","rid":"01:00.0","kind":"read","addr":"0xffd","bytes":5000,"id":2}
{"op":"peek","addr":"0xffc","bytes":3,"id":3})");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.of(1).at(0).at("event"), "memory");
  EXPECT_EQ(answer.of(2).at(0).at("hex"), hex);
  EXPECT_EQ(answer.of(3).at(0).at("hex"), "000001");
}

TEST(Script, WhatCannotBeServedIsAnsweredWithItsStatus) {
  const Answer answer = play(R"(
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
  const Answer answer =
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
  // PASID on a locked read cannot be asked for; a translation beyond MRRS can.
  const Answer answer =
      play(R"({"op":"dma","kind":"read","at":"translation_request","addr":0,"bytes":1024,"id":1})");
  ASSERT_EQ(answer.of(1).size(), 1U);
  EXPECT_EQ(answer.of(1)[0].at("detail"), "exceeds_mrrs");
}

TEST(Script, RunMovesTimeBySpan) {
  const Answer answer = play(R"({"op":"run","for":"1us"}
{"op":"run","for":"500ns","id":null})");
  ASSERT_EQ(answer.lines.size(), 2U);
  EXPECT_EQ(answer.lines[0].dump(), R"({"done":null,"t_ns":1000.0})");
  EXPECT_EQ(answer.lines[1].at("t_ns"), 1500.0);
}

TEST(Script, BadLinesAreNamedAndTheRestGoesOn) {
  const Answer answer = play(R"({"op":"pok","addr":0,"u8":1,"id":"a"}
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

TEST(Script, WhatIsNotModelledYetSaysSo) {
  const Answer answer = play(R"({"op":"iommu_read","offset":"0x34","id":1}
["device",[1,2,3]])");
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.of(1).at(0).dump(),
            R"({"event":"error","id":1,"kind":"not_modelled","detail":"iommu_read"})");
  EXPECT_EQ(answer.lines.back().at("kind"), "not_modelled");
  EXPECT_EQ(answer.done(), 1U);  // lines of PIO write no done
}

}  // namespace
}  // namespace flitwise
