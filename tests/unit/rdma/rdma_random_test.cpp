// SPDX-License-Identifier: Apache-2.0
// Requester and responder over a wire that loses, duplicates, reorders and damages, against a
// reference memory; and a hostile peer that tries every field.
#include <gtest/gtest.h>

#include "common/random.h"
#include "unit/rdma/rdma_bench.h"

namespace flitwise::rdma_random_test {
namespace {

using test::RdmaBench;

constexpr unsigned kOperations = 20'000;
constexpr unsigned kDepth = 64;
constexpr std::uint32_t kSlot = 1024;  // bytes of memory of each operation that is out
constexpr unsigned kSessions = 4;

struct Manner {
  const char* name;
  ReceiveMode mode;
  Recovery recovery;
  bool has_echo, has_sack;
  double disorder;  // of packets that change places

  void set(QueuePairSetup& pair) const {
    pair.mode = mode;
    pair.recovery = recovery;
    pair.has_echo = has_echo;
    pair.has_sack = has_sack;
    pair.finds_holes = has_echo && has_sack;
    pair.keeps_sent = true;
    pair.gap_time = Time::from_us(3);
    pair.ack_delay = Time::from_us(1);
    pair.ack_every_session = 3;
    pair.reorder_window = pair.nak_distance = 16;  // the window is longer
  }
};

// What end 0 has asked for, done in order on memories of its own: those both ends should have.
struct Reference {
  std::array<std::vector<std::uint8_t>, 2> memory;

  void copy(unsigned from, std::uint64_t at, unsigned to, std::uint64_t where, std::size_t bytes) {
    std::copy_n(&memory[from][at], bytes, &memory[to][where]);
  }
  std::uint64_t word(unsigned end, std::uint64_t at) const {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) {
      value |= std::uint64_t{memory[end][at + i]} << 8 * i;
    }
    return value;
  }
  void set_word(unsigned end, std::uint64_t at, std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) {
      memory[end][at + i] = static_cast<std::uint8_t>(value >> 8 * i);
    }
  }
};

class LossyWire {
 public:
  LossyWire(RdmaBench& bench, std::uint64_t seed, double disorder)
      : bench_(bench), random_(seed), disorder_(disorder) {}

  // One packet of each end, with its fate, and one that is delivered.
  void step(unsigned end) {
    if (random_.chance(0.7) && bench_.ends[end].next(packet_, bench_.now)) {
      if (packet_.fields.session == kNoSession) {
        packet_.fields.session = static_cast<std::uint16_t>(random_.below(kSessions));
      }
      bench_.ends[end].pair().leaves(packet_.fields, bench_.now);
      packet_.fields.is_marked = random_.chance(0.1);
      std::deque<RdmaWirePacket>& wire = bench_.wire[1 - end];
      packet_.fields.is_intact = !random_.chance(0.01);
      if (!random_.chance(0.01)) {
        wire.push_back(packet_);
      }
      if (random_.chance(0.01)) {
        wire.push_back(packet_);
      }
      if (random_.chance(disorder_) && wire.size() > 1) {
        std::swap(wire.back(), wire[random_.below(wire.size())]);
      }
    }
    if (!bench_.wire[end].empty() && random_.chance(0.7)) {
      bench_.deliver(end);
    }
  }

 private:
  RdmaBench& bench_;
  Random random_;
  const double disorder_;
  RdmaWirePacket packet_;
};

struct Traffic {
  RdmaBench& bench;
  Random random;
  bool has_own_places;  // no two WRITEs to the same bytes
  Reference reference;
  std::deque<std::uint64_t> sends, receives;  // ids whose completion has to come, in order
  std::vector<Sge> reads;                     // without a fence behind them
  unsigned posted = 0;

