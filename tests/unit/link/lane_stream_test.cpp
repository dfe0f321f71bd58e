// SPDX-License-Identifier: Apache-2.0
// Times of symbols, SKP ordered sets and the bits of the line coding, against a model that walks
// the lanes byte by byte.
#include "link/lane_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/random.h"
#include "unit/link/link_support.h"

namespace flitwise::lane_stream_test {
namespace {

using test::preset;

/// One direction, one byte at a time: slow, and without arithmetic over spans.
class ByteWalk {
 public:
  explicit ByteWalk(const LineCoding& coding) : c_(coding), next_skp_(coding.skp_due_blocks) {}

  Placement place(std::uint32_t bytes, Time earliest) {
    idle_until(earliest);
    while (c_.skp_due_blocks != 0 && block_ >= next_skp_) {
      if (boundary() > block_) {
        mark_block();
        do {
          step(Kind::kFill);
        } while (at_ != 0);
      }
      ordered_set();
    }
    Placement placement;
    placement.first = row_start();
    for (std::uint32_t i = 0; i < bytes; ++i) {
      mark_block();
      placement.last = row_start() + row_time();
      step(Kind::kData);
    }
    return placement;
  }
  /// Idle symbols in whole rows up to the first that starts at or after t on a token boundary.
  void idle_until(Time t) {
    bool moved = false;
    while (row_start() < t || (moved && !is_aligned())) {
      if (is_skp_time()) {
        ordered_set();
        continue;
      }
      do {
        step(Kind::kIdle);
      } while (at_ % c_.lanes != 0);
      moved = true;
    }
    if (moved && is_skp_time()) {
      ordered_set();
    }
  }
  Time row_start() const {
    const std::uint64_t block_ui = c_.header_ui + c_.rows_per_block * c_.ui_per_row;
    return {static_cast<std::int64_t>(block_ * block_ui + c_.header_ui +
                                      at_ / c_.lanes * c_.ui_per_row) *
            c_.unit_interval_fs};
  }

  std::uint64_t phy = 0, data = 0, idle = 0, skps = 0;
  std::vector<std::uint64_t> skp_blocks;

 private:
  enum class Kind { kData, kIdle, kFill };
  Time row_time() const { return {c_.unit_interval_fs * static_cast<std::int64_t>(c_.ui_per_row)}; }
  bool is_skp_time() const {
    return c_.skp_due_blocks != 0 && at_ == 0 && boundary() == block_ && block_ >= next_skp_;
  }
  bool is_aligned() const {
    return c_.coding_bits_per_symbol != 0 || at_ % kTokenAlignmentBytes == 0;
  }
  std::uint64_t boundary() const {
    return at_ == 0 && (c_.eds_bytes == 0 || last_ == Kind::kIdle) ? block_ : block_ + 1;
  }
  // The sync header of a block with anything in it is line coding; that of an idle one is idle.
  void mark_block() {
    if (!marked_) {
      phy += c_.header_ui * c_.lanes;
      marked_ = true;
    }
  }
  void step(Kind kind) {
    const std::uint64_t coding = c_.coding_bits_per_symbol;
    data += kind == Kind::kData ? 8 : 0;
    idle += kind == Kind::kIdle ? 8 + coding : 0;
    phy += kind == Kind::kFill ? 8 + coding : kind == Kind::kData ? coding : 0;
    last_ = kind;
    if (++at_ == c_.lanes * c_.rows_per_block) {
      idle += marked_ ? 0 : c_.header_ui * c_.lanes;
      at_ = 0;
      ++block_;
      marked_ = false;
    }
  }
  void ordered_set() {
    if (last_ == Kind::kIdle) {  // the token that announces it took the place of idle bytes
      phy += c_.eds_bytes * 8;
      idle -= c_.eds_bytes * 8;
    }
    skp_blocks.push_back(block_);
    phy += std::uint64_t{c_.skp_blocks} * (c_.header_ui + c_.rows_per_block * c_.ui_per_row) *
           c_.lanes;
    block_ += c_.skp_blocks;
    next_skp_ += c_.skp_due_blocks + c_.skp_blocks;
    ++skps;
    last_ = Kind::kFill;
  }

