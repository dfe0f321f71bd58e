// SPDX-License-Identifier: Apache-2.0
/// A device that sends what it likes by CXL.cache and by CXL.io, handles of its own and forged
/// ones, beside two with lines in their caches: the attack, and all that must hold afterwards.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "config/load.h"
#include "dhi/dhi_message.h"
#include "iommu/registers.h"
#include "iommu/table_builder.h"
#include "support/one_line_engine.h"
#include "system/machine_bench.h"

namespace flitwise::test {

constexpr std::uint64_t kHostileWindow = std::uint64_t{64} << 20, kHostileWindowBytes = 64 << 10;
constexpr std::uint64_t kHostileMemory = std::uint64_t{128} << 20;
constexpr std::uint64_t kOtherLines = std::uint64_t{80} << 20, kOtherLinesBytes = 64 << 10;

/// What holds ep0 back: a window of memory, or permissions of pages.
enum class LineGuard { kWindow, kPermissions };

/// Contexts of each PASID, where handles of contexts are granted. [DHI S3]
constexpr std::uint32_t kHostileContexts = 4;
inline std::vector<std::string> with_hostile_contexts() {
  return {fmt::format("host.dhi.granted.contexts={}", kHostileContexts),
          "workload.contexts.kind=queue_pair",
          fmt::format("workload.contexts.per_process={}", kHostileContexts),
          fmt::format("workload.domains={}", 2 * kHostileContexts)};
}

/// ep0 was granted PASIDs 0 and 1, and the window; all share one handle table.
inline Config hostile_lines_config(LineGuard guard, std::vector<std::string> sets) {
  const std::string yaml = R"(
system: {devices: 3}
host: {memory: {size: 128MiB}, dhi: {table: shared, entries: 256, grant: configured, granted: {last_pasid: 1}}}
link: {preset: cxl256_gen6x16, cxl: {identity: dhi_added, handle_bits: 8}}
device: {cxl: {cache: {size: 4KiB, ways: 4}}, dhi: {bits: 6}}
workload: {via: cxl_cache, domains: 2, buffer_base: 80MiB}
)";
  const std::string window = "system.instances.rp0.host.dma_window.";
  const std::vector<std::string> guards =
      guard == LineGuard::kWindow
          ? std::vector<std::string>{window + "base=64MiB", window + "size=64KiB"}
          : std::vector<std::string>{"iommu.secure_ats=true"};
  sets.insert(sets.end(), guards.begin(), guards.end());
  LoadOptions options;
  options.sets = sets;
  return config_from_text(yaml, "hostile_lines.yaml", "", options);
}

/// What comes down to ep0: lines that it must not see, and pulls that it may answer.
struct HostileEars : TraceSink {
  void record(const TraceEvent& event) override {
    const Packet& packet = *event.packet;
    if (packet.kind != PacketKind::kCxl || event.is_up) {
      return;
    }
    const CxlMessage& message = *packet.cxl;
    if (message.channel == CxlChannel::kH2dData) {
      const std::uint8_t first = packet.payload.front();
      lines += first == kOwn || first == kWritten ? 1 : 0;
      secrets += first == kSecret ? 1 : 0;
    } else if (message.channel == CxlChannel::kH2dReq) {
      snoops.push_back(message.id);
    } else if (message.opcode != static_cast<std::uint8_t>(cxl::H2dRsp::kGo)) {
      pulls.push_back(message.rsp_data);
    }
  }
  static constexpr std::uint8_t kOwn = 0x5a, kWritten = 0x77, kSecret = 0xa5;
  std::uint64_t lines = 0, secrets = 0;
  std::deque<std::uint16_t> snoops, pulls;  // UQIDs
};

/// The tables that software has made for all three devices, and its invalidation queue. [CXL-7.10]
class LinePermissions {
 public:
  explicit LinePermissions(Machine& machine)
      : machine_(machine),
        builder_([this](std::uint64_t address,
                        std::uint64_t value) { return machine_.memory().poke_u64(address, value); },
                 kTables) {
    const std::vector<std::uint8_t> zeros(kEnd - kTables);
    machine.memory().poke(kTables, zeros.data(), zeros.size());
    for (std::uint16_t pasid = 0; pasid < 2; ++pasid) {
      give(Bdf::of(1, 0, 0), Pasid{pasid}, half(pasid), kHalf);
      for (const unsigned device : {1U, 2U}) {
        give(Bdf::of(static_cast<std::uint8_t>(device + 1), 0, 0), Pasid{pasid},
             kOtherLines + device * kOtherLinesBytes, kOtherLinesBytes);
      }
    }
    write(iommu_register::kRtaddr, 8, root_table_ | kScalableMode);
    write(iommu_register::kGcmd, 4, global_bit::kRootTable);
    write(iommu_register::kGcmd, 4, global_bit::kTranslation);
  }

