// SPDX-License-Identifier: Apache-2.0
/// The host memory that an RDMA adapter of a machine and its software share, looked at from
/// outside.
#pragma once

#include <gtest/gtest.h>
#include <boost/endian/conversion.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "rdma/hca_config.h"
#include "rdma/ring_entries.h"
#include "system/machine.h"

namespace flitwise::test {

class RdmaMemory {
 public:
  RdmaMemory(Machine& machine, const std::string& name)
      : device_(*machine.fabric().find(name)),
        memory_(machine.fabric().surroundings.hosts[device_.host]->memory) {}

  RdmaArea area(std::uint32_t pair) const {
    const WorkloadConfig& workload = device_.config.workload;
    const RdmaConfig& rdma = device_.config.device.rdma;
    return {{workload.buffer_size, rdma.queue, rdma.cq, rdma.cqe, workload.payload},
            workload.buffer_base,
            pair};
  }
  std::vector<std::uint8_t> at(std::uint64_t address, std::size_t bytes) const {
    std::vector<std::uint8_t> read(bytes);
    EXPECT_TRUE(memory_.peek(address, read.data(), bytes));
    return read;
  }
  std::uint64_t word(std::uint64_t address) const {
    return boost::endian::load_little_u64(at(address, 8).data());
  }
  WorkCompletion completion(bool is_receive, std::uint32_t index) const {
    return decode_completion(at(area(0).completion(is_receive, index), kCompletionBytes).data());
  }
  SendWork work(std::uint32_t pair, std::uint32_t index) const {
    return decode_send(at(area(pair).send_entry(index), kWqeBytes).data()).value();
  }

 private:
  const FabricDevice& device_;
  MemoryPort& memory_;
};

}  // namespace flitwise::test
