// SPDX-License-Identifier: Apache-2.0
// Parses the fields of a trace line and checks the file before it is replayed.
#include "workload/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "common/quantity.h"
#include "common/ranges.h"
#include "flitwise/error.h"
#include "tlp/message_use.h"

namespace flitwise {
namespace {

constexpr const char* kHeader = "time_ns,domain,op,address,bytes";

bool parse_domain(CsvReader& csv, std::uint32_t domains, WorkItem& item) {
  const auto domain = parse_unsigned(csv.field());
  if (!domain || *domain >= domains) {
    return csv.refuse(fmt::format("0 to {} (workload.domains is {})", domains - 1, domains));
  }
  item.domain = DomainId{static_cast<std::uint32_t>(*domain)};
  return true;
}

bool parse_op(CsvReader& csv, WorkItem& item) {
  item.op = csv.field() == "read" ? Op::kRead : Op::kWrite;
  return item.op == Op::kRead || csv.field() == "write" || csv.refuse("read or write");
}

bool parse_address(CsvReader& csv, const TraceReach& reach, WorkItem& item) {
  const auto address = parse_unsigned(csv.field());
  item.address = address.value_or(0);
  if (!address) {
    return csv.refuse("a byte address, decimal or 0x hexadecimal");
  }
  if (!reach.contains(item.address)) {
    return csv.refuse("an address in " + reach.words);
  }
  constexpr std::uint64_t kAsInterrupt = 4;  // how long it is shows behind it
  const TraceReach::Kept* const keeper =
      reach.keeper_of(item.op, item.address, item.address % 4 == 0 ? kAsInterrupt : 1);
  const bool is_inside = keeper != nullptr && item.address >= keeper->first;
  return !is_inside || csv.refuse("an address outside of " + keeper->words);
}

// Where the bytes lie is told only where their address is one.
bool parse_bytes(CsvReader& csv, const TraceReach& reach, bool has_address, WorkItem& item) {
  const auto bytes = parse_unsigned(csv.field());
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (!bytes || *bytes == 0 || *bytes > kMost) {
    return csv.refuse(fmt::format("1 to {} bytes", kMost));
  }
  if (!has_address) {
    return true;
  }
  if (*bytes - 1 > std::numeric_limits<std::uint64_t>::max() - item.address) {
    return csv.refuse("an end within the 64-bit address space");
  }
  item.bytes = static_cast<std::uint32_t>(*bytes);
  if (!reach.contains(item.address, *bytes)) {
    return csv.refuse("an end in " + reach.words);
  }
  const TraceReach::Kept* const keeper = reach.keeper_of(item.op, item.address, *bytes);
  return keeper == nullptr || csv.refuse("bytes outside of " + keeper->words);
}

template <class Span>
std::string span_text(const char* what, const Span& span, const std::string& key) {
  return fmt::format("{}, {:#x} to {:#x} ({})", what, span.first, span.last, key);
}

/// What the root port refuses of a device's DMA though it is memory. [LNK-9.22] [DHI D19]
std::vector<TraceReach::Kept> kept_from(const Config& device, const HostConfig& host) {
  std::vector<TraceReach::Kept> all;
  const Identity identity = device.link.identity;
  const bool has_pasid = identity == Identity::kBdfPasid && device.device.functions.has_pasid;
  TraceReach::Kept window{kInterruptWindow, kInterruptWindow + kInterruptWindowBytes - 1};
  window.takes_interrupts =
      identity != Identity::kDhi && !has_pasid && device.workload.at == At::kUntranslated;
  window.words = span_text("the interrupt window", window,
                           "interrupts are aligned writes of 4 bytes without PASID and handle");
  all.push_back(window);
  if (host.trusted_window.size != 0 && !(identity == Identity::kDhi && device.device.dhi.trusted)) {
    TraceReach::Kept trusted{host.trusted_window.base,
                             host.trusted_window.base + host.trusted_window.size - 1};
    trusted.words = span_text("the window for trusted requests", trusted, "host.trusted_window");
    all.push_back(trusted);
  }
  return all;
}

}  // namespace

bool TraceReach::contains(std::uint64_t address, std::uint64_t bytes) const {
  const auto lies_in = [&](std::uint64_t from, std::uint64_t to) {
    return address >= from && address <= to && bytes - 1 <= to - address;
  };
  return lies_in(first, last) || (has_peers && lies_in(kFirstBar, kFirstBar + kBarSpace - 1));
}

const TraceReach::Kept* TraceReach::keeper_of(Op op, std::uint64_t address,
                                              std::uint64_t bytes) const {
  const bool is_interrupt = op == Op::kWrite && bytes == 4 && address % 4 == 0;
  return find_where(kept, [&](const Kept& one) {
    return one.is_touched_by(address, bytes) && !(is_interrupt && one.takes_interrupts);
  });
}

// Traces are not translated; whose the bytes are is up to the host.
TraceReach TraceReach::of(const Config& device, const HostConfig& host, bool has_peers) {
  const WorkloadVia via = device.workload.via;
  TraceReach reach;
  if (via != WorkloadVia::kDma && via != WorkloadVia::kCxlCache) {
    reach.last = device.device.cxl.memory - 1;
    reach.words = span_text("the memory of the device", reach,
                            "device.cxl.memory is " + config::size_text(device.device.cxl.memory));
    return reach;
  }
  reach.last = host.memory.size - 1;
  reach.words =
      span_text("host memory", reach, "host.memory.size is " + config::size_text(host.memory.size));
  if (via == WorkloadVia::kDma && host.dma_window.size != 0) {
    reach.first = host.dma_window.base;
    reach.last = std::min(reach.last, host.dma_window.base + host.dma_window.size - 1);
    reach.words = span_text("the window for DMA", reach, "host.dma_window");
  }
  if (via == WorkloadVia::kDma) {
    reach.kept = kept_from(device, host);
  }
  reach.has_peers = has_peers && via == WorkloadVia::kDma;
  if (reach.has_peers) {
    reach.words += fmt::format(", or in a BAR below the same switch, from {:#x} on", kFirstBar);
  }
  return reach;
}

namespace {

std::string path_of_trace(const std::string& path) {
  if (path.empty()) {
    throw ConfigError({{"config", 0, 0, "workload.trace", "is empty; expected a CSV file"}});
  }
  return path;
}

bool parse_request(CsvReader& csv, std::uint32_t domains, const TraceReach& reach, WorkItem& item,
                   Time& at) {
  TraceFields fields(csv);
  bool has_address = false;
  const bool is_whole =
      fields.time(at) &&
      fields.take("domain", "before domain", [&] { return parse_domain(csv, domains, item); }) &&
      fields.take("op", "before op", [&] { return parse_op(csv, item); }) &&
      fields.take("address", "before address",
                  [&] { return has_address = parse_address(csv, reach, item); }) &&
      fields.take("bytes", "before bytes",
                  [&] { return parse_bytes(csv, reach, has_address, item); });
  item.at = at;
  return is_whole && fields.end("sixth");
}

}  // namespace

TraceReader::TraceReader(const std::string& path, std::uint32_t domains, TraceReach reach)
    : lines_(path_of_trace(path), kHeader,
             [domains, reach = std::move(reach)](CsvReader& csv, WorkItem& item, Time& at) {
               return parse_request(csv, domains, reach, item, at);
             }),
      records_(lines_.left()) {}

}  // namespace flitwise
