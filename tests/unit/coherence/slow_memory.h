// SPDX-License-Identifier: Apache-2.0
/// Memory that answers in any order; it minds two requests for one line at a time.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "coherence/cxl_line.h"

namespace flitwise::test {

class SlowMemory final : public LineMemory {
 public:
  struct Request {
    std::uint32_t token;
    std::uint64_t line;
    bool is_read;
    CxlLine data;
    std::uint64_t byte_enables;
  };

  void read(std::uint32_t token, std::uint64_t line) override {
    add({token, line, true, CxlLine{}, 0});
  }
  void write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
             std::uint64_t byte_enables) override {
    add({token, line, false, data, byte_enables});
  }

  bool empty() const { return requests.empty(); }
  /// Does one of the requests and takes it from the list; a read brings its data.
  Request complete(std::size_t index) {
    Request request = requests[index];
    requests.erase(requests.begin() + static_cast<std::ptrdiff_t>(index));
    CxlLine& line = lines[request.line];
    if (request.is_read) {
      request.data = line;
    } else if (loses_writes_every == 0 || ++writes % loses_writes_every != 0) {
      merge(line, request.data, request.byte_enables);
    }
    return request;
  }

  std::vector<Request> requests;
  std::map<std::uint64_t, CxlLine> lines;
  std::uint64_t overlaps = 0;  ///< requests for a line that had one at work
  std::uint64_t loses_writes_every = 0, writes = 0;

 private:
  void add(const Request& request) {
    for (const Request& other : requests) {
      overlaps += other.line == request.line ? 1U : 0U;
    }
    requests.push_back(request);
  }
};

}  // namespace flitwise::test
