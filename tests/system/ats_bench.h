// SPDX-License-Identifier: Apache-2.0
/// A machine with tables whose pages lie elsewhere, a device with an ATC, an engine that does what
/// a test orders, and what passed on the wire.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ats/ats_messages.h"
#include "config/load.h"
#include "config_space/ats_capability.h"
#include "config_space/registers.h"
#include "iommu/table_builder.h"
#include "system/machine_bench.h"

namespace flitwise::test {

inline constexpr AddressType kPlain = AddressType::kUntranslated,
                             kAsk = AddressType::kTranslationRequest,
                             kTranslated = AddressType::kTranslated;

/// Gives out what it is told to, in order, and keeps what comes back.
class OrderedEngine : public Engine {
 public:
  struct Outcome {
    TransferEnd end;
    std::vector<std::uint8_t> data;
    unsigned place = 0;  ///< how many had ended before
  };

  bool next(Time now, Transfer& transfer) override {
    if (orders_.empty()) {
      return false;
    }
    transfer = orders_.front().transfer;
    transfer.issue = now;
    transfer.data = orders_.front().data.empty() ? nullptr : bytes_[transfer.token].data();
    orders_.pop_front();
    return true;
  }
  Time next_at() const override { return Time::never(); }
  void finished(const TransferEnd& end) override {
    outcomes[end.token].end = end;
    outcomes[end.token].place = ended_++;
  }
  void data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
            std::size_t size) override {
    std::vector<std::uint8_t>& all = outcomes[token].data;
    all.resize(std::max(all.size(), offset + size));
    std::copy(bytes, bytes + size, all.begin() + static_cast<std::ptrdiff_t>(offset));
  }
  bool is_done() const override { return orders_.empty() && ended_ == given_; }
  std::string waits_for() const override { return is_done() ? "" : "orders are under way"; }

  std::uint32_t order(Transfer transfer, std::vector<std::uint8_t> bytes = {}) {
    transfer.token = given_++;
    bytes_[transfer.token] = bytes;
    orders_.push_back({transfer, std::move(bytes)});
    return transfer.token;
  }
  std::map<std::uint32_t, Outcome> outcomes;

 private:
  struct Order {
    Transfer transfer;
    std::vector<std::uint8_t> data;
  };
  std::deque<Order> orders_;
  std::map<std::uint32_t, std::vector<std::uint8_t>> bytes_;
  std::uint32_t given_ = 0;
  unsigned ended_ = 0;
};

/// What went over the first link, from when it was cleared on.
class WireLog : public TraceSink {
 public:
  void record(const TraceEvent& event) override {
    if (event.packet->kind == PacketKind::kTlp && !event.is_replay) {
      (event.is_up ? up : down).push_back(event.packet->tlp);
      all.push_back({event.is_up, event.packet->tlp});
    }
  }
  void clear() {
    up.clear();
    down.clear();
    all.clear();
  }
  unsigned count(TlpType type, AddressType at) const {
    return static_cast<unsigned>(std::count_if(
        up.begin(), up.end(), [&](const Tlp& tlp) { return tlp.type == type && tlp.at == at; }));
  }
  std::vector<Tlp> messages(std::uint8_t code) const {
    std::vector<Tlp> found;
    std::copy_if(up.begin(), up.end(), std::back_inserter(found),
                 [&](const Tlp& tlp) { return is_message(tlp.type) && tlp.message_code == code; });
    return found;
  }
  std::vector<Tlp> up, down;
  std::vector<std::pair<bool, Tlp>> all;  // is_up
};

class AtsBench {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kBuffer = 0x4000'0000;  ///< first untranslated page

