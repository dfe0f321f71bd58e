// SPDX-License-Identifier: Apache-2.0
// Pages that go.
#include "host/driver_threads.h"

#include <algorithm>
#include <set>
#include <utility>

#include "ats/translation_entry.h"

namespace flitwise {

UnmapThread::UnmapThread(DriverParts& driver, PageServer& pages)
    : driver_(driver), pages_(pages), most_held_(spare_frames(driver.config)) {}

void UnmapThread::begin() {
  due_ = now();
  if (driver_.config.unmap_rate > 0 && driver_.pages.domains() != 0) {
    tick();
  }
}

// Somebody calls for an unmap of pages of a domain that is drawn; while all that may wait do, the
// next call waits as well.
void UnmapThread::tick() {
  if (!driver_.has_work()) {
    return;
  }
  const unsigned pages = driver_.config.unmap_pages;
  if (driver_.is_ready && held_ + pages <= most_held_) {
    Unmap unmap;
    unmap.called = now();
    unmap.domain = static_cast<std::uint32_t>(driver_.random.below(driver_.pages.domains()));
    const DriverDomain& domain = driver_.pages.domain(unmap.domain);
    unmap.count = std::min(pages, domain.count);
    unmap.first =
        domain.first +
        static_cast<Index>(driver_.random.below(std::uint64_t{domain.count} - unmap.count + 1));
    held_ += unmap.count;
    backlog_.push_back(std::move(unmap));
    next();
  }
  driver_.call_again(driver_.config.unmap_rate, due_, [this] { tick(); });
}

void UnmapThread::next() {
  if (is_busy_) {
    return;
  }
  const bool is_full = batch_.size() >= driver_.config.batch;
  if (!backlog_.empty() && !is_full) {
    is_busy_ = true;
    batch_.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
    driver_.bridge.after(driver_.step, [this] { clear(0); });
  } else if (!batch_.empty() && (is_full || is_flush_due_ || !is_deferred())) {
    is_busy_ = true;
    is_flush_due_ = false;
    ++flushes_;
    repeats_ = 0;
    invalidate();
  } else if (batch_.empty()) {
    is_flush_due_ = false;
  }
}

// Whoever is not mapped, or may not be unmapped, is left out. The permission goes with the entry,
// one access later. [SEC-05] Of memory that is registered for RDMA the entry is written anew as it
// stands, as where pages are split or joined: what is known of it goes all the same.
void UnmapThread::clear(std::size_t at) {
  Unmap& unmap = batch_.back();
  while (at < unmap.count) {
    const Index index = unmap.first + static_cast<Index>(at++);
    const DriverPages::Page& page = driver_.pages.page(index);
    if (page.frame && page.is_registered) {
      unmap.pages.emplace_back(index, *page.frame);
      driver_.pages.write_again(index);
      driver_.bridge.after(driver_.step, [this, at] { clear(at); });
      return;
    }
    if (!page.frame || page.is_pinned) {
      continue;
    }
    unmap.pages.emplace_back(index, driver_.pages.unmap(index));
    ++driver_.counts.unmaps;
    driver_.bridge.after(driver_.step, [this, at] {
      if (!revokes()) {
        clear(at);
        return;
      }
      driver_.pages.revoke(batch_.back().domain, batch_.back().pages.back().second);
      driver_.bridge.after(driver_.step, [this, at] { clear(at); });
    });
    return;
  }
  held_ -= unmap.count - unmap.pages.size();
  if (unmap.pages.empty()) {
    batch_.pop_back();
  } else if (batch_.size() == 1 && is_deferred()) {
    driver_.note_wait(driver_.config.flush_after);
    driver_.background.after(driver_.config.flush_after, [this, flush = flushes_] {
      if (flush == flushes_) {
        is_flush_due_ = true;
        next();
      }
    });
  }
  is_busy_ = false;
  next();
}

// Each range by itself, or in mode deferred each domain once.
std::vector<DescriptorBytes> UnmapThread::invalidations() const {
  const DriverPages& pages = driver_.pages;
  std::vector<DescriptorBytes> agent, device;
  std::set<std::uint32_t> domains;
  for (const Unmap& unmap : batch_) {
    if (is_deferred() && !domains.insert(unmap.domain).second) {
      continue;
    }
    const DriverDomain& domain = pages.domain(unmap.domain);
    const std::uint64_t last =
        pages.address(unmap.pages.back().first) | PageRange::mask_of(pages.page_bits());
    const PageRange range = is_deferred()
                                ? PageRange::everything()
                                : enclosing_range(pages.address(unmap.pages.front().first), last);
    agent.push_back(driver_.agent_invalidation(domain, range));
    if (domain.has_device_tlb && driver_.config.mistake != DriverMistake::kNoDevice) {
      device.push_back(encode(device_tlb_invalidation(domain, range)));
    }
  }
  // Of pages of memory, whoever they were permitted to; with all of a domain, everything: requests
  // without PASID are checked against a table that domains share. [SEC-05] [IOM-5.11]
  PermissionInvalidation permissions;
  if (revokes() && is_deferred()) {
    agent.push_back(encode(permissions));
  } else if (revokes()) {
    permissions.granularity = PermissionInvalidation::Granularity::kRange;
    permissions.all_domains = true;
    permissions.address_mask = static_cast<std::uint8_t>(pages.page_bits() - kSmallestRangeBits);
    for (const Unmap& unmap : batch_) {
      for (const auto& [page, frame] : unmap.pages) {
        permissions.address = pages.frames().physical(frame);
        agent.push_back(encode(permissions));
      }
    }
  }
  if (driver_.config.mistake == DriverMistake::kDeviceFirst) {
    agent.swap(device);
  }
  agent.insert(agent.end(), device.begin(), device.end());
  return agent;
}

void UnmapThread::invalidate() {
  std::vector<DescriptorBytes> commands = invalidations();
  InvalidationWait wait;
  wait.writes_status = true;
  wait.interrupts = driver_.config.wait == DriverWait::kInterrupt;
  wait.is_fence = true;
  wait.status = ++serial_;
  wait.status_address = kWaitStatus;
  commands.push_back(encode(wait));
  is_waiting_ = true;
  driver_.ring.submit(std::move(commands), [this] {
    if (driver_.config.mistake == DriverMistake::kNoWait) {
      wait_is_over();
    } else if (driver_.config.wait == DriverWait::kPoll) {
      poll();
    }
  });
}

// True: the wait is not over, so that it looks again.
bool UnmapThread::look() {
  if (!is_waiting_) {
    return false;
  }
  if (driver_.has_status(kWaitStatus, serial_)) {
    wait_is_over();
    return false;
  }
  // After a repeat the interrupts of two waits may be one.
  return driver_.config.wait == DriverWait::kPoll || repeats_ > 0;
}

// The pages are free, and may go to anybody.
void UnmapThread::wait_is_over() {
  is_waiting_ = false;
  for (const Unmap& unmap : std::exchange(batch_, {})) {
    held_ -= unmap.pages.size();
    latency_.record(now() - unmap.called);
    for (const auto& [page, frame] : unmap.pages) {
      if (driver_.pages.page(page).is_registered) {
        continue;
      }
      driver_.pages.frames().take_back(frame);
      ++freed_;
      if (driver_.config.remap_after.fs != 0) {
        driver_.background.after(driver_.config.remap_after,
                                 [this, page = page] { pages_.map(page); });
      }
    }
  }
  is_busy_ = false;
  next();
}

void UnmapThread::repeat() {
  if (is_waiting_ && repeats_ < kMostRepeats) {
    ++repeats_;
    invalidate();
  }
}

}  // namespace flitwise
