// SPDX-License-Identifier: Apache-2.0
// A SystemC memory of your own behind the root complex: banks that are busy for a while after each
// access. Prints how long DMA writes take when all go to one bank, or to all of them in turn.
//
//   own_memory one|all
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "flitwise/error.h"
#include "flitwise/kernel.h"
#include "flitwise/load.h"
#include "flitwise/system.h"

namespace {

constexpr std::uint64_t kBase = 0x1'0000'0000;  // workload.buffer_base
constexpr std::size_t kSize = 1 << 20;
constexpr std::uint64_t kLine = 64;

/// A target of the TLM-2.0 base protocol, as any other memory model is one.
class BankedMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<BankedMemory> socket{"socket"};

  BankedMemory(const sc_core::sc_module_name& name, std::size_t banks)
      : sc_module(name), bytes_(kSize), free_at_(banks) {
    socket.register_nb_transport_fw(this, &BankedMemory::forward);
    socket.register_transport_dbg(this, &BankedMemory::debug);
  }

 private:
  // Done at once as far as the protocol goes; the delay says when.
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& access, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& delay) {
    const sc_core::sc_time arrival = sc_core::sc_time_stamp() + delay;
    sc_core::sc_time& free_at = free_at_[access.get_address() / kLine % free_at_.size()];
    free_at = std::max(free_at, arrival) + sc_core::sc_time(30, sc_core::SC_NS);
    delay = free_at - sc_core::sc_time_stamp();
    access.set_response_status(copy(access) ? tlm::TLM_OK_RESPONSE
                                            : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  unsigned debug(tlm::tlm_generic_payload& access) {
    return copy(access) ? access.get_data_length() : 0;
  }
  bool copy(tlm::tlm_generic_payload& access) {
    const std::uint64_t offset = access.get_address() - kBase;
    if (offset > kSize || access.get_data_length() > kSize - offset) {
      return false;
    }
    if (access.is_write() && access.get_byte_enable_ptr() == nullptr) {
      std::memcpy(&bytes_[offset], access.get_data_ptr(), access.get_data_length());
    } else if (access.is_write()) {
      for (unsigned i = 0; i < access.get_data_length(); ++i) {
        if (access.get_byte_enable_ptr()[i % access.get_byte_enable_length()] != 0) {
          bytes_[offset + i] = access.get_data_ptr()[i];
        }
      }
    } else {
      std::memcpy(access.get_data_ptr(), &bytes_[offset], access.get_data_length());
    }
    return true;
  }

  std::vector<std::uint8_t> bytes_;
  std::vector<sc_core::sc_time> free_at_;  // by bank
};

int simulate(std::size_t banks) {
  const flitwise::Config config = flitwise::config_from_text(R"(
workload: {kind: posted_write, payload: 64B, requests: 2000, domains: 1, buffer_base: 4GiB, buffer_size: 1MiB}
)",
                                                             "own_memory", "");
  BankedMemory memory("banks", banks);
  flitwise::Attachments attached;
  attached.memory = &memory.socket;
  flitwise::System system(config, attached);
  const flitwise::RunResult result = system.run();
  for (const flitwise::LatencyResult& row : result.rows<flitwise::LatencyResult>()) {
    if (row.name == "dma_write") {
      std::printf("%zu banks: %llu writes, %.0f ns on average\n", banks,
                  static_cast<unsigned long long>(row.count), row.mean);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || (std::string(argv[1]) != "one" && std::string(argv[1]) != "all")) {
    std::fprintf(stderr, "usage: own_memory one|all\n");
    return 64;
  }
  try {
    return flitwise::run_in_kernel(
        [&] { return simulate(std::string(argv[1]) == "one" ? 1 : 16); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