  LineCoding c_;
  std::uint64_t block_ = 0;
  std::uint32_t at_ = 0;
  std::uint64_t next_skp_;
  Kind last_ = Kind::kFill;
  bool marked_ = false;
};

constexpr unsigned kLanes[] = {1, 2, 4, 8, 12, 16, 32};

TEST(LaneStream, LNK_5_1_UnitIntervalIsThatOfTheGeneration) {
  constexpr std::int64_t kUnitInterval[] = {400'000, 200'000, 125'000, 62'500, 31'250};
  for (unsigned generation = 1; generation <= 5; ++generation) {
    EXPECT_EQ(line_coding(preset(generation, 1), SkpMode::kOff).unit_interval_fs,
              kUnitInterval[generation - 1]);
  }
}

TEST(LaneStream, LNK_5_2_SymbolIsTenBitTimesUpToGeneration2AndEightFrom3) {
  for (unsigned generation = 1; generation <= 5; ++generation) {
    const LaneStream lanes(line_coding(preset(generation, 4), SkpMode::kOff));
    EXPECT_EQ(lanes.symbol_time().fs / lanes.coding().unit_interval_fs, generation <= 2 ? 10 : 8);
  }
}

// Published: a 64 B write with a 4DW header (88 B) on an empty wire, and as the mean of many.
TEST(LaneStream, LNK_5_12_TimeOf88BytesAgreesWithTheClosedForm) {
  LaneStream gen1(line_coding(preset(1, 1), SkpMode::kOff));
  const Placement one = gen1.place(88, Time{});
  EXPECT_EQ(one.first, Time{});
  EXPECT_EQ(one.last, Time::from_ns(352));

  struct Row {
    unsigned generation, lanes, bytes;
    std::int64_t mean_fs;
  };
  for (const Row row :
       {Row{3, 8, 88, 11'171'875}, Row{4, 8, 88, 5'585'938}, Row{5, 16, 88, 1'396'484},
        Row{3, 8, 280, 35'546'875}, Row{4, 16, 280, 8'886'719}, Row{5, 16, 280, 4'443'359}}) {
    LaneStream lanes(line_coding(preset(row.generation, row.lanes), SkpMode::kOff));
    constexpr std::int64_t kUnits = 1024;
    Placement last;
    for (std::int64_t i = 0; i < kUnits; ++i) {
      last = lanes.place(row.bytes, Time{});
    }
    EXPECT_NEAR(static_cast<double>(last.last.fs) / kUnits, static_cast<double>(row.mean_fs), 1.0)
        << "generation " << row.generation << " x" << row.lanes << " " << row.bytes << " B";
  }
}

// One 128b/130b block on one lane, symbol by symbol.
TEST(LaneStream, LNK_5_12_SyncHeaderStandsBeforeEverySixteenSymbols) {
  LaneStream lanes(line_coding(preset(3, 1), SkpMode::kOff));
  const Placement first = lanes.place(8, Time{});
  EXPECT_EQ(first.first.fs, 2 * 125'000);
  EXPECT_EQ(first.last.fs, (2 + 8 * 8) * 125'000);
  const Placement across = lanes.place(12, Time{});
  EXPECT_EQ(across.first, first.last);
  EXPECT_EQ(across.last.fs, (130 + 2 + 4 * 8) * 125'000);
  EXPECT_EQ(lanes.phy_bits(), 4U);
}

TEST(LaneStream, LNK_5_2_UnitsShareARowOfLanes) {
  LaneStream lanes(line_coding(preset(1, 16), SkpMode::kOff));
  const Placement dllp = lanes.place(8, Time{});
  const Placement tlp = lanes.place(24, Time{});
  EXPECT_EQ(dllp.last, Time::from_ns(4));
  EXPECT_EQ(tlp.first, Time{});
  EXPECT_EQ(tlp.last, Time::from_ns(8));
}

TEST(LaneStream, AUnitDoesNotStartInARowThatBeganBeforeItWasThere) {
  LaneStream lanes(line_coding(preset(1, 16), SkpMode::kOff));
  lanes.place(8, Time{});
  EXPECT_EQ(lanes.place(8, Time::from_ns(1)).first, Time::from_ns(4));
}

TEST(LaneStream, LNK_5_13_PacketsStartOnFourBytesWhereARowIsNarrower) {
  LaneStream lanes(line_coding(preset(3, 1), SkpMode::kOff));
  lanes.place(8, Time{});
  const Time in_tenth_symbol{(2 + 9 * 8 + 1) * 125'000};
  EXPECT_EQ(lanes.place(8, in_tenth_symbol).first.fs, (2 + 12 * 8) * 125'000);
}

// PCIe would wait for the next four bytes.
TEST(LaneStream, CXL_5_3_AFlitOf68BytesBeginsAtTheNextSymbolAfterIdle) {
  const LinkPreset x1 = {"cxl68_gen5x1", 5, 1, CxlFlits::k68};
  LaneStream flits(flit68_coding(x1, SkpMode::kOff)), tlps(line_coding(x1, SkpMode::kOff));
  flits.place(68, Time{});
  tlps.place(68, Time{});
  const Time symbol = flits.symbol_time();
  const Time gap = flits.free_at() + symbol;
  EXPECT_EQ(flits.place(68, gap).first, gap);
  EXPECT_GT(tlps.place(68, gap).first, gap);
}

TEST(LaneStream, AgreesWithAWalkByteByByteOnEveryWidthAndGeneration) {
  Random random(7);
  for (unsigned generation = 1; generation <= 5; ++generation) {
    for (const unsigned lanes : kLanes) {
      for (const SkpMode skp : {SkpMode::kNormal, SkpMode::kSris, SkpMode::kOff}) {
        const LineCoding coding = line_coding(preset(generation, lanes), skp);
        LaneStream stream(coding);
        ByteWalk walk(coding);
        std::uint64_t data = 0;
        Time now{};
        for (int i = 0; i < 300; ++i) {
          if (random.chance(0.3)) {
            now = stream.free_at() +
                  stream.symbol_time() * static_cast<std::int64_t>(random.below(3'000)) +
                  Time{static_cast<std::int64_t>(random.below(10'000'000))};
          }
          const auto bytes = static_cast<std::uint32_t>(
              random.chance(0.3) ? 8 : 4 * (5 + random.below(random.chance(0.1) ? 1'000 : 30)));
          const Placement got = stream.place(bytes, now);
          const Placement expected = walk.place(bytes, now);
          data += std::uint64_t{bytes} * 8;
          ASSERT_EQ(got.first, expected.first) << coding.lanes << " gen " << generation << " " << i;
          ASSERT_EQ(got.last, expected.last) << coding.lanes << " gen " << generation << " " << i;
          ASSERT_GE(got.first, now);
          ASSERT_EQ(stream.skps(), walk.skps) << coding.lanes << " gen " << generation << " " << i;
          ASSERT_EQ(stream.phy_bits(), walk.phy) << lanes << " gen " << generation << " " << i;
        }
        // Nothing is left over: the parts are the whole. Both stop where a block begins.
        const std::int64_t block_fs =
            coding.unit_interval_fs *
            static_cast<std::int64_t>(coding.header_ui + coding.rows_per_block * coding.ui_per_row);
        const Time end = next_edge(stream.free_at() + Time{5 * block_fs}, Time{block_fs}) +
                         Time{coding.unit_interval_fs * coding.header_ui};
        stream.settle(end);
        walk.idle_until(end);
        EXPECT_EQ(stream.phy_bits(), walk.phy);
        EXPECT_EQ(stream.free_at(), walk.row_start());
        const std::uint64_t header = std::uint64_t{coding.header_ui} * coding.lanes;
        EXPECT_EQ(stream.idle_bits(), walk.idle + header);
        EXPECT_EQ(stream.raw_bits(stream.free_at()), stream.phy_bits() + data + stream.idle_bits());
      }
    }
  }
}

TEST(LaneStream, LNK_5_14_IdleWireSendsASkpEvery1180To1538Symbols) {
  for (const unsigned generation : {1U, 2U}) {
    LaneStream lanes(line_coding(preset(generation, 8), SkpMode::kNormal));
    lanes.settle(lanes.symbol_time() * 10'000'000);
    EXPECT_LE(lanes.skps(), 10'000'000U / 1'180);
    EXPECT_GE(lanes.skps(), 10'000'000U / 1'538);
    EXPECT_EQ(lanes.phy_bits(), lanes.skps() * 4 * 10 * 8);
  }
}

TEST(LaneStream, LNK_5_15_IdleWireSendsASkpEvery370To375Blocks) {
  for (const unsigned generation : {3U, 4U, 5U}) {
    LaneStream lanes(line_coding(preset(generation, 8), SkpMode::kNormal));
    const Time block{lanes.coding().unit_interval_fs * 130};
    lanes.settle(block * 1'000'000);
    EXPECT_LE(lanes.skps(), 1'000'000U / 370);
    EXPECT_GE(lanes.skps(), 1'000'000U / 375);
    // Each is one block, announced by an EDS token.
    EXPECT_EQ(lanes.phy_bits(), lanes.skps() * (130 * 8 + 32));
  }
}

// When a receiver last saw one before the run began is nobody's choice.
TEST(LaneStream, LNK_5_15_TheFirstSkpComesAnywhereInItsPeriodAndTheOthersAPeriodApart) {
  const LineCoding coding = line_coding(preset(5, 16), SkpMode::kNormal);
  const Time block{coding.unit_interval_fs * 130};
  for (const std::uint64_t early : {0U, 1U, 200U, 370U}) {
    LaneStream lanes(coding);
    ASSERT_EQ(lanes.skp_period(), 371U);
    lanes.advance_skps(early);
    const auto skps_after = [&](std::uint64_t blocks) {
      lanes.settle(block * static_cast<std::int64_t>(blocks));
      return lanes.skps();
    };
    const std::uint64_t first = 370 - early;
    EXPECT_EQ(skps_after(first - (first > 0 ? 1 : 0)), 0U) << early;
    EXPECT_EQ(skps_after(first + 2), 1U) << early;
    EXPECT_EQ(skps_after(first + 370), 1U) << early;
    EXPECT_EQ(skps_after(first + 373), 2U) << early;
  }
}

TEST(LaneStream, LNK_5_16_SrisSendsThemWithin154SymbolsOr38Blocks) {
  LaneStream symbols(line_coding(preset(2, 1), SkpMode::kSris));
  symbols.settle(symbols.symbol_time() * 1'540'000);
  EXPECT_GE(symbols.skps(), 10'000U);
  LaneStream blocks(line_coding(preset(4, 1), SkpMode::kSris));
  blocks.settle(Time{blocks.coding().unit_interval_fs * 130} * 380'000);
  EXPECT_GE(blocks.skps(), 10'000U);
}

// A TLP of 4 KiB on one lane is longer than an interval of 8b/10b and most of one of 128b/130b.
TEST(LaneStream, LNK_5_17_NumberOfSkpsKeepsUpUnderLongUnits) {
  for (const unsigned generation : {1U, 2U, 3U, 4U, 5U}) {
    for (const std::uint32_t bytes : {4'120U, 88U, 8U}) {
      LaneStream lanes(line_coding(preset(generation, 1), SkpMode::kNormal));
      Placement last;
      for (std::uint32_t sent = 0; sent < 8'000'000; sent += bytes) {
        last = lanes.place(bytes, Time{});
      }
      const auto intervals = static_cast<double>(last.last.fs) /
                             static_cast<double>(lanes.coding().unit_interval_fs) /
                             (generation <= 2 ? 10 : 130);
      EXPECT_LE(static_cast<double>(lanes.skps()), intervals / (generation <= 2 ? 1'180 : 370));
      EXPECT_GE(static_cast<double>(lanes.skps()), intervals / (generation <= 2 ? 1'538 : 375) - 4);
    }
  }
}

TEST(LaneStream, LNK_5_17_NoUnitStraddlesASkp) {
  for (const unsigned generation : {1U, 3U}) {
    const LineCoding coding = line_coding(preset(generation, 2), SkpMode::kNormal);
    LaneStream lanes(coding);
    for (int i = 0; i < 20'000; ++i) {
      const Placement at = lanes.place(88, Time{});
      // 44 rows on two lanes; with 128b/130b they meet at most four sync headers.
      const std::int64_t rows = 44 * lanes.symbol_time().fs;
      ASSERT_GE((at.last - at.first).fs, rows);
      ASSERT_LE((at.last - at.first).fs, rows + 4 * coding.header_ui * coding.unit_interval_fs);
    }
    EXPECT_GT(lanes.skps(), 0U);
  }
}

// Before an ordered-set block the data stream ends: EDS in the last four bytes, idle before it.
TEST(LaneStream, LNK_5_17_FillAndEdsBeforeASkpAreLineCoding) {
  LineCoding coding = line_coding(preset(3, 4), SkpMode::kNormal);
  LaneStream lanes(coding);
  const std::uint32_t block = 64;
  for (std::uint32_t i = 0; i < 369; ++i) {
    lanes.place(block, Time{});
  }
  lanes.place(block + 40, Time{});  // begins before block 370 and leaves 24 bytes of it
  EXPECT_EQ(lanes.skps(), 0U);
  const std::uint64_t before = lanes.phy_bits();
  const Placement next = lanes.place(8, Time{});
  EXPECT_EQ(lanes.skps(), 1U);
  EXPECT_EQ(lanes.phy_bits() - before, 24U * 8 + 130 * 4 + 2 * 4);
  EXPECT_EQ(next.first.fs, (372 * 130 + 2) * INT64_C(125'000));
}

TEST(LaneStream, LNK_10_2_NothingIsSentWhileHeld) {
  LaneStream lanes(line_coding(preset(5, 16), SkpMode::kNormal));
  lanes.place(88, Time{});
  lanes.settle(Time::from_us(5));
  EXPECT_GE(lanes.place(88, Time::from_ns(3)).first, Time::from_us(5));
}

TEST(LaneStream, SettlingLeavesNoBitOfTheWindowUncounted) {
  Random random(3);
  for (const unsigned generation : {1U, 3U, 5U}) {
    for (const unsigned width : kLanes) {
      LaneStream lanes(line_coding(preset(generation, width), SkpMode::kNormal));
      for (int window = 0; window < 200; ++window) {
        lanes.settle(lanes.free_at() + Time{static_cast<std::int64_t>(random.below(30'000'000))});
        const Time begin = lanes.free_at();
        const std::uint64_t phy = lanes.phy_bits();
        const std::uint64_t idle = lanes.idle_bits();
        std::uint64_t data = 0;
        for (std::uint64_t units = random.below(4); units > 0; --units) {
          const auto bytes = static_cast<std::uint32_t>(4 * (2 + random.below(300)));
          ASSERT_GE(lanes.place(bytes, Time{}).first, begin);
          data += bytes * 8;
        }
        lanes.settle(lanes.free_at());
        ASSERT_EQ(data + lanes.phy_bits() - phy + lanes.idle_bits() - idle,
                  lanes.raw_bits(lanes.free_at() - begin));
      }
    }
  }
}

// Flits and SKP ordered sets follow each other without a gap, whatever comes when.
TEST(LaneStream, LNK_11_4_FlitsStandOnAGridFromOneSkpToTheNext) {
  for (const unsigned generation : {1U, 3U, 5U, 6U}) {
    for (const unsigned lanes : {1U, 2U, 4U, 8U, 16U}) {
      for (const SkpMode skp : {SkpMode::kOff, SkpMode::kNormal, SkpMode::kSris}) {
        const LineCoding coding = flit_coding({"", generation, lanes}, skp);
        LaneStream lane(coding);
        const std::int64_t block_fs =
            coding.unit_interval_fs *
            (coding.header_ui + std::int64_t{coding.rows_per_block} * coding.ui_per_row);
        const std::int64_t flit_fs = block_fs * coding.blocks_per_flit;
        const std::int64_t skp_fs = block_fs * coding.skp_blocks;
        std::uint64_t seen = 0;
        Time end{};
        for (std::int64_t i = 0; i < 3000; ++i) {
          const Time earliest = end + Time{(i * 7919 % 13) * flit_fs / 4};
          const Placement at = lane.place(256, earliest);
          EXPECT_GE(at.first, earliest);
          // The sync header stands before the first symbol.
          const std::int64_t start = at.first.fs - coding.header_ui * coding.unit_interval_fs;
          const std::int64_t skps = static_cast<std::int64_t>(lane.skps()) * skp_fs;
          EXPECT_EQ((start - skps) % flit_fs, 0) << generation << " x" << lanes << " flit " << i;
          EXPECT_LE(start - earliest.fs, flit_fs + skp_fs * 2);
          EXPECT_EQ(at.last.fs - start, flit_fs);
          end = at.last;
          seen = lane.skps();
          if (i % 5 == 0) {  // a window may end at any time
            lane.settle(end + Time{i % 7 * flit_fs / 3});
            const std::uint64_t data = static_cast<std::uint64_t>(i + 1) * 256 * 8;
            ASSERT_EQ(data + lane.phy_bits() + lane.idle_bits(), lane.raw_bits(lane.free_at()))
                << generation << " x" << lanes << " flit " << i;
            end = std::max(end, lane.free_at());
          }
        }
        EXPECT_EQ(seen > 0, skp != SkpMode::kOff);
        lane.settle(end);  // up to where the next flit begins, behind its sync header
        EXPECT_GE(lane.free_at(), end);
        const std::uint64_t data = 3000 * 256 * 8;
        EXPECT_EQ(data + lane.phy_bits() + lane.idle_bits(), lane.raw_bits(lane.free_at()));
      }
    }
  }
}

// A set of 40 symbols behind every 11,840 symbols of each lane.
TEST(LaneStream, LNK_11_12_At64GigatransfersASkpComesEvery11840Symbols) {
  for (const unsigned lanes : {1U, 4U, 16U}) {
    LaneStream lane(flit_coding({"", 6, lanes}, SkpMode::kNormal));
    lane.settle(Time::from_us(1'000));
    const double symbols = 64e9 / 8 * 1e-3;
    EXPECT_NEAR(static_cast<double>(lane.skps()), symbols / (11840 + 40), 0.05 * symbols / 11880);
    EXPECT_EQ(lane.phy_bits(), lane.skps() * 40 * 8 * lanes);
  }
}

}  // namespace
}  // namespace flitwise::lane_stream_test
