// SPDX-License-Identifier: Apache-2.0
// A link that rests between TLPs is, in all that it counts, the link that does not.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "link/link.h"
#include "model/link/mock_port.h"
#include "tlp/wire_size.h"

namespace flitwise::link_rest_test {
namespace {

using test::MockPort;

struct Bench {
  Bench(const std::string& name, const LinkConfig& config, const FaultsConfig& faults = {})
      : link((name + "_link").c_str(), config, MessageConfig{}, faults, Random(1), pool,
             {config.credits, config.credits}),
        host((name + "_host").c_str()),
        device((name + "_device").c_str()) {
    MockPort::join(link, host, device);
    link.draw_skp_phases(Random(7));
    device.holds_buffers = true;
  }
  void write(MockPort& port) {
    PacketRef packet = pool.make(PacketKind::kTlp);
    packet->tlp.type = TlpType::kMWr;
    packet->tlp.is_4dw = true;
    packet->tlp.length_dw = 16;
    packet->payload_bytes = 64;
    packet->counts = true;
    packet->size = wire_size_of(packet->tlp, packet->payload_bytes);
    port.send(packet);
  }

  PacketPool pool;  // before all that holds packets
  Link link;
  MockPort host, device;
};

enum class Form { kPlain, kFlits, kCxl68 };

LinkConfig config_of(unsigned generation, unsigned lanes, Form form = Form::kPlain) {
  LinkConfig link;
  const CxlFlits cxl = form == Form::kCxl68 ? CxlFlits::k68 : CxlFlits::kNone;
  link.preset = {"", generation, lanes, cxl};
  link.skp = generation == 3 ? SkpMode::kSris : SkpMode::kNormal;
  link.flit_mode = form == Form::kFlits;
  return link;
}

void pass(const std::vector<std::unique_ptr<Bench>>& resting, Time span) {
  for (const auto& one : resting) {
    one->link.rest();
  }
  sc_core::sc_start(to_sc_time(span));
  for (const auto& one : resting) {
    one->link.wake();
  }
}

std::vector<std::uint64_t> figures_of(const DirectionResult& r) {
  return {r.tlps,
          r.bits.header,
          r.bits.payload,
          r.bits.framing,
          r.bits.crc,
          r.bits.dllp,
          r.bits.fec,
          r.bits.phy,
          r.bits.idle,
          r.acks,
          r.naks,
          r.update_fcs,
          r.skps,
          r.replays,
          r.corrupted,
          r.bits.total(),
          static_cast<std::uint64_t>(r.window.fs),
          static_cast<std::uint64_t>(r.last_symbol.fs)};
}

// TLPs and freed buffers come while links rest, some windows begin then, and spans end anywhere
// between two UpdateFCs.
TEST(LinkRest, LNK_8_12_UpdateFcsThatAreNoEventsStandWhereTheyWouldHaveStood) {
  std::vector<std::unique_ptr<Bench>> resting, plain;
  const std::tuple<unsigned, unsigned, Form> links[] = {
      {1, 1, Form::kPlain},  {2, 4, Form::kPlain}, {3, 2, Form::kPlain}, {4, 8, Form::kPlain},
      {5, 16, Form::kPlain}, {5, 4, Form::kFlits}, {6, 1, Form::kFlits}, {6, 16, Form::kFlits},
      {5, 8, Form::kCxl68},  {4, 1, Form::kCxl68}};
  for (const auto& [generation, lanes, form] : links) {
    const LinkConfig config = config_of(generation, lanes, form);
    const std::string name = "link" + std::to_string(plain.size());
    resting.push_back(std::make_unique<Bench>(name + "_resting", config));
    plain.push_back(std::make_unique<Bench>(name + "_plain", config));
  }
  const auto each = [&](const auto& what) {
    for (const auto* list : {&resting, &plain}) {
      for (const auto& one : *list) {
        what(*one);
      }
    }
  };
  sc_core::sc_start(to_sc_time(Time::from_us(100)));
  each([](Bench& one) { one.link.start_window_with_traffic(); });
  Random random(11);
  for (int step = 0; step < 200; ++step) {
    pass(resting, Time::from_ns(random.below(2'000'000)));
    each([](Bench& one) { one.write(one.host); });
    if (step % 3 == 0) {
      each([](Bench& one) { one.write(one.device); });
    }
    pass(resting, Time::from_ns(random.below(40'000)));
    if (!resting.front()->device.held.empty() && step % 2 == 0) {
      each([](Bench& one) { one.device.free_one(); });
    }
    if (step == 150) {
      each([](Bench& one) { one.link.start_window(); });
    }
  }
  for (std::size_t i = 0; i < resting.size(); ++i) {
    const LinkResult seen = resting[i]->link.result(), due = plain[i]->link.result();
    EXPECT_EQ(figures_of(seen.up), figures_of(due.up)) << seen.name;
    EXPECT_EQ(figures_of(seen.down), figures_of(due.down)) << seen.name;
    EXPECT_GT(due.down.update_fcs, 100U) << seen.name;
    ASSERT_EQ(resting[i]->device.arrivals.size(), plain[i]->device.arrivals.size());
    for (std::size_t k = 0; k < plain[i]->device.arrivals.size(); ++k) {
      EXPECT_EQ(resting[i]->device.arrivals[k].when, plain[i]->device.arrivals[k].when) << k;
    }
  }
}

TEST(LinkRest, CostsTheKernelNothing) {
  std::vector<std::unique_ptr<Bench>> resting;
  for (const Form form : {Form::kPlain, Form::kFlits, Form::kCxl68}) {
    resting.push_back(std::make_unique<Bench>("form" + std::to_string(static_cast<int>(form)),
                                              config_of(5, 16, form)));
  }
  sc_core::sc_start(to_sc_time(Time::from_us(100)));
  const std::uint64_t before = sc_core::sc_delta_count();
  pass(resting, Time::from_us(1'000'000));
  EXPECT_LT(sc_core::sc_delta_count() - before, 60U);
}

// Whatever may strike an UpdateFC has to see it.
TEST(LinkRest, IsNotWhereDllpsMayBeDamaged) {
  FaultsConfig faults;
  faults.down.corrupt_dllps = {1'000, 1'001};
  std::vector<std::unique_ptr<Bench>> resting;
  resting.push_back(std::make_unique<Bench>("struck", config_of(5, 16), faults));
  sc_core::sc_start(to_sc_time(Time::from_us(100)));
  resting[0]->link.start_window();
  pass(resting, Time::from_us(40'000));
  EXPECT_EQ(resting[0]->link.result().down.corrupted, 2U);
}

// What is under way, and what waits for credits, goes on.
TEST(LinkRest, IsNotWhereATlpIsUnderWay) {
  std::vector<std::unique_ptr<Bench>> resting;
  resting.push_back(std::make_unique<Bench>("busy", config_of(5, 16)));
  sc_core::sc_start(to_sc_time(Time::from_us(100)));
  resting[0]->write(resting[0]->host);
  pass(resting, Time::from_us(1'000));
  EXPECT_EQ(resting[0]->device.arrivals.size(), 1U);
  EXPECT_TRUE(resting[0]->link.is_quiet());
}

}  // namespace
}  // namespace flitwise::link_rest_test
