// SPDX-License-Identifier: Apache-2.0
/// A type 3 device: memory that only the host keeps coherent (HDM-H). It does what it is asked and
/// knows of no states. [COH-5.1] [COH-5.2]
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "coherence/agent_books.h"
#include "coherence/cxl_line.h"

namespace flitwise {

/// Lines of a device's memory: 0 until written, and no real memory until then.
class LineStore {
 public:
  /// The line at `address`. REQUIRES: a multiple of 64.
  CxlLine read(std::uint64_t address) const {
    const auto found = pages_.find(address / kPageBytes);
    return found == pages_.end() ? CxlLine{} : (*found->second)[line_in_page(address)];
  }
  /// Writes the enabled bytes of a line. REQUIRES: a multiple of 64.
  void write(std::uint64_t address, const CxlLine& line, std::uint64_t byte_enables) {
    std::unique_ptr<Page>& page = pages_[address / kPageBytes];
    if (!page) {
      page = std::make_unique<Page>();
    }
    merge((*page)[line_in_page(address)], line, byte_enables);
  }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  using Page = std::array<CxlLine, kPageBytes / kCxlLineBytes>;
  static std::size_t line_in_page(std::uint64_t address) {
    return address % kPageBytes / kCxlLineBytes;
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

class MemoryExpander {
 public:
  /// Lines from 0 up to `size` bytes exist.
  explicit MemoryExpander(std::uint64_t size) : size_(size) {}

  const BadMessageCounts& bad_messages() const { return bad_; }
  /// A message of the host has come, with its line if it has one, and is answered; the time that
  /// takes is the caller's. Returns whether a line was written.
  bool receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out) {
    if (message.channel == CxlChannel::kM2sReq) {
      requested(message, out);
      return false;
    }
    const auto opcode = static_cast<cxl::M2sRwd>(message.opcode);
    const bool is_whole = opcode == cxl::M2sRwd::kMemWr;
    if (bad_.add_if(message.channel != CxlChannel::kM2sRwd, BadMessage::kWrongChannel) ||
        bad_.add_if(!is_whole && opcode != cxl::M2sRwd::kMemWrPtl, BadMessage::kUnknownOpcode) ||
        !is_sound(message)) {
      return false;
    }
    if (exists(message)) {
      lines_.write(message.address, line, is_whole ? kAllBytes : message.byte_enables);
    }
    answer_ndr(cxl::S2mNdr::kCmp, message, out);
    return exists(message);
  }

 private:
  void requested(const CxlMessage& request, CxlOutput& out) {
    switch (static_cast<cxl::M2sReq>(request.opcode)) {
      case cxl::M2sReq::kMemRd:
      case cxl::M2sReq::kMemRdData:
        if (is_sound(request)) {
          answer_drs(exists(request) ? cxl::S2mDrs::kMemData : cxl::S2mDrs::kMemDataNxm, request,
                     exists(request) ? lines_.read(request.address) : CxlLine{}, out);
        }
        return;
      case cxl::M2sReq::kMemInv:
      case cxl::M2sReq::kMemInvNt:
      case cxl::M2sReq::kMemClnEvct:  // there is no state to change
        if (is_sound(request)) {
          answer_ndr(cxl::S2mNdr::kCmp, request, out);
        }
        return;
      case cxl::M2sReq::kMemSpecRd:  // a hint without an answer [COH-5.2]
        return;
      case cxl::M2sReq::kMemRdFwd:
      case cxl::M2sReq::kMemWrFwd: break;
    }
    bad_.add(BadMessage::kUnknownOpcode);
  }
  bool exists(const CxlMessage& request) const { return request.address < size_; }
  // What does not exist is answered all the same: the host waits. [COH-7.3]
  bool is_sound(const CxlMessage& request) {
    const bool is_aligned = line_of(request.address) == request.address;
    bad_.add_if(!is_aligned || !exists(request), BadMessage::kBadAddress);
    return is_aligned;
  }

  std::uint64_t size_;
  LineStore lines_;
  BadMessageCounts bad_;
};

}  // namespace flitwise