  bool post_one() {
    const std::uint64_t local = std::uint64_t{posted % kDepth} * kSlot;
    const auto opcode = static_cast<WorkOpcode>(random.below(kWorkOpcodes - 1));
    const bool is_atomic_work = is_atomic(opcode);
    const bool takes_buffer = opcode <= WorkOpcode::kSendInv || opcode == WorkOpcode::kWriteImm;
    const auto bytes = static_cast<std::uint32_t>(is_atomic_work ? 8 : random.below(kSlot + 1));
    SendWork work =
        bench.work(opcode == WorkOpcode::kSendInv ? WorkOpcode::kSend : opcode, bytes, posted);
    work.local = view_of({local, bytes / 2, bench.keys[0]});
    work.local.pieces[work.local.count++] = {local + bytes / 2, bytes - bytes / 2, bench.keys[0]};
    work.remote_address = 0x1'0000 + (has_own_places   ? local
                                      : is_atomic_work ? 8 * random.below(8)
                                                       : random.below(0x4000));
    work.is_fenced = random.chance(0.05) || overtakes_a_read(work, bytes);
    work.is_signaled = !random.chance(0.2);
    work.operand = random.next();
    work.compare = random.chance(0.5) ? reference.word(1, work.remote_address) : random.next();
    if (bench.post(work) != PostResult::kTaken) {
      return false;
    }
    if (work.is_fenced) {
      reads.clear();
    }
    if (opcode == WorkOpcode::kRead) {
      reads.push_back({work.remote_address, bytes, 0});
    }
    // A receive buffer comes before its message, or behind it, so that an RNR NAK is sent.
    if (takes_buffer) {
      receives.push_back(posted);
    }
    note(work, local, bytes);
    if (work.is_signaled) {
      sends.push_back(posted);
    }
    ++posted;
    return true;
  }
  // A READ that is answered again finds what was written meanwhile: such a write needs a fence.
  bool overtakes_a_read(const SendWork& work, std::uint32_t bytes) const {
    return work.opcode >= WorkOpcode::kWrite && work.opcode != WorkOpcode::kRead &&
           std::any_of(reads.begin(), reads.end(), [&](const Sge& one) {
             return work.remote_address < one.address + one.bytes &&
                    one.address < work.remote_address + bytes;
           });
  }
  void note(const SendWork& work, std::uint64_t local, std::uint32_t bytes) {
    const std::uint64_t remote = work.remote_address;
    switch (work.opcode) {
      case WorkOpcode::kWrite:
      case WorkOpcode::kWriteImm: reference.copy(0, local, 1, remote, bytes); break;
      case WorkOpcode::kRead: reference.copy(1, remote, 0, local, bytes); break;
      case WorkOpcode::kCmpSwap:
      case WorkOpcode::kFetchAdd: {
        const std::uint64_t original = reference.word(1, remote);
        const bool swaps = original == work.compare;
        reference.set_word(1, remote,
                           work.opcode == WorkOpcode::kFetchAdd ? original + work.operand
                           : swaps                              ? work.operand
                                                                : original);
        reference.set_word(0, local, original);
        break;
      }
      default: reference.copy(0, local, 1, std::uint64_t{posted % kDepth} * kSlot, bytes);
    }
  }
  void poll(unsigned end, std::deque<std::uint64_t>& expected) {
    while (const auto one = bench.ends[end].completions().poll()) {
      ASSERT_EQ(one->status, WorkStatus::kSuccess) << name_of(one->status) << " of " << one->id;
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(one->id, expected.front());
      expected.pop_front();
    }
  }
};

void grow(RdmaEndSetup& setup) {
  setup.memory_bytes = 0x2'0000;
  setup.pair.send_depth = kDepth;
  setup.pair.most_reads_out = setup.pair.most_reads_taken = 4;
  setup.pair.window = 24;
  setup.pair.rnr_retries = 7;
  setup.pair.ack_every = 5;
}

class RdmaManners : public ::testing::TestWithParam<Manner> {};

