// SPDX-License-Identifier: Apache-2.0
// Pages that go: the entry first, then the agent's caches, then the device's, then the wait, and
// only then the page is free. [INV-35] [IQU-16]
#include <algorithm>
#include <array>
#include <set>

#include "ats/translation_range.h"
#include "host/driver_memory.h"
#include "host/iommu_driver.h"
#include "iommu/entries.h"

namespace flitwise {
namespace {

constexpr unsigned kMostUnmapRepeats = 3;

unsigned largest_address_mask(std::uint64_t capabilities) {
  return capabilities >> 48 & 0x3fU;  // CAP.MAMV [IOM-1.2]
}

}  // namespace

// Somebody calls for an unmap of pages of a domain that is drawn; while all that may wait do, the
// next call waits as well.
void IommuDriver::tick() {
  if (!has_work_()) {
    return;
  }
  const unsigned pages = config_.unmap_pages;
  if (is_ready_ && held_ + pages <= most_held_) {
    Unmap unmap;
    unmap.called = now();
    unmap.domain = static_cast<std::uint32_t>(random_.below(pages_->domains()));
    const DriverDomain& domain = pages_->domain(unmap.domain);
    unmap.count = std::min(pages, domain.count);
    unmap.first = domain.first +
                  static_cast<Index>(random_.below(std::uint64_t{domain.count} - unmap.count + 1));
    held_ += unmap.count;
    backlog_.push_back(std::move(unmap));
    next_unmap();
  }
  call_again(config_.unmap_rate, unmap_due_, [this] { tick(); });
}

void IommuDriver::next_unmap() {
  if (is_unmapping_) {
    return;
  }
  const bool is_full = batch_.size() >= config_.batch;
  const bool is_deferred = config_.mode == UnmapMode::kDeferred;
  if (!backlog_.empty() && !is_full) {
    is_unmapping_ = true;
    batch_.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
    bridge_.after(step_, [this] { clear(0); });
  } else if (!batch_.empty() && (is_full || is_flush_due_ || !is_deferred)) {
    flush();
  } else if (batch_.empty()) {
    is_flush_due_ = false;
  }
}

// Whoever is not mapped, or may not be unmapped, is left out.
void IommuDriver::clear(std::size_t next) {
  Unmap& unmap = batch_.back();
  while (next < unmap.count) {
    const Index index = unmap.first + static_cast<Index>(next++);
    const DriverPages::Page& page = pages_->page(index);
    if (page.frame && !page.is_pinned) {
      unmap.pages.emplace_back(index, pages_->unmap(index));
      ++unmaps_;
      if (has_permissions_ && config_.mistake != DriverMistake::kNoRevoke) {
        bridge_.after(step_, [this, next] { revoke(next); });
      } else {
        bridge_.after(step_, [this, next] { clear(next); });
      }
      return;
    }
  }
  cleared();
}

// The permission goes with the entry, one access later. [SEC-05]
void IommuDriver::revoke(std::size_t next) {
  const Unmap& unmap = batch_.back();
  pages_->revoke(unmap.domain, unmap.pages.back().second);
  bridge_.after(step_, [this, next] { clear(next); });
}

void IommuDriver::cleared() {
  held_ -= batch_.back().count - batch_.back().pages.size();
  if (batch_.back().pages.empty()) {
    batch_.pop_back();
  } else if (batch_.size() == 1 && config_.mode == UnmapMode::kDeferred) {
    note_wait(config_.flush_after);
    background(config_.flush_after, [this, flush = flushes_] {
      if (flush == flushes_) {
        is_flush_due_ = true;
        next_unmap();
      }
    });
  }
  is_unmapping_ = false;
  next_unmap();
}

void IommuDriver::flush() {
  is_unmapping_ = true;
  is_flush_due_ = false;
  ++flushes_;
  repeats_ = 0;
  invalidate();
}

void IommuDriver::add_invalidations(const DriverDomain& domain, PageRange range, bool is_whole,
                                    std::vector<DescriptorBytes>& agent,
                                    std::vector<DescriptorBytes>& device) const {
  const auto mask = static_cast<std::uint8_t>(range.size_bits - kSmallestRangeBits);
  const bool by_page = !is_whole && mask <= largest_address_mask(capabilities_);
  if (is_second_stage_) {
    IotlbInvalidation command;
    command.granularity =
        by_page ? IotlbInvalidation::Granularity::kPage : IotlbInvalidation::Granularity::kDomain;
    command.drains_writes = command.drains_reads = true;
    command.domain = domain.number;
    command.address_mask = by_page ? mask : std::uint8_t{0};
    command.address = by_page ? range.base : 0;
    command.leaf_only = by_page;
    agent.push_back(encode(command));
  } else {
    PasidIotlbInvalidation command;
    command.granularity = by_page ? PasidIotlbInvalidation::Granularity::kPage
                                  : PasidIotlbInvalidation::Granularity::kPasid;
    command.domain = domain.number;
    command.pasid = domain.identity.pasid.value_or(Pasid{});
    command.address_mask = by_page ? mask : std::uint8_t{0};
    command.address = by_page ? range.base : 0;
    command.leaf_only = by_page;
    agent.push_back(encode(command));
  }
  if (domain.has_device_tlb && config_.mistake != DriverMistake::kNoDevice) {
    device.push_back(
        encode(device_tlb_invalidation(domain, is_whole ? PageRange::everything() : range)));
  }
}

// Of pages of memory, whoever they were permitted to; with all of a domain, everything: requests
// without PASID are checked against a table that domains share. [SEC-05] [IOM-5.11]
void IommuDriver::add_permission_invalidations(std::vector<DescriptorBytes>& agent) const {
  if (!has_permissions_ || config_.mistake == DriverMistake::kNoRevoke) {
    return;
  }
  PermissionInvalidation command;
  if (config_.mode == UnmapMode::kDeferred) {
    agent.push_back(encode(command));
    return;
  }
  command.granularity = PermissionInvalidation::Granularity::kRange;
  command.all_domains = true;
  command.address_mask = static_cast<std::uint8_t>(pages_->page_bits() - kSmallestRangeBits);
  for (const Unmap& unmap : batch_) {
    for (const auto& [page, frame] : unmap.pages) {
      command.address = pages_->frames().physical(frame);
      agent.push_back(encode(command));
    }
  }
}

// Each range by itself, or in mode deferred each domain once.
std::vector<DescriptorBytes> IommuDriver::invalidations() const {
  std::vector<DescriptorBytes> agent;
  std::vector<DescriptorBytes> device;
  std::set<std::uint32_t> domains;
  for (const Unmap& unmap : batch_) {
    const DriverDomain& domain = pages_->domain(unmap.domain);
    if (config_.mode == UnmapMode::kDeferred) {
      if (domains.insert(unmap.domain).second) {
        add_invalidations(domain, PageRange::everything(), true, agent, device);
      }
      continue;
    }
    const std::uint64_t last =
        pages_->address(unmap.pages.back().first) | PageRange::mask_of(pages_->page_bits());
    const PageRange range = enclosing_range(pages_->address(unmap.pages.front().first), last);
    add_invalidations(domain, range, false, agent, device);
  }
  add_permission_invalidations(agent);
  if (config_.mistake == DriverMistake::kDeviceFirst) {
    agent.swap(device);
  }
  agent.insert(agent.end(), device.begin(), device.end());
  return agent;
}

void IommuDriver::invalidate() {
  std::vector<DescriptorBytes> commands = invalidations();
  InvalidationWait wait;
  wait.writes_status = true;
  wait.interrupts = config_.wait == DriverWait::kInterrupt;
  wait.is_fence = true;
  wait.status = ++serial_;
  wait.status_address = kWaitStatus;
  commands.push_back(encode(wait));
  is_waiting_ = true;
  ring_.submit(std::move(commands), [this] {
    if (config_.mistake == DriverMistake::kNoWait) {
      wait_is_over();
    } else if (config_.wait == DriverWait::kPoll) {
      poll();
    }
  });
}

void IommuDriver::poll() {
  polls_.begin([this] { return look(); });
}

// True: the wait is not over, so that it looks again.
bool IommuDriver::look() {
  std::array<std::uint8_t, 8> status{};
  memory_.peek(kWaitStatus, status.data(), status.size());
  if (!is_waiting_) {
    return false;
  }
  if (static_cast<std::uint32_t>(load_u64(status.data())) == serial_) {
    wait_is_over();
    return false;
  }
  // After a repeat the interrupts of two waits may be one.
  return config_.wait == DriverWait::kPoll || repeats_ > 0;
}

// The pages are free, and may go to anybody.
void IommuDriver::wait_is_over() {
  is_waiting_ = false;
  const std::vector<Unmap> batch = std::move(batch_);
  batch_.clear();
  for (const Unmap& unmap : batch) {
    held_ -= unmap.pages.size();
    unmap_latency_.record(now() - unmap.called);
    for (const auto& [page, frame] : unmap.pages) {
      pages_->frames().take_back(frame);
      ++freed_;
      if (config_.remap_after.fs != 0) {
        background(config_.remap_after, [this, page = page] { remap(page); });
      }
    }
  }
  is_unmapping_ = false;
  next_unmap();
}

// A device did not answer: the agent has given the wait up. [IQU-07]
void IommuDriver::repeat_invalidation() {
  if (is_waiting_ && repeats_ < kMostUnmapRepeats) {
    ++repeats_;
    invalidate();
  }
}

void IommuDriver::remap(Index page) {
  if (pages_->page(page).frame || pages_->page(page).is_wanted || pages_->domain_of(page).is_over) {
    return;
  }
  std::vector<DescriptorBytes> commands;
  map(page, commands);
  if (!commands.empty()) {
    ring_.submit(std::move(commands), [] {});
  }
}

}  // namespace flitwise