  explicit AtsBench(const std::vector<std::string>& sets = {}, bool enables = true)
      : bench(config_with(sets)), tables_([this](std::uint64_t address, std::uint64_t value) {
          return poke(address, value);
        }) {
    bench.machine.fabric().links[0].link->watch(&wire);
    bench.machine.observe([this](const Observation& seen) {
      if (seen.place == std::string("rp0") && seen.what == std::string("message")) {
        taken.push_back(seen.packet->tlp);
      }
    });
    EXPECT_TRUE(bench.bring_up());
    bench.machine.serve();
    endpoint().attach(engine);
    if (enables) {
      enable(0);
    }
    wire.clear();
  }

  // ---- tables: physical page n is at physical(n), untranslated page n at address(n)
  static std::uint64_t address(unsigned page) { return kBuffer + page * kPage; }
  static std::uint64_t physical(unsigned page) { return 0x2'0000'0000 + page * kPage; }
  /// Untranslated page -> physical page, for domain `domain`.
  MappedEntries map(unsigned page, unsigned to, MappingRights rights = {}, unsigned domain = 0,
                    TranslationType type = TranslationType::kFirstStage) {
    const DeviceIdentity& who = endpoint().identity_of(DomainId{domain});
    Mapping mapping;
    mapping.function = who.bdf;
    mapping.pasid = who.pasid.value_or(Pasid{});
    mapping.type = type;
    mapping.address = address(page);
    mapping.to = physical(to);
    mapping.bytes = kPage;
    mapping.rights = rights;
    mapping.domain = static_cast<std::uint16_t>(domain + 1);
    MappedEntries entries = tables_.map(mapping);
    root_table_ = entries.root_table;
    return entries;
  }
  /// The agent takes the tables over and translates.
  void translate() {
    TranslationAgent& agent = bench.machine.agent();
    agent.write_register(iommu_register::kRtaddr, 8, root_table_ | std::uint64_t{1} << 10);
    agent.write_register(iommu_register::kGcmd, 4, global_bit::kRootTable);
    agent.write_register(iommu_register::kGcmd, 4, global_bit::kTranslation);
  }
  /// The agent's own caches know nothing any more.
  void forget_in_agent() { bench.machine.agent().write_register(0xf8, 8, 0x9000'0000'0000'0000); }
  bool poke(std::uint64_t address, std::uint64_t value) {
    std::array<std::uint8_t, 8> bytes{};
    for (unsigned i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(value >> 8 * i);
    }
    return bench.machine.memory().poke(address, bytes.data(), bytes.size());
  }
  std::vector<std::uint8_t> peek(unsigned physical_page, std::size_t size = 4) {
    std::vector<std::uint8_t> bytes(size);
    bench.machine.memory().peek(physical(physical_page), bytes.data(), size);
    return bytes;
  }
  void fill(unsigned physical_page, std::uint8_t value) {
    const std::vector<std::uint8_t> bytes(kPage, value);
    bench.machine.memory().poke(physical(physical_page), bytes.data(), bytes.size());
  }

  // ---- software
  std::uint16_t start_of(unsigned function, std::uint16_t id) {
    return endpoint().target().space(function).find_extended(id).value_or(0);
  }
  Bdf bdf(unsigned function) {
    return Bdf{static_cast<std::uint16_t>(endpoint().base().value + function)};
  }
  void configure(const std::vector<CfgAccess>& accesses) {
    for (const CfgAccess& access : accesses) {
      EXPECT_TRUE(bench.config(access).is_ok());
    }
  }
  void enable(unsigned function, bool on = true, unsigned stu = 0) {
    configure(ats_accesses(bdf(function), start_of(function, cfg::kExtAts), stu, on));
  }
  void enable_pages(bool on = true, std::uint32_t allocation = 32) {
    configure(pri_accesses(bdf(0), start_of(0, cfg::kExtPri), allocation, on));
  }

  // ---- traffic
  std::uint32_t read(unsigned page, std::uint32_t bytes = 64, unsigned domain = 0) {
    Transfer transfer;
    transfer.op = Op::kRead;
    return order(transfer, page, bytes, domain, {});
  }
  std::uint32_t write(unsigned page, std::uint8_t value, unsigned domain = 0,
                      std::uint32_t bytes = 64) {
    return order(Transfer{}, page, bytes, domain, std::vector<std::uint8_t>(bytes, value));
  }
  bool finish() {
    return bench.run_until([this] { return engine.is_done() && bench.machine.is_quiet(); });
  }
  void run(Time span) { sc_core::sc_start(to_sc_time(span)); }
  TransferStatus status(std::uint32_t token) { return engine.outcomes.at(token).end.status; }
  const std::vector<std::uint8_t>& data(std::uint32_t token) {
    return engine.outcomes.at(token).data;
  }
  unsigned place(std::uint32_t token) { return engine.outcomes.at(token).place; }

  // ---- the agent's messages
  InvalidateRequest invalidation(unsigned page, std::uint8_t itag = 0) {
    InvalidateRequest request;
    request.agent = Bdf::of(0, 0, 0);
    request.function = bdf(0);
    request.itag = itag;
    request.range = PageRange::around(address(page), 12);
    request.pasid = endpoint().identity_of(DomainId{0}).pasid;
    return request;
  }
  void send(const InvalidateRequest& request) {
    std::array<std::uint8_t, kInvalidateBodyBytes> body{};
    PacketRef packet = bench.machine.pool.make(PacketKind::kTlp);
    packet->tlp = invalidate_request_tlp(request, body.data());
    packet->payload.assign(body.begin(), body.end());
    packet->payload_bytes = kInvalidateBodyBytes;
    bench.machine.fabric().root_ports[0]->send(std::move(packet), Time{});
  }
  void respond(const Tlp& page_request, PrgCode code) {
    const PrgResponse response =
        prg_response_to(page_request_of(page_request), Bdf::of(0, 0, 0), code, true);
    PacketRef packet = bench.machine.pool.make(PacketKind::kTlp);
    packet->tlp = prg_response_tlp(response);
    bench.machine.fabric().root_ports[0]->send(std::move(packet), Time{});
  }

  // ---- what there is to see
  Endpoint& endpoint() { return *bench.machine.endpoint("ep0"); }
  AtsResult result(unsigned function = 0) {
    RunResult run;
    endpoint().report(run);
    const std::vector<AtsResult>& all = run.rows<AtsResult>();
    const std::string name = "ep0." + std::to_string(function);
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const AtsResult& one) { return one.function == name; });
    return found == all.end() ? AtsResult{} : *found;
  }
  unsigned reads(AddressType at) const { return wire.count(TlpType::kMRd, at); }
  unsigned writes(AddressType at) const { return wire.count(TlpType::kMWr, at); }
  std::uint64_t errors(const std::string& kind) {
    const auto& all = endpoint().errors();
    const auto found = all.find(kind);
    return found == all.end() ? 0 : found->second;
  }
  void expect_all_checks_hold() {
    for (const CheckResult& check : bench.machine.result().checks) {
      EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
    }
  }

  WireLog wire;
  std::vector<Tlp> taken;  ///< messages that the root port has taken, behind the writes before them
  OrderedEngine engine;
  MachineBench bench;

 private:
  static Config config_with(const std::vector<std::string>& sets) {
    LoadOptions options;
    options.sets = sets;
    return config_from_text("device: {atc: {enabled: true}}\nworkload: {domains: 4}\n", "ats.yaml",
                            "", options);
  }
  std::uint32_t order(Transfer transfer, unsigned page, std::uint32_t bytes, unsigned domain,
                      std::vector<std::uint8_t> data) {
    transfer.domain = DomainId{domain};
    transfer.address = address(page);
    transfer.bytes = bytes;
    const std::uint32_t token = engine.order(transfer, std::move(data));
    endpoint().wake();
    return token;
  }

  TableBuilder tables_;
  std::uint64_t root_table_ = 0;
};

}  // namespace flitwise::test
