// SPDX-License-Identifier: Apache-2.0
// A device of your own at the end of the link, TLP by TLP: it walks a linked list in host memory,
// one Memory Read at a time, and writes the number of nodes behind it. Configuration space, BARs
// and completions for the host's requests stay with the functions of ep0. Prints what a step took.
#include <cstdio>
#include <cstring>
#include <vector>

#include "flitwise/error.h"
#include "flitwise/kernel.h"
#include "flitwise/load.h"
#include "flitwise/system.h"

namespace {

constexpr std::uint64_t kList = 0x1'0000'0000, kAnswer = 0x1'0010'0000;
constexpr std::uint64_t kNodes = 100;

class ListWalker : public flitwise::LinkDevice {
 public:
  explicit ListWalker(const sc_core::sc_module_name& name) : LinkDevice(name) {}

  bool is_done() const override { return is_done_; }
  std::string waits_for() const override { return is_done_ ? "" : "the next node of the list"; }
  double ns_a_step() const { return (end_ - begin_).ns() / static_cast<double>(nodes_); }

 private:
  void begin() override {
    begin_ = flitwise::now();
    read(kList);
  }

  // Completions are for this device, since the functions ask for nothing.
  bool take(const flitwise::Packet& packet) override {
    if (packet.tlp.type != flitwise::TlpType::kCplD) {
      return false;
    }
    std::uint64_t next = 0;
    std::memcpy(&next, packet.payload.data(), sizeof next);
    ++nodes_;
    if (next != 0) {
      read(next);
    } else {
      end_ = flitwise::now();
      write(kAnswer, nodes_);
      is_done_ = true;
    }
    return true;
  }

  flitwise::PacketRef request(flitwise::TlpType type, std::uint64_t address) {
    flitwise::PacketRef packet = site().pool->make(flitwise::PacketKind::kTlp);
    packet->tlp.type = type;
    packet->tlp.is_4dw = true;  // above 4 GiB
    packet->tlp.address = address;
    packet->tlp.requester_id = site().function;
    packet->tlp.length_dw = 2;
    packet->tlp.first_be = packet->tlp.last_be = 0xf;
    return packet;
  }
  void read(std::uint64_t address) { send(request(flitwise::TlpType::kMRd, address)); }
  void write(std::uint64_t address, std::uint64_t value) {
    flitwise::PacketRef packet = request(flitwise::TlpType::kMWr, address);
    packet->payload.resize(sizeof value);
    std::memcpy(packet->payload.data(), &value, sizeof value);
    packet->payload_bytes = sizeof value;
    send(packet);
  }

  std::uint64_t nodes_ = 0;
  flitwise::Time begin_{}, end_{};
  bool is_done_ = false;
};

std::vector<std::uint8_t> bytes_of(std::uint64_t value) {
  std::vector<std::uint8_t> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

int simulate() {
  const flitwise::Config config =
      flitwise::config_from_text("link: {preset: gen4x16}\n", "own_device", "");
  ListWalker walker("walker");
  flitwise::Attachments attached;
  attached.devices["ep0"] = &walker;
  flitwise::System system(config, attached);
  for (std::uint64_t node = 0; node < kNodes; ++node) {
    const std::uint64_t next = node + 1 == kNodes ? 0 : kList + (node + 1) * 4096;
    system.poke(kList + node * 4096, bytes_of(next));
  }
  system.run();
  const bool is_right = system.peek(kAnswer, 8) == bytes_of(kNodes);
  std::printf("%llu nodes, %.0f ns a step, %s\n", static_cast<unsigned long long>(kNodes),
              walker.ns_a_step(), is_right ? "and memory has the number" : "and memory has not");
  return is_right ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return flitwise::run_in_kernel(simulate);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
