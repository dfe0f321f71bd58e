// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_dma.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/ranges.h"
#include "flitwise/link_socket.h"

namespace flitwise {

HcaDma::Job& HcaDma::make() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(records_.size()));
    records_.emplace_back();
  }
  Job& job = records_[free_.back()];
  std::vector<std::uint8_t> own = std::move(job.own);
  own.clear();
  job = Job{};
  job.own = std::move(own);
  job.token = free_.back();
  free_.pop_back();
  return job;
}

void HcaDma::start(Job& job, Time now) {
  job.ready = now;
  if (job.is_read && job.into == nullptr) {
    job.own.resize(job.bytes);
  }
  ++counts_by_kind_[static_cast<unsigned>(job.kind)];
  auto& queue = job.needs > 0 ? gated_ : queue_;
  make_room(queue);
  queue.push_back(job.token);
  work_appeared_();
}

HcaDma::Job* HcaDma::take_done(Time now) {
  if (!done_.is_due(now)) {
    return nullptr;
  }
  const Done done = done_.take();
  Job& job = records_[done.token];
  job.is_ok = done.is_ok;
  return &job;
}

void HcaDma::free(Job& job) {
  free_.push_back(job.token);
}

void HcaDma::payload_done(std::uint64_t number) {
  payload_.done(number);
  if (!gated_.empty()) {
    work_appeared_();
  }
}

Time HcaDma::next_at() const {
  const Time plain = queue_.empty() ? Time::never() : records_[queue_.front()].ready;
  const bool has_gated = !gated_.empty() && may_go(gated_.front());
  return has_gated ? std::min(plain, records_[gated_.front()].ready) : plain;
}

// What has waited for others is older.
bool HcaDma::next(Time now, Transfer& transfer) {
  if (next_at() > now) {
    return false;
  }
  auto& queue = !gated_.empty() && may_go(gated_.front()) && records_[gated_.front()].ready <= now
                    ? gated_
                    : queue_;
  const std::uint32_t token = queue.front();
  queue.pop_front();
  const Job& job = records_[token];
  transfer = {};
  transfer.op = job.is_read ? Op::kRead : Op::kWrite;
  transfer.domain = DomainId{job.queue_pair};
  transfer.address = job.address;
  transfer.bytes = job.bytes;
  transfer.issue = transfer.ready = job.ready;
  transfer.token = token;
  transfer.counts = counts_;
  if (!job.is_read) {
    transfer.data = job.from != nullptr ? job.from : job.own.data();
  }
  return true;
}

void HcaDma::data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
                  std::size_t size) {
  Job& job = records_[token];
  std::copy_n(bytes, size, (job.into != nullptr ? job.into : job.own.data()) + offset);
}

void HcaDma::finished(const TransferEnd& end) {
  const Time when = std::max(end.when, now());
  const bool is_ok = end.status == TransferStatus::kDone;
  failed_ += is_ok ? 0 : 1;
  done_.add({end.token, is_ok}, when);
  wake_(when);
}

std::string HcaDma::waits_for() const {
  const std::size_t waiting = queue_.size() + gated_.size();
  const std::size_t all = records_.size() - free_.size();
  return all == 0 ? ""
                  : fmt::format("{} reads and writes of the adapter, {} of them not sent yet", all,
                                waiting);
}

}  // namespace flitwise
