// SPDX-License-Identifier: Apache-2.0
/// Stand-ins for what is around a part of a root port: they note what they are told, and answer
/// what the test has set.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "iommu/agent_seams.h"
#include "root_complex/port_seams.h"

namespace flitwise::test {

struct FakePortWire final : PortWire {
  bool give(Packet& packet, Time ready) override {
    if (is_full) {
      return false;
    }
    given.emplace_back(PacketRef(&packet), ready);
    return true;
  }
  void release(Packet& packet) override { released.push_back(&packet); }

  bool is_full = false;
  std::vector<std::pair<PacketRef, Time>> given;
  std::vector<const Packet*> released;
};

struct FakePortHost final : PortHost {
  void message(const Packet& packet) override { messages.push_back(packet.tlp.message_code); }
  bool complete(const PacketRef& packet, Time /*when*/) override {
    return std::find(tags.begin(), tags.end(), packet->tlp.tag) != tags.end();
  }
  void report(cfg::aer::Uncorrectable error, const Packet& /*packet*/) override {
    errors.push_back(error);
  }
  void report(cfg::aer::Correctable error) override { corrected.push_back(error); }

  std::vector<std::uint16_t> tags;  ///< that completions are waited for
  std::vector<std::uint8_t> messages;
  std::vector<cfg::aer::Uncorrectable> errors;
  std::vector<cfg::aer::Correctable> corrected;
};

/// Keeps requests until the test answers them.
struct FakeTranslationService final : TranslationService {
  struct Asked {
    std::uint64_t ticket;
    WalkRequest request;
  };
  bool is_enabled() const override { return enabled; }
  void attach(TranslationClient& one) override { client = &one; }
  void drained() override { ++times_drained; }
  void translate(TranslationClient& /*client*/, std::uint64_t ticket, const WalkRequest& request,
                 std::uint32_t /*token*/, Time /*delay*/) override {
    asked.push_back({ticket, request});
    if (at_once && !request.is_continued) {
      answer(asked.size() - 1, request.address + offset);
    }
  }
  void answer(std::size_t index, std::uint64_t address,
              WalkOutcome outcome = WalkOutcome::kTranslated) {
    WalkResult result;
    result.outcome = outcome;
    result.address = address;
    result.read = result.write = true;
    client->translated(asked.at(index).ticket, result, now);
  }

  bool enabled = true, at_once = false;
  std::uint64_t offset = 0;
  Time now{};
  TranslationClient* client = nullptr;
  unsigned times_drained = 0;
  std::vector<Asked> asked;
};

inline PacketRef port_request(PacketPool& pool, TlpType type, std::uint64_t address,
                              std::uint16_t tag = 0) {
  PacketRef packet = pool.make(PacketKind::kTlp);
  Tlp& tlp = packet->tlp;
  tlp.type = type;
  tlp.requester_id = Bdf::of(1, 0, 0);
  tlp.address = address;
  tlp.length_dw = 1;
  tlp.first_be = 0xf;
  tlp.tag = tag;
  if (has_data(type)) {
    packet->payload = {0x11, 0x22, 0x33, 0x44};
    packet->payload_bytes = 4;
  }
  return packet;
}

}  // namespace flitwise::test