  /// PASID 1 of ep0 has nothing any more, and its lines are recalled.
  void revoke() {
    builder_.permit({Bdf::of(1, 0, 0), Pasid{1}, half(1), kHalf, kPageBits, {false, false}, {}});
    // Of these pages, whose domain does not matter. [IOM-5.11]
    constexpr std::uint64_t kPermissions = 0x2'0e7e, kWait = 0x1234'0000'0025;
    constexpr std::uint64_t kPages = __builtin_ctzll(kHalf >> kPageBits);
    const std::uint64_t words[] = {kPermissions, half(1) | kPages, 0, 0, kWait, kStatus};
    for (std::size_t i = 0; i < std::size(words); ++i) {
      machine_.memory().poke_u64(kQueue + 8 * i, words[i]);
    }
    constexpr std::uint64_t kLongDescriptors = 1U << 11;
    write(iommu_register::kIqa, 8, kQueue | kLongDescriptors);
    write(iommu_register::kGcmd, 4, global_bit::kTranslation | global_bit::kQueue);
    write(iommu_register::kIqt, 8, 0x40);
  }
  bool is_revoked() const { return machine_.memory().peek_u64(kStatus) == 0x1234; }

  static constexpr std::uint64_t kHalf = kHostileWindowBytes / 2;
  static std::uint64_t half(std::uint16_t pasid) { return kHostileWindow + pasid * kHalf; }

 private:
  static constexpr std::uint64_t kTables = std::uint64_t{112} << 20, kQueue = kTables + (8 << 20),
                                 kStatus = kQueue + 0x1000, kEnd = kQueue + 0x2000;
  static constexpr std::uint64_t kScalableMode = 1U << 10;

  void give(Bdf function, Pasid pasid, std::uint64_t from, std::uint64_t bytes) {
    Mapping mapping;
    mapping.function = function;
    mapping.pasid = pasid;
    mapping.address = mapping.to = from;
    mapping.bytes = bytes;
    mapping.domain = ++domains_;
    root_table_ = builder_.map(mapping).root_table;
    builder_.permit({function, pasid, from, bytes, kPageBits, {true, true}, {}});
  }
  void write(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
    machine_.agent().write_register(offset, bytes, value);
  }

  Machine& machine_;
  TableBuilder builder_;
  std::uint64_t root_table_ = 0;
  std::uint16_t domains_ = 0;
};

class HostileLines {
 public:
  HostileLines(std::uint64_t seed, LineGuard guard, const std::vector<std::string>& sets)
      : random_(seed), bench_(hostile_lines_config(guard, sets)) {
    FabricDevice& device = bench_.machine.fabric().devices[0];
    bench_.machine.fabric().links[device.link].link->watch(&ears_);
    bench_.machine.set_up_at_once();
    before_.assign(kHostileMemory, HostileEars::kSecret);
    std::fill_n(before_.begin() + kHostileWindow, kHostileWindowBytes, HostileEars::kOwn);
    bench_.machine.memory().poke(0, before_.data(), before_.size());
    if (guard == LineGuard::kPermissions) {
      permissions_.emplace(bench_.machine);
    }
  }

  /// The other two hold lines, some of them modified.
  void fill_other_caches() {
    for (const std::size_t index : {1, 2}) {
      for (std::uint64_t i = 0; i < 16; ++i) {
        engines_.push_back(std::make_unique<OneLineEngine>(
            OneLineEngine::Wish{i % 2 == 0 ? Op::kWrite : Op::kRead, other_line(index, i)}));
        OneLineEngine& engine = *engines_.back();
        CxlCacheDevice& cache = *bench_.machine.fabric().devices[index].cxl.cache;
        cache.attach(engine);
        cache.wake();
        ASSERT_TRUE(bench_.run_until([&] { return engine.is_done(); }));
        ASSERT_EQ(engine.status(), TransferStatus::kDone);
      }
    }
    ASSERT_TRUE(bench_.finish());
    bench_.machine.memory().peek(0, before_.data(), before_.size());
    caches_ = lines_of_others();
  }

  void send(std::uint64_t messages) {
    for (std::uint64_t i = 0; i < messages; ++i) {
      random_() % 4 == 0 ? send_handle_message() : send_line_message();
      while (!agents().cache->to_link.empty()) {
        run(Time::from_ns(20));
      }
      run(Time::from_ns(1 + static_cast<std::int64_t>(random_() % 20)));
    }
    run(Time::from_us(20));
  }

