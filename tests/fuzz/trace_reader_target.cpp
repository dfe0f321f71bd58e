// SPDX-License-Identifier: Apache-2.0
// A text as a DMA trace: refused as a whole before anything is replayed, or read to its end.
#include "workload/trace_reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kDomains = 16;

/// A file that lives in memory alone.
class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("trace", 0)) { FLITWISE_PROPERTY(descriptor_ >= 0); }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void write(const std::uint8_t* data, std::size_t size) {
    FLITWISE_PROPERTY(ftruncate(descriptor_, 0) == 0);
    FLITWISE_PROPERTY(pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size));
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void check(const std::string& path) {
  std::uint64_t records = 0;
  try {
    TraceReader reader(path, kDomains);
    WorkItem record;
    for (Time before{}; reader.next(record); before = record.at) {
      ++records;
      FLITWISE_PROPERTY(record.at >= before);
      FLITWISE_PROPERTY(to_int(record.domain) < kDomains);
      FLITWISE_PROPERTY(record.bytes >= 1);
      FLITWISE_PROPERTY(record.address + (record.bytes - 1) >= record.address);
    }
    FLITWISE_PROPERTY(records >= 1 && records == reader.records());
  } catch (const ConfigError& error) {
    FLITWISE_PROPERTY(records == 0);  // A bad trace is refused before its first record.
    for (const Problem& problem : error.problems()) {
      const bool is_placed = problem.line >= 1 && problem.column >= 1;
      FLITWISE_PROPERTY(is_placed || problem.message.rfind("and ", 0) == 0);  // "and 9 more"
    }
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static flitwise::MemoryFile file;
  file.write(data, size);
  flitwise::check(file.path());
  return 0;
}
