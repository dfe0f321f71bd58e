// SPDX-License-Identifier: Apache-2.0
/// The trace `packets`: one CSV line for everything that a wire carried (docs/formats/packets.md).
#pragma once

#include <cstdio>
#include <memory>
#include <string>

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

}  // namespace flitwise
