// SPDX-License-Identifier: Apache-2.0
// One command at a time: the registers are written in one go, then the status is read until it is
// there.
#include "host/handle_driver.h"

#include <algorithm>
#include <array>

#include "config_space/registers.h"

namespace flitwise {
namespace {

using CommandDws = std::array<std::uint32_t, 5>;  // HANDLE, IDENTITY, PASID, UPPER, COMMAND

CommandDws registers_of(const AllocMessage& message) {
  const DeviceIdentity& identity = message.identity;
  const std::uint32_t flags = (identity.pasid ? handle_register::kPasidSupported : 0U) |
                              (message.is_trusted ? handle_register::kTrusted : 0U) |
                              (identity.privileged_mode_requested ? handle_register::kPmr : 0U) |
                              (identity.execute_requested ? handle_register::kEr : 0U);
  return {to_int(message.dhi) | flags,
          identity.bdf.value | std::uint32_t{message.capabilities} << 16,
          identity.pasid ? to_int(*identity.pasid) : 0U, message.context.word(),
          handle_register::kAlloc | std::uint32_t{message.epoch} << 8};
}

// The codes follow each other as the scopes do.
CommandDws registers_of(const DeallocMessage& message) {
  const std::uint32_t code =
      handle_register::kDeallocOne + static_cast<std::uint32_t>(message.scope);
  return {to_int(message.dhi), message.function.value, 0U, to_int(message.upper),
          code | std::uint32_t{message.epoch} << 8};
}

template <class T>
T take_first(std::deque<T>& queue) {
  T first = std::move(queue.front());
  queue.pop_front();
  return first;
}

}  // namespace

void write_command(HostAccess& bridge, std::uint64_t block, const HandleCommand& order) {
  const CommandDws values =
      std::visit([](const auto& message) { return registers_of(message); }, order);
  std::array<std::uint8_t, 4 * std::tuple_size_v<CommandDws>> bytes{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    boost::endian::store_little_u32(&bytes[4 * i], values[i]);
  }
  bridge.write(block + handle_register::kHandle, bytes.data(), bytes.size(), false);
}

HandleDriver::HandleDriver(HostAccess& bridge, Options options)
    : bridge_(bridge), options_(std::move(options)) {
  for (unsigned dhi = to_int(options_.range.lower); dhi <= to_int(options_.range.upper); ++dhi) {
    free_.push_back(Dhi{static_cast<std::uint16_t>(dhi)});
  }
}

void HandleDriver::context_ended(DomainId domain) {
  wanting_.erase(std::remove(wanting_.begin(), wanting_.end(), domain), wanting_.end());
  const auto handle = handle_of_.find(to_int(domain));
  if (handle != handle_of_.end()) {
    ended_.push_back(handle->second);
    handle_of_.erase(handle);
  }
  next();
}

void HandleDriver::end_context(DomainId domain, std::function<void()> done) {
  wanting_.erase(std::remove(wanting_.begin(), wanting_.end(), domain), wanting_.end());
  const auto handle = handle_of_.find(to_int(domain));
  if (handle == handle_of_.end()) {
    done();
    return;
  }
  deallocate(dealloc_of(handle->second), [done = std::move(done)](HandleStatus) { done(); });
}

void HandleDriver::deallocate(const DeallocMessage& message,
                              std::function<void(HandleStatus)> done) {
  jobs_.push_back({message, std::move(done)});
  next();
}

// Orders first, then what has ended, then who waits.
void HandleDriver::next() {
  if (is_busy_) {
    return;
  }
  if (!jobs_.empty()) {
    const Job job = take_first(jobs_);
    free(job.message, [this, job](HandleStatus status) {
      forget(job.message);
      job.done(status);
    });
  } else if (!ended_.empty()) {
    release(take_first(ended_));
  } else if (!wanting_.empty() && !free_.empty()) {
    const DomainId domain = take_first(wanting_);
    allocate(domain, take_first(free_));
  }
}

// The host first, so that no use comes before it.
void HandleDriver::allocate(DomainId domain, Dhi dhi) {
  is_busy_ = true;
  const AllocMessage message{dhi,
                             options_.identity_of(domain),
                             options_.is_trusted,
                             options_.capabilities,
                             options_.epoch,
                             options_.context_of(domain)};
  handle_of_[to_int(domain)] = dhi;
  command(host_block(), message, [this, domain, dhi, message](HandleStatus at_host) {
    if (at_host != HandleStatus::kOk) {
      ++refused_;
      handle_of_.erase(to_int(domain));
      free_.push_back(dhi);
      idle();
      return;
    }
    command(options_.device_block, message, [this, domain, dhi](HandleStatus at_device) {
      if (at_device == HandleStatus::kOk) {
        ++allocated_;
        idle();
        return;
      }
      ++refused_;
      handle_of_.erase(to_int(domain));
      release(dhi);
    });
  });
}

// The device first, so that no use comes after.
void HandleDriver::free(const DeallocMessage& message, Then then) {
  is_busy_ = true;
  command(options_.device_block, message, [this, message, then](HandleStatus) {
    command(host_block(), message, [this, then](HandleStatus status) {
      then(status);
      idle();
    });
  });
}

void HandleDriver::release(Dhi dhi) {
  free(dealloc_of(dhi), [this, dhi](HandleStatus) {
    ++freed_;
    free_.push_back(dhi);
  });
}

// Handles that an order freed are the driver's again.
void HandleDriver::forget(const DeallocMessage& message) {
  for (auto entry = handle_of_.begin(); entry != handle_of_.end();) {
    const Dhi dhi = entry->second;
    const bool is_covered =
        message.scope == DeallocScope::kFunction
            ? options_.identity_of(DomainId{entry->first}).bdf == message.function
            : message.handles(options_.range).contains(dhi);
    if (is_covered) {
      ++freed_;
      free_.push_back(dhi);
    }
    entry = is_covered ? handle_of_.erase(entry) : std::next(entry);
  }
}

void HandleDriver::poll(std::uint64_t block, Then then) {
  bridge_.after(options_.step, [this, block, then = std::move(then)] {
    bridge_.read(block + handle_register::kStatus, 4,
                 [this, block, then](const HostAnswer& answer) {
                   if (answer.is_ok() && (answer.value() & handle_register::kBusy) != 0) {
                     poll(block, then);
                     return;
                   }
                   then(answer.is_ok() && (answer.value() & handle_register::kBadCommand) == 0
                            ? static_cast<HandleStatus>(answer.value() & 0xfU)
                            : HandleStatus::kMalformed);
                 });
  });
}

// From the last step to the first: each one holds those behind it.
void reset_function(HostAccess& bridge, const FunctionResetOptions& options,
                    std::function<void(HandleStatus)> done) {
  const auto end = [&bridge, options, done = std::move(done)](HandleStatus status) {
    if (!options.enables) {
      done(status);
      return;
    }
    bridge.config({true, options.function, cfg::kCommand, cfg::kCommandBusMaster, 0x3},
                  [done, status](const HostAnswer&) { done(status); });
  };
  const auto clear_host = [&bridge, options, end](const HostAnswer&) {
    const DeallocMessage message{
        options.is_first ? DeallocScope::kAll : DeallocScope::kFunction, {}, {}, options.function};
    const std::uint64_t block = handle_block(options.host_block);
    write_command(bridge, block, message);
    bridge.read(block + handle_register::kStatus, 4, [end](const HostAnswer& answer) {
      end(static_cast<HandleStatus>(answer.value() & 0xfU));
    });
  };
  // The function answers with Request Retry Status until all that it had under way has ended.
  const auto wait = [&bridge, function = options.function, clear_host](const HostAnswer&) {
    bridge.config(CfgAccess::read_of(function, cfg::kVendorId), clear_host);
  };
  const auto control = static_cast<std::uint16_t>(options.pcie + cfg::pcie::kDeviceControl);
  bridge.config(CfgAccess::read_of(options.function, control),
                [&bridge, function = options.function, control, wait](const HostAnswer& answer) {
                  const std::uint32_t value = answer.value() | cfg::pcie::kInitiateFlr;
                  bridge.config({true, function, control, value, 0x3}, wait);
                });
}

}  // namespace flitwise
