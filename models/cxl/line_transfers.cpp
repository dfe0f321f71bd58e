// SPDX-License-Identifier: Apache-2.0
// Transfers line by line.
#include "cxl/line_transfers.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace flitwise {
namespace {

// Bytes first .. end-1 of a line.
std::uint64_t enables_of(std::uint64_t first, std::uint64_t end) {
  const std::uint64_t below_end = end == kCxlLineBytes ? kAllBytes : (std::uint64_t{1} << end) - 1;
  return below_end & ~((std::uint64_t{1} << first) - 1);
}

}  // namespace

bool LineTransfers::begin_transfer(Time now) {
  if (engine_ == nullptr) {
    return false;
  }
  Transfer transfer;
  if (!engine_->next(now, transfer)) {
    return false;
  }
  line_.transfer = active_.open({transfer});
  has_current_ = true;
  next_byte_ = transfer.address;
  end_ = next_byte_ + std::max(transfer.bytes, 1U);
  cut_line();
  return true;
}

void LineTransfers::cut_line() {
  line_.address = line_of(next_byte_);
  const std::uint64_t end = std::min(end_, line_.address + kCxlLineBytes);
  line_.byte_enables = enables_of(next_byte_ - line_.address, end - line_.address);
  line_.is_last = end == end_;
}

void LineTransfers::fill(CxlLine& bytes) {
  const Transfer& transfer = active_[line_.transfer].transfer;
  if (transfer.data != nullptr) {
    std::memcpy(bytes.data() + line_.first(), transfer.data + (next_byte_ - transfer.address),
                line_.bytes());
    return;
  }
  for (std::size_t i = 0; i < bytes.size(); i += sizeof pattern_) {
    ++pattern_;
    std::memcpy(bytes.data() + i, &pattern_, sizeof pattern_);
  }
}

void LineTransfers::take() {
  Active& active = active_[line_.transfer];
  ++active.lines_out;
  ++lines_out_;
  asked_bytes_ += line_.bytes();
  next_byte_ += line_.bytes();
  active.all_taken = line_.is_last;
  has_current_ = !line_.is_last;
  if (has_current_) {
    cut_line();
  }
}

void LineTransfers::data(const Line& line, const CxlLine& bytes) {
  const Transfer& transfer = active_[line.transfer].transfer;
  engine_->data(transfer.token, line.address + line.first() - transfer.address,
                bytes.data() + line.first(), line.bytes());
}

// A request is over with the last of its lines, whichever that is.
void LineTransfers::done(const Line& line, TransferStatus status, Time when) {
  Active& active = active_[line.transfer];
  active.status = status == TransferStatus::kDone ? active.status : status;
  (status == TransferStatus::kTimeout ? lost_bytes_ : answered_bytes_) += line.bytes();
  --lines_out_;
  ++lines_over_;
  if (--active.lines_out == 0 && active.all_taken) {
    const Transfer transfer = active.transfer;
    const TransferStatus end = active.status;
    if (end == TransferStatus::kDone && transfer.op == Op::kRead) {
      tracer_.read_over(transfer.counts, transfer.issue, active.last);
    } else if (end == TransferStatus::kDone) {
      tracer_.write_over(transfer.counts, transfer.issue, active.last);
    }
    active_.close(line.transfer);
    engine_->finished({transfer.token, transfer.op, end, when});
  }
}

CheckResult LineTransfers::check(std::string name) const {
  return {std::move(name), asked_bytes_ == answered_bytes_ + lost_bytes_,
          fmt::format("{} asked for, {} answered, {} lost with the link", asked_bytes_,
                      answered_bytes_, lost_bytes_)};
}

}  // namespace flitwise
