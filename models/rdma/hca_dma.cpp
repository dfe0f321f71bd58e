// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_dma.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/ranges.h"
#include "flitwise/link_socket.h"

namespace flitwise {
HcaJob& HcaDma::make(HcaModule& owner, Kind kind, bool is_read) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(records_.size()));
    records_.push_back(new Job);
  }
  Job& job = records_[free_.back()];
  std::vector<std::uint8_t> own = std::move(job.own);
  own.clear();
  job = Job{};
  job.own = std::move(own);
  job.kind = kind;
  job.is_read = is_read;
  job.owner = &owner;
  job.token = free_.back();
  free_.pop_back();
  return job;
}

void HcaDma::start(Job& job, Time now) {
  job.ready = now;
  job.counts = counts_;
  if (job.is_read && job.into == nullptr) {
    job.own.resize(job.bytes);
  }
  if (pairs_.is_down(job.queue_pair)) {
    drop(job, now);
    return;
  }
  ++counts_by_kind_[static_cast<unsigned>(job.kind)];
  ++row_.entries;
  row_.bytes += job.bytes;
  job.owner->note_access(job.bytes);
  const bool is_told = tells(job.kind);
  const bool is_gated = job.needs > 0 || (is_told && waiting_ > 0);
  (is_gated ? waiting_ : plain_) += is_told ? 1 : 0;
  auto& queue = is_gated ? gated_ : queue_;
  make_room(queue);
  queue.push_back(job.token);
  work_appeared_();
}

// It ends at once, and nothing of it has been sent.
void HcaDma::drop(const Job& job, Time now) {
  done_.add({job.token, false}, now);
  ask_at(now);
  wake_(now);
}

void HcaDma::drop_down(Time now) {
  const struct {
    boost::circular_buffer<std::uint32_t>& queue;
    std::uint32_t& tellers;
  } all[] = {{queue_, plain_}, {gated_, waiting_}};
  for (const auto& [queue, tellers] : all) {
    boost::circular_buffer<std::uint32_t> left(queue.capacity());
    for (const std::uint32_t token : queue) {
      const Job& job = records_[token];
      if (!pairs_.is_down(job.queue_pair)) {
        left.push_back(token);
        continue;
      }
      tellers -= tells(job.kind) ? 1 : 0;
      drop(job, now);
    }
    queue.swap(left);
  }
  work_appeared_();  // what was behind them
}

bool HcaDma::holds(std::uint32_t place) const {
  return any_of(records_, [&](const Job& job) {
    return job.owner != nullptr && pairs_.tag_of(job.queue_pair).function == place;
  });
}

bool HcaDma::run(Time now) {
  if (!done_.is_due(now)) {
    return false;
  }
  while (done_.is_due(now)) {
    const Done done = done_.take();
    Job& job = records_[done.token];
    job.is_ok = done.is_ok;
    spent_ += now - job.ready;
    ++over_;
    job.owner->note_access_end(now - job.ready);
    job.owner->done(job, now);
    job.owner = nullptr;
    free_.push_back(done.token);
  }
  return true;
}

void HcaDma::start_window(Time now) {
  HcaModule::start_window(now);
  counts_ = true;
  row_ = HcaStageResult{};
  spent_ = Time{};
  over_ = 0;
}

HcaStageResult HcaDma::result(Time /*now*/) const {
  HcaStageResult row = row_;
  row.stage = basename();
  row.accesses = row.entries;
  row.time_mean = over_ == 0 ? 0 : spent_.ns() / static_cast<double>(over_);
  return row;
}

std::uint64_t HcaDma::static_accesses() const {
  std::uint64_t sum = 0;
  for (int i = 0; i < kHcaJobKinds; ++i) {
    sum += structure_of(static_cast<Kind>(i)) ? counts_by_kind_[i] : 0;
  }
  return sum;
}

void HcaDma::payload_done(std::uint64_t number) {
  payload_.done(number);
  if (!gated_.empty()) {
    work_appeared_();
  }
}

Time HcaDma::next_at() const {
  const Time plain = queue_.empty() ? Time::never() : records_[queue_.front()].ready;
  const bool has_gated = !gated_.empty() && may_go(records_[gated_.front()]);
  return has_gated ? std::min(plain, records_[gated_.front()].ready) : plain;
}

// What has waited for others is older.
bool HcaDma::next(Time now, Transfer& transfer) {
  if (next_at() > now) {
    return false;
  }
  const bool is_gated =
      !gated_.empty() && may_go(records_[gated_.front()]) && records_[gated_.front()].ready <= now;
  auto& queue = is_gated ? gated_ : queue_;
  const std::uint32_t token = queue.front();
  queue.pop_front();
  const Job& job = records_[token];
  (is_gated ? waiting_ : plain_) -= tells(job.kind) ? 1 : 0;
  transfer = {};
  transfer.op = job.is_read ? Op::kRead : job.kind == Kind::kInterrupt ? Op::kMsi : Op::kWrite;
  set_address(job, transfer);
  transfer.bytes = job.bytes;
  transfer.issue = transfer.ready = job.ready;
  transfer.token = token;
  transfer.counts = counts_;
  transfer.keeps_order = keeps_order(job);
  if (!job.is_read) {
    transfer.data = job.from != nullptr ? job.from : job.own.data();
  }
  return true;
}

// The one place where an access, of a static structure too, gets whose it is and its address.
void HcaDma::set_address(const Job& job, Transfer& transfer) const {
  transfer.domain = DomainId{job.queue_pair};
  transfer.address = job.address;
  if (functions_ > 0 && structure_of(job.kind)) {
    transfer.structure = structure_of(job.kind);
    transfer.domain = DomainId{job.queue_pair % functions_};  // the first of its function
  }
}

void HcaDma::data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
                  std::size_t size) {
  Job& job = records_[token];
  std::copy_n(bytes, size, (job.into != nullptr ? job.into : job.own.data()) + offset);
}

void HcaDma::finished(const TransferEnd& end) {
  const Time when = std::max(end.when, now());
  const bool is_ok = end.status == TransferStatus::kDone;
  failed_ += is_ok || pairs_.is_down(records_[end.token].queue_pair) ? 0 : 1;
  const Job& job = records_[end.token];
  if (job.counts && structure_of(job.kind)) {
    const bool was_translated = job.was_translated && !job.was_untranslated;
    pretranslated_ += was_translated ? 1 : 0;
    if (job.is_read) {
      StaticReads& reads = static_reads_[was_translated ? 0 : 1];
      ++reads.count;
      reads.span += when - job.ready;
    }
  }
  done_.add({end.token, is_ok}, when);
  ask_at(when);
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
