// SPDX-License-Identifier: Apache-2.0
/// The trace `packets`: one CSV line for everything that a wire carried (docs/formats/packets.md).
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "trace/trace_sink.h"

namespace flitwise {

/// Writes while the run goes on; complete once destroyed.
class PacketCsv : public TraceSink {
 public:
  /// Throws std::system_error when the file cannot be made.
  explicit PacketCsv(const std::string& path);
  void record(const TraceEvent& event) override;
  void flush() override;

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// The traces that `--trace KIND=FILE` can write.
struct TraceKind {
  const char* name;
  const char* sentence;
};

inline const std::vector<TraceKind>& trace_kinds() {
  static const std::vector<TraceKind> kKinds = {
      {"packets", "CSV, one line a packet: time, place, kind, sizes by cause, identity, hops."},
  };
  return kKinds;
}

}  // namespace flitwise
