// SPDX-License-Identifier: Apache-2.0
// Parses the fields of a trace line and checks the file before it is replayed.
#include "workload/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

#include "common/quantity.h"
#include "common/ranges.h"
#include "flitwise/error.h"
#include "tlp/message_use.h"

namespace flitwise {
namespace {

constexpr Time kNotRead{-1};  // no line has a time below 0
constexpr const char* kHeader = "time_ns,domain,op,address,bytes";
constexpr std::int64_t kFsPerNs = 1'000'000;
constexpr std::uint64_t kMostNs = 9'000'000'000'000;  ///< 9,000 s; below the range of Time

/// Nanoseconds with up to six decimals, exact to the femtosecond.
std::optional<Time> parse_time(std::string_view field) {
  const std::size_t point = field.find('.');
  std::uint64_t whole = 0;
  const std::string_view front = field.substr(0, point);
  const auto read = std::from_chars(front.data(), front.data() + front.size(), whole);
  if (read.ec != std::errc{} || read.ptr != front.data() + front.size() || whole > kMostNs) {
    return std::nullopt;
  }
  std::int64_t fs = static_cast<std::int64_t>(whole) * kFsPerNs;
  if (point != std::string_view::npos) {
    const std::string_view decimals = field.substr(point + 1);
    if (decimals.empty() || decimals.size() > 6) {
      return std::nullopt;
    }
    std::int64_t weight = kFsPerNs;
    for (const char digit : decimals) {
      if (digit < '0' || digit > '9') {
        return std::nullopt;
      }
      weight /= 10;
      fs += (digit - '0') * weight;
    }
  }
  return Time{fs};
}

bool parse_at(CsvReader& csv, WorkItem& item) {
  const auto at = parse_time(csv.field());
  item.at = at.value_or(kNotRead);
  return at || csv.refuse(fmt::format("nanoseconds, 0 to {}, with up to 6 decimals", kMostNs));
}

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

TraceReader::TraceReader(const std::string& path, std::uint32_t domains, TraceReach reach)
    : path_(path), domains_(domains), reach_(std::move(reach)) {
  if (path.empty()) {
    throw ConfigError({{"config", 0, 0, "workload.trace", "is empty; expected a CSV file"}});
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw ConfigError({{path, 0, 0, "",
                        std::filesystem::exists(path, error)
                            ? "is no regular file; expected one, for it is read twice"
                            : "does not exist; expected a CSV file"}});
  }
  records_ = left_ = check();
  rewind();
}

void TraceReader::rewind() {
  file_ = std::ifstream(path_, std::ios::binary);
  if (!file_) {
    throw ConfigError({{path_, 0, 0, "", "cannot be read; expected a readable CSV file"}});
  }
  csv_.emplace(file_, path_, kHeader);
}

std::uint64_t TraceReader::check() {
  rewind();
  WorkItem item;
  Time before{};
  std::uint64_t count = 0;
  while (csv_->next_line()) {
    ++count;
    if (!csv_->line_was_ended()) {
      csv_->note(csv_->line_number(), static_cast<int>(csv_->line().size()) + 1,
                 "the file ends in the middle of a line; expected a line end (is it cut off?)");
      continue;
    }
    parse(item);
    if (item.at == kNotRead) {
      continue;
    }
    if (item.at < before) {  // told even where another field of the line is wrong
      csv_->note(csv_->line_number(), 1,
                 fmt::format("time_ns is {}; expected at least {}, the time of the line before",
                             item.at.ns(), before.ns()));
    }
    before = item.at;
  }
  const std::string too_long = fmt::format("the line is longer than {} characters; expected '{}'",
                                           CsvReader::kLongestLine, kHeader);
  if (!csv_->note_early_end(too_long.c_str()) && count == 0) {
    csv_->note(2, 1, "the trace has no line after its header; expected at least one");
  }
  csv_->throw_if_any();
  return count;
}

// A wrong field does not hide those behind it; a line of one wrong word is no list of fields.
bool TraceReader::parse(WorkItem& item) {
  CsvReader& csv = *csv_;
  bool is_right = true, has_address = false;
  const auto read = [&](const char* name, const char* where, const auto& parse_field) {
    const bool is_there = csv.take(name, where);
    is_right = is_there && parse_field() && is_right;
    return is_there;
  };
  const bool is_whole =
      read("time_ns", "", [&] { return parse_at(csv, item); }) &&  // a line has at least one field
      (is_right || csv.line().find(',') != std::string_view::npos) &&
      read("domain", "before domain", [&] { return parse_domain(csv, domains_, item); }) &&
      read("op", "before op", [&] { return parse_op(csv, item); }) &&
      read("address", "before address",
           [&] { return has_address = parse_address(csv, reach_, item); }) &&
      read("bytes", "before bytes", [&] { return parse_bytes(csv, reach_, has_address, item); }) &&
      csv.expect_end("sixth");
  return is_whole && is_right;
}

bool TraceReader::next(WorkItem& item) {
  if (left_ == 0) {
    return false;
  }
  item = WorkItem{};
  if (!csv_->next_line() || !csv_->line_was_ended() || !parse(item) || item.at < last_) {
    csv_->note(csv_->line_number(), 1,
               "the file changed after it was checked; expected it to stay as it was");
    csv_->throw_if_any();
  }
  last_ = item.at;
  --left_;
  return true;
}

}  // namespace flitwise
