// SPDX-License-Identifier: Apache-2.0
/// Stand-ins for the neighbours of a part of the translation agent: they note what they are told,
/// and answer what the test has set.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "flitwise/link_socket.h"
#include "iommu/agent_seams.h"
#include "iommu/entries.h"
#include "iommu/registers.h"

namespace flitwise::test {

/// Accesses stay open until the test ends them.
struct FakeAgentMemory final : AgentMemory {
  struct Access {
    std::uint16_t tag;
    std::uint64_t address;
    unsigned bytes;
  };
  void read(std::uint16_t tag, std::uint64_t address, unsigned bytes) override {
    reads.push_back({tag, address, bytes});
  }
  void write(std::uint16_t tag, std::uint64_t address, const std::uint8_t* bytes, unsigned count,
             Time /*delay*/) override {
    writes.push_back({tag, address, count});
    written.assign(bytes, bytes + count);
  }
  bool set(std::uint64_t address, std::uint64_t value) override {
    words[address] = value;
    return true;
  }
  std::array<std::uint8_t, 64> bytes_at(std::uint64_t address) const {
    std::array<std::uint8_t, 64> bytes{};
    for (unsigned i = 0; i < bytes.size(); i += 8) {
      const auto word = words.find(address + i);
      store_u64(bytes.data() + i, word == words.end() ? 0 : word->second);
    }
    return bytes;
  }

  std::map<std::uint64_t, std::uint64_t> words;
  std::vector<Access> reads, writes;
  std::vector<std::uint8_t> written;  ///< by the last write
};

struct FakeAgentEvents final : AgentEvents {
  void report(const FaultRecord& record, std::uint32_t token) override {
    faults.emplace_back(record.code, token);
  }
  void interrupt(const std::optional<IommuInterrupt>& interrupt) override {
    interrupts += interrupt ? 1 : 0;
  }
  void status_is_coming() override { ++statuses; }
  PacketRef new_message() override { return pool.make(PacketKind::kTlp); }
  void send(PacketRef message, Time /*delay*/) override { sent.push_back(std::move(message)); }
  void wake_at(Time when) override { wakes.push_back(when); }
  void settle() override { ++settled; }

  PacketPool pool;
  std::vector<std::pair<unsigned, std::uint32_t>> faults;
  unsigned interrupts = 0, statuses = 0, settled = 0;
  std::vector<PacketRef> sent;
  std::vector<Time> wakes;
};

/// Says at once that all is allowed, unless the test wants to say so later.
struct FakeAgentTranslations final : AgentTranslations {
  struct Asked {
    TranslationClient* client;
    std::uint64_t ticket;
    WalkRequest request;
  };
  void translate(TranslationClient& client, std::uint64_t ticket, const WalkRequest& request,
                 std::uint32_t /*token*/, Time /*delay*/, Time now) override {
    asked.push_back({&client, ticket, request});
    if (answers_at_once) {
      client.translated(ticket, result, now);
    }
  }
  void invalidate(const InvalidationDescriptor& command) override {
    invalidated.push_back(command.index());
  }
  void invalidate_all() override { ++all_invalidated; }
  void forget_page(Bdf /*function*/, Pasid /*pasid*/, std::uint64_t page) override {
    forgotten.push_back(page);
  }
  bool is_drained() const override { return drained; }

  bool answers_at_once = true, drained = true;
  WalkResult result;
  std::vector<Asked> asked;
  std::vector<std::size_t> invalidated;  ///< alternatives of InvalidationDescriptor
  unsigned all_invalidated = 0;
  std::vector<std::uint64_t> forgotten;
};

struct FakeWalkClient final : TranslationClient {
  void translated(std::uint64_t ticket, const WalkResult& result, Time when) override {
    outcomes[ticket] = {result, when};
  }
  void invalidated(const PhysicalPages& pages) override {
    ++times_invalidated;
    last_pages = pages;
  }
  bool is_drained() const override { return drained; }

  std::map<std::uint64_t, std::pair<WalkResult, Time>> outcomes;
  unsigned times_invalidated = 0;
  PhysicalPages last_pages;
  bool drained = true;
};

struct FakeHandleTables final : HandleTables {
  std::optional<Device> device_of(Bdf /*function*/) const override { return device; }
  HandleStatus answered(Bdf /*function*/, const DeallocMessage& message,
                        HandleStatus answer) override {
    freed.push_back(message);
    return answer;
  }
  void name_in_full(Bdf /*function*/, std::uint8_t itag) override { in_full.push_back(itag); }
  std::optional<Device> device;
  std::vector<std::uint8_t> in_full;
  std::vector<DeallocMessage> freed;
};

/// Registers with the invalidation queue on and its tail far ahead.
struct RunningRegisters : IommuRegisters {
  static constexpr std::uint64_t kQueue = 0x9000;
  explicit RunningRegisters(const IommuCapabilities& offers) : IommuRegisters(offers) {
    write(iommu_register::kIqa, 8, kQueue | 1 << 11);
    set_global_status(global_bit::kQueue, true);
    for (const std::uint32_t control :
         {iommu_register::kIectl, iommu_register::kFectl, iommu_register::kPectl}) {
      write(control, 4, 0);
    }
  }
};

}  // namespace flitwise::test