  /// Amid the attack half of the window is taken from it, and holds secrets from then on.
  void take_half_back() {
    permissions_->revoke();
    for (unsigned tries = 0; tries < 100 && !permissions_->is_revoked(); ++tries) {
      send(200);  // among them answers to snoops
    }
    ASSERT_TRUE(permissions_->is_revoked());
    own_bytes_ = LinePermissions::kHalf;
    const std::vector<std::uint8_t> secrets(LinePermissions::kHalf, HostileEars::kSecret);
    bench_.machine.memory().poke(LinePermissions::half(1), secrets.data(), secrets.size());
    bench_.machine.memory().peek(0, before_.data(), before_.size());
  }

  void expect_no_harm() {
    std::vector<std::uint8_t> after(kHostileMemory);
    bench_.machine.memory().peek(0, after.data(), after.size());
    std::copy_n(after.begin() + kHostileWindow, own_bytes_, before_.begin() + kHostileWindow);
    EXPECT_TRUE(after == before_) << "memory beyond its window has changed";
    EXPECT_TRUE(lines_of_others() == caches_) << "lines of other caches have changed";
    EXPECT_EQ(ears_.secrets, 0U) << "lines that it must not see";
    const RunResult result = bench_.machine.result();
    for (const CheckResult& check : result.checks) {
      const bool is_of_others = check.name.find("ep1") != std::string::npos ||
                                check.name.find("ep2") != std::string::npos ||
                                check.name.find("device caches") != std::string::npos;
      EXPECT_TRUE(check.ok || !is_of_others) << check.name << ": " << check.detail;
    }
    for (const DhiResult& dhi : result.rows<DhiResult>()) {
      EXPECT_EQ(dhi.wrong_domain, 0U) << dhi.device;
    }
  }
  /// It was one: much was served, and much refused, for these reasons.
  void expect_an_attack(std::uint64_t messages, const std::vector<std::string>& refusals) {
    EXPECT_GT(ears_.lines, messages / 200);
    std::vector<std::uint8_t> window(kHostileWindowBytes);
    bench_.machine.memory().peek(kHostileWindow, window.data(), window.size());
    EXPECT_GT(std::count(window.begin(), window.end(), HostileEars::kWritten), 64)
        << "bytes that it wrote";
    const RunResult result = bench_.machine.result();
    for (const std::string& kind : refusals) {
      const auto found = result.errors.find(kind);
      EXPECT_GT(found == result.errors.end() ? 0 : found->second, messages / 1000) << kind;
    }
  }
  /// And no entry names what it was not granted.
  void expect_granted_entries() {
    const HostHandleTable& table = bench_.machine.fabric().devices[0].handles->table();
    unsigned of_contexts = 0;
    for (std::uint16_t handle = 0; handle < 256; ++handle) {
      const std::optional<Resolution> entry = table.resolve(Dhi{handle});
      if (!entry || entry->identity.bdf.bus() != 1) {
        continue;
      }
      EXPECT_EQ(entry->identity.bdf, Bdf::of(1, 0, 0));
      EXPECT_FALSE(entry->is_trusted);
      ASSERT_TRUE(entry->identity.pasid.has_value());
      const std::uint32_t pasid = to_int(*entry->identity.pasid);
      EXPECT_LT(pasid, 2U);
      if (entry->context) {
        ++of_contexts;
        EXPECT_EQ(entry->context.number() / kHostileContexts, pasid);
      }
    }
    // The last entry of a context may have gone before the end.
    EXPECT_TRUE(has_contexts() || of_contexts == 0) << of_contexts;
    const auto status = static_cast<std::size_t>(HandleStatus::kContextNotGranted);
    EXPECT_EQ(table.statistics().rejections[status] != 0, has_contexts());
  }
  MachineBench& bench() { return bench_; }

 private:
  using Line = std::pair<LineState, CxlLine>;
  static std::uint64_t other_line(std::size_t index, std::uint64_t i) {
    return kOtherLines + index * kOtherLinesBytes + i * 2 * kCxlLineBytes;
  }
  std::map<std::pair<std::size_t, std::uint64_t>, Line> lines_of_others() {
    std::map<std::pair<std::size_t, std::uint64_t>, Line> all;
    for (const std::size_t index : {1, 2}) {
      const CacheArray& lines = bench_.machine.fabric().devices[index].cxl.cache->rules().lines();
      lines.for_each_line([&](std::uint64_t line, LineState state) {
        all[{index, line}] = {state, lines.find(line)->data};
      });
    }
    return all;
  }
  bool has_contexts() const { return bench_.machine.config.host.dhi.granted.contexts != 0; }
  const CxlAgents& agents() { return bench_.machine.fabric().devices[0].cxl; }
  static void run(Time span) { sc_core::sc_start(to_sc_time(span)); }
  std::uint16_t any(std::uint64_t bound) { return static_cast<std::uint16_t>(random_() % bound); }

