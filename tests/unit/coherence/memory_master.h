// SPDX-License-Identifier: Apache-2.0
/// The host's side of CXL.mem for memory that the host itself keeps coherent (HDM-H): a home's
/// reads and writes become MemRd, MemWr and MemWrPtl. [COH-5.1]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coherence/agent_books.h"
#include "coherence/cxl_line.h"

namespace flitwise {

class MemoryMaster final : public LineMemory {
 public:
  /// `out` takes what is sent. REQUIRES: no more than `tags` requests at a time.
  MemoryMaster(std::uint32_t tags, CxlOutput& out) : out_(out), tags_(tags), requests_(tags) {}

  std::size_t outstanding() const { return tags_.outstanding(); }
  const BadMessageCounts& bad_messages() const { return bad_; }

  void read(std::uint32_t token, std::uint64_t line) override;
  void write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
             std::uint64_t byte_enables) override;

  /// What an answer of the device ends.
  struct Done {
    std::uint32_t token;
    bool is_read;
  };
  /// A message of the device has come.
  std::optional<Done> receive(const CxlMessage& message);

 private:
  CxlMessage& send(CxlChannel channel, std::uint8_t opcode, std::uint32_t token,
                   std::uint64_t line);

  CxlOutput& out_;
  IdPool tags_;
  std::vector<Done> requests_;  // by Tag
  BadMessageCounts bad_;
};

}  // namespace flitwise