// [VB-4, 5, 6, 9, 10] [PS-2] [RX-2, 3, 4, 5, 6] [LR-1, 2, 3] [MO-1]
TEST_P(RdmaManners, TwentyThousandOperationsOverABadWire) {
  constexpr std::uint64_t kSeed = 20261127;
  const Manner& manner = GetParam();
  RdmaBench bench([&](RdmaEndSetup& setup) {
    grow(setup);
    manner.set(setup.pair);
  });
  bench.connect();
  LossyWire wire(bench, kSeed, manner.disorder);
  Traffic traffic{bench, Random(kSeed + 1), manner.mode == ReceiveMode::kDirect, {}, {}, {}, {}};
  for (unsigned end = 0; end < 2; ++end) {
    traffic.reference.memory[end] = bench.ends[end].memory();
  }
  std::deque<std::uint64_t> to_come;  // receive buffers that are not posted yet
  std::uint64_t last_progress = 0;
  unsigned quiet = 0;
  std::uint64_t losses = 0;
  for (std::uint64_t step = 0;
       traffic.posted < kOperations || bench.ends[0].pair().requester().waiting() > 0; ++step) {
    ASSERT_LT(step, 10'000'000U) << "seed " << kSeed << ": no end";
    // Batches, since the reference does a batch at once: local slots are not used twice in one.
    if (bench.ends[0].pair().requester().waiting() == 0 && traffic.posted < kOperations) {
      ASSERT_EQ(traffic.receives.size(), to_come.size());
      ASSERT_EQ(bench.ends[0].memory(), traffic.reference.memory[0]) << traffic.posted;
      ASSERT_EQ(bench.ends[1].memory(), traffic.reference.memory[1]) << traffic.posted;
      for (unsigned i = 0; i < kDepth; ++i) {
        ASSERT_TRUE(traffic.post_one());
      }
      to_come = traffic.receives;
    }
    if (!to_come.empty() && step % 7 == 0) {
      const std::uint64_t id = to_come.front();
      to_come.pop_front();
      const std::uint64_t at = id % kDepth * kSlot;
      ASSERT_EQ(bench.ends[1].pair().post_receive({id, view_of({at, kSlot, bench.keys[1]})}),
                PostResult::kTaken);
    }
    bench.now += Time::from_ns(100);
    for (unsigned end = 0; end < 2; ++end) {
      if (bench.ends[end].pair().due() <= bench.now) {
        bench.ends[end].pair().expire(bench.now);
      }
      wire.step(end);
    }
    traffic.poll(0, traffic.sends);
    traffic.poll(1, traffic.receives);
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << kSeed << ", step " << step;
    const RcRequester& requester = bench.ends[0].pair().requester();
    quiet = requester.progress() == last_progress ? quiet + 1 : 0;
    last_progress = requester.progress();
    if (requester.waits_for_rnr() && quiet % 40 == 39) {
      bench.ends[0].pair().end_rnr_wait();
    } else if (quiet % 400 == 399) {
      bench.ends[0].pair().time_out(bench.now);
    }
    for (LostPacket lost; bench.ends[0].pair().next_loss(lost);) {
      ++losses;
      ASSERT_TRUE(lost.session < kSessions || lost.cause == LossCause::kAnswer);
    }
  }
  EXPECT_EQ(bench.ends[0].memory(), traffic.reference.memory[0]);
  EXPECT_EQ(bench.ends[1].memory(), traffic.reference.memory[1]);
  EXPECT_TRUE(traffic.sends.empty());
  EXPECT_TRUE(traffic.receives.empty());
  const bool keeps_order = manner.mode == ReceiveMode::kInOrder;
  for (const QpCounter counter :
       {QpCounter::kBadIcrc, keeps_order ? QpCounter::kOutOfOrder : QpCounter::kHeld,
        QpCounter::kDuplicate, QpCounter::kSequenceNaks, QpCounter::kRnrNak}) {
    EXPECT_GT(bench.count(1, counter), 20U) << name_of(counter);
  }
  for (const QpCounter counter :
       {QpCounter::kResent, QpCounter::kLostAnswer, QpCounter::kTimeOut}) {
    EXPECT_GT(bench.count(0, counter), 20U) << name_of(counter);
  }
  if (!manner.has_echo) {
    EXPECT_GT(bench.count(0, QpCounter::kStaleAck), 20U);
  }
  EXPECT_GT(losses, 20U);
  if (manner.disorder > 0.1 && !keeps_order) {
    EXPECT_GT(bench.count(1, QpCounter::kOverflow), 20U);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, RdmaManners,
    ::testing::Values(
        Manner{"in_order", ReceiveMode::kInOrder, Recovery::kGoBackN, false, false, 0.01},
        Manner{"in_order_echo", ReceiveMode::kInOrder, Recovery::kGoBackN, true, false, 0.01},
        Manner{"reorder_go_back_n", ReceiveMode::kReorder, Recovery::kGoBackN, false, false, 0.01},
        Manner{"reorder", ReceiveMode::kReorder, Recovery::kSelective, false, false, 0.3},
        Manner{"reorder_echo", ReceiveMode::kReorder, Recovery::kSelective, true, false, 0.3},
        Manner{"reorder_sack", ReceiveMode::kReorder, Recovery::kSelective, false, true, 0.3},
        Manner{"reorder_both", ReceiveMode::kReorder, Recovery::kSelective, true, true, 0.3},
        Manner{"ddp", ReceiveMode::kDirect, Recovery::kSelective, true, false, 0.3}),
    [](const auto& one) { return std::string(one.param.name); });

std::uint64_t strange(Random& random, std::uint64_t good) {
  switch (random.below(6)) {
    case 0: return random.next();
    case 1: return good + 1;
    case 2: return good - 1;
    case 3: return 0 - random.below(16);
    case 4: return good ^ std::uint64_t{1} << random.below(64);
    default: return good;
  }
}

// [HP-7] [RX-1] [VB-C10]: bytes outside of the region that the peer may use stay as they are,
// whatever comes; the region in the middle takes what is good.
class RdmaHostility : public ::testing::TestWithParam<ReceiveMode> {};
INSTANTIATE_TEST_SUITE_P(Modes, RdmaHostility,
                         ::testing::Values(ReceiveMode::kInOrder, ReceiveMode::kReorder,
                                           ReceiveMode::kDirect),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST_P(RdmaHostility, HP_7_AHostilePeerGetsPastNoKeyAndNoBound) {
  constexpr std::uint64_t kSeed = 77;
  constexpr std::uint64_t kBase = 0x3000, kBytes = 0x800;
  Random random(kSeed);
  RdmaBench bench([](RdmaEndSetup& setup) {
    setup.pair.mode = GetParam();
    setup.pair.has_echo = setup.pair.has_sack = GetParam() != ReceiveMode::kInOrder;
    setup.pair.reorder_window = 16;
  });
  const MemoryRegion own = {0, kBase, kBytes, kAllRdmaRights};
  std::uint32_t key = *bench.ends[1].add_region(own);
  const std::uint32_t read_only = *bench.ends[1].add_region({0, 0x6000, 64, kRemoteRead});
  const std::uint32_t foreign = *bench.ends[1].add_region({5, 0x7000, 64, kAllRdmaRights});
  ASSERT_TRUE(bench.ends[1].keys().remove(bench.keys[1]));
  const std::vector<std::uint8_t> before = bench.ends[1].memory();
  unsigned written = 0, read = 0, invalidated = 0;
  for (unsigned i = 0; i < 200'000; ++i) {
    if (bench.state(1) != QpState::kRts) {
      for (const QpState state : {QpState::kReset, QpState::kInit, QpState::kRtr, QpState::kRts}) {
        ASSERT_TRUE(bench.ends[1].pair().modify(state));
      }
      bench.polled(1);
    }
    if (random.chance(0.1)) {  // some of them too short, some outside of what they may use
      const std::uint64_t at = random.chance(0.9) ? kBase : 0x6000;
      bench.ends[1].pair().post_receive(
          {i, view_of({at, static_cast<std::uint32_t>(random.below(600)), key})});
    }
    const std::uint32_t keys[] = {key, key, key, read_only, foreign, bench.keys[1]};
    RdmaWirePacket packet;
    RdmaPacket& fields = packet.fields;
    fields.opcode = static_cast<RdmaOpcode>(random.below(random.chance(0.1) ? 256 : 0x18));
    fields.queue_pair = 0x12;
    fields.psn = psn_plus(bench.ends[1].pair().responder().expected(),
                          random.chance(0.8)   ? 0
                          : random.chance(0.7) ? static_cast<std::uint32_t>(random.below(20))
                                               : static_cast<std::uint32_t>(random.next()));
    fields.names_place = random.chance(0.5);
    fields.session = static_cast<std::uint16_t>(random.below(8));
    fields.key = static_cast<std::uint32_t>(random.chance(0.9) ? keys[random.below(6)]
                                                               : strange(random, key));
    const std::uint64_t bases[] = {kBase + random.below(kBytes), kBase, kBase + kBytes, 0x6000,
                                   0x7000};
    fields.address = strange(random, bases[random.below(5)]);
    fields.payload_bytes = static_cast<std::uint32_t>(random.below(random.chance(0.2) ? 600 : 257));
    if (const RdmaPacketKind kind = info_of(fields.opcode).kind;
        (kind == RdmaPacketKind::kRead || kind == RdmaPacketKind::kAtomic) && random.chance(0.9)) {
      fields.payload_bytes = 0;
    }
    fields.length = static_cast<std::uint32_t>(
        random.chance(0.6) ? fields.payload_bytes : strange(random, random.below(2 * kBytes)));
    fields.pad = random.chance(0.95) ? pad_of(fields.payload_bytes) : 1;
    fields.operand = fields.compare = ~std::uint64_t{0};
    fields.immediate =
        static_cast<std::uint32_t>(random.chance(0.7) ? 0x7f00 : strange(random, key));
    fields.syndrome = static_cast<std::uint8_t>(random.next());
    packet.bytes.assign(fields.payload_bytes, 0xee);
    bench.ends[1].receive(packet);
    while (bench.ends[1].next(packet)) {
      for (const Sge& piece : packet.fields.payload) {
        ++read;
        const bool is_own = piece.address >= kBase && piece.address + piece.bytes <= kBase + kBytes;
        const bool is_readable = piece.address >= 0x6000 && piece.address + piece.bytes <= 0x6040;
        ASSERT_TRUE(piece.bytes == 0 || is_own || is_readable) << "seed " << kSeed << ", " << i;
      }
    }
    if (!bench.ends[1].keys().allow(0, Sge{kBase, 8, key}, kRemoteWrite)) {
      ++invalidated;
      ASSERT_TRUE(bench.ends[1].keys().remove(key));
      key = *bench.ends[1].add_region(own);
    }
  }
  for (std::size_t at = 0; at < before.size(); ++at) {
    const bool is_own = at >= kBase && at < kBase + kBytes;
    ASSERT_TRUE(is_own || bench.ends[1].memory()[at] == before[at])
        << "seed " << kSeed << " " << at;
    written += is_own && bench.ends[1].memory()[at] != before[at] ? 1 : 0;
  }
  EXPECT_GT(written, kBytes / 2);
  EXPECT_GT(read, 100U);
  EXPECT_GT(invalidated, 20U);
  EXPECT_EQ(bench.count(1, QpCounter::kHeld) > 100, GetParam() != ReceiveMode::kInOrder);
}

}  // namespace
}  // namespace flitwise::rdma_random_test