  // Handles and PASIDs mostly of its own, now and then of others.
  void send_handle_message() {
    const Bdf own = Bdf::of(1, 0, 0);
    const Bdf named = any(16) == 0 ? Bdf{any(0x400)} : own;
    PacketRef packet = bench_.machine.pool.make(PacketKind::kTlp);
    if (any(8) != 0) {
      AllocMessage alloc;
      alloc.dhi = Dhi{any(any(4) == 0 ? 4096 : 8)};
      alloc.identity = DeviceIdentity(named, Pasid{any(any(8) == 0 ? 4 : 2)});
      alloc.is_trusted = any(32) == 0;
      if (has_contexts() && any(4) != 0) {
        alloc.context = ContextId(static_cast<ContextKind>(1 + any(kContextKinds - 1)),
                                  any(any(8) == 0 ? 64 : 2 * kHostileContexts));
      }
      write_dhi_message(*packet, any(8) == 0 ? named : own, alloc);
    } else {
      DeallocMessage dealloc;
      dealloc.scope = static_cast<DeallocScope>(any(8) == 0 ? any(4) : 0);
      dealloc.dhi = Dhi{any(8)};
      dealloc.function = named;
      write_dhi_message(*packet, own, dealloc);
    }
    bench_.machine.fabric().devices[0].endpoint->shell().inject(std::move(packet));
  }

  std::uint64_t any_address() {
    const std::uint64_t line = any(64) * std::uint64_t{kCxlLineBytes};
    switch (any(8)) {
      case 0: return other_line(1 + any(2), any(16));
      case 1: return kHostileWindow - line;
      case 2: return kHostileWindow + kHostileWindowBytes - line / 2 / 64 * 64;
      case 3: return random_() % kHostileMemory;  // seldom a line
      default: return kHostileWindow + line;
    }
  }

  void send_line_message() {
    PacketRef packet = bench_.machine.pool.make(PacketKind::kCxl);
    CxlMessage& message = *packet->cxl;
    packet->counts = false;
    // What is out for long would hold up all that it wants.
    const bool owes_data = ears_.pulls.size() > 16;
    const unsigned kind = ears_.snoops.size() > 4 ? 5 : owes_data ? 6 : any(8);
    if (kind < 5) {
      message.channel = CxlChannel::kD2hReq;
      message.opcode = static_cast<std::uint8_t>(any(0x12));
      message.id = any(4096);
      message.address = any_address();
      message.identity = any(any(4) == 0 ? 256 : 8);
    } else if (kind == 5) {
      constexpr cxl::D2hRsp kAnswers[] = {cxl::D2hRsp::kRspIHitI, cxl::D2hRsp::kRspIHitSE,
                                          cxl::D2hRsp::kRspIFwdM, cxl::D2hRsp::kRspSFwdM};
      message.channel = CxlChannel::kD2hRsp;
      message.opcode = static_cast<std::uint8_t>(kAnswers[any(4)]);
      message.id = next_of(ears_.snoops);
    } else {
      message.channel = CxlChannel::kD2hData;
      message.id = next_of(!owes_data && any(4) == 0 ? ears_.snoops : ears_.pulls);
      message.bogus = any(8) == 0;
      message.byte_enables = any(2) == 0 ? random_() : kAllBytes;
      packet->payload.assign(kCxlLineBytes, HostileEars::kWritten);
      packet->payload_bytes = kCxlLineBytes;
    }
    agents().send(std::move(packet));
  }
  // Mostly one that is out.
  std::uint16_t next_of(std::deque<std::uint16_t>& uqids) {
    if (uqids.empty() || any(8) == 0) {
      return any(64);
    }
    const std::uint16_t uqid = uqids.front();
    uqids.pop_front();
    return uqid;
  }

  std::mt19937_64 random_;
  HostileEars ears_;
  MachineBench bench_;
  std::vector<std::unique_ptr<OneLineEngine>> engines_;
  std::vector<std::uint8_t> before_;
  std::optional<LinePermissions> permissions_;
  std::uint64_t own_bytes_ = kHostileWindowBytes;  // of the window
  std::map<std::pair<std::size_t, std::uint64_t>, Line> caches_;
};

inline void attack_lines(std::uint64_t messages, std::uint64_t seed,
                         LineGuard guard = LineGuard::kWindow,
                         const std::vector<std::string>& sets = {}) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  const bool has_permissions = guard == LineGuard::kPermissions;
  const std::vector<std::string> refusals = {
      "invalid_handle", has_permissions ? "translation_fault" : "outside_dma_window"};
  HostileLines lines(seed, guard, sets);
  lines.fill_other_caches();
  lines.send(messages / 2);
  if (has_permissions) {
    lines.take_half_back();
  }
  lines.send(messages - messages / 2);
  lines.expect_no_harm();
  lines.expect_granted_entries();
  lines.expect_an_attack(messages, refusals);
  EXPECT_LT(lines.bench().machine.pool.allocated(), 100'000U);
}

}  // namespace flitwise::test
