// SPDX-License-Identifier: Apache-2.0
// The first access that waits is the one under way.
#include "guest/guest_bus.h"

#include <algorithm>
#include <utility>

#include "common/page.h"

namespace flitwise {
namespace {

// Registers are at offset bus << 20 | device << 15 | function << 12.
Bdf function_at(std::uint64_t offset) {
  return Bdf{static_cast<std::uint16_t>(offset >> 12)};
}

// At most the bytes of one register, which do not leave it.
bool is_register_access(const PciCommand& command) {
  return command.size <= 4 && command.address % 4 + command.size <= 4;
}

}  // namespace

void GuestBus::access(PciCommand command, Answer answer) {
  pending_.push_back({std::move(command), std::move(answer), {}});
  if (pending_.size() == 1) {
    perform();
  }
}

void GuestBus::perform() {
  while (!pending_.empty()) {
    const PciCommand& command = pending_.front().command;
    const bool is_here =
        command.bar == 0 && command.address < kBytes && command.size <= kBytes - command.address;
    const bool is_configuration = command.address < kConfigBytes;
    if (!is_here || (is_configuration && !is_register_access(command))) {
      ++counts_.unanswered;
      finish();
    } else if (is_configuration) {
      configure(command);
      return;
    } else if (command.is_read()) {
      ++counts_.reads;
      read(command);
      return;
    } else {
      ++counts_.writes;
      host_.write(kBase + command.address, command.data.data(), command.data.size(), false);
      pending_.pop_front();
    }
  }
}

void GuestBus::configure(const PciCommand& command) {
  const auto shift = static_cast<unsigned>(command.address % 4);
  CfgAccess access = CfgAccess::read_of(function_at(command.address),
                                        static_cast<std::uint16_t>(command.address & 0xffc));
  if (!command.is_read()) {
    access.write = true;
    access.byte_enables = static_cast<std::uint8_t>(((1U << command.size) - 1) << shift);
    for (std::size_t i = 0; i < command.size; ++i) {
      access.value |= std::uint32_t{command.data[i]} << 8 * (i + shift);
    }
  }
  ++(command.is_read() ? counts_.config_reads : counts_.config_writes);
  host_.config(access, [this, shift](const HostAnswer& answer) {
    Pending& first = pending_.front();
    if (first.command.is_read() && answer.is_ok()) {
      const std::uint32_t value = answer.value() >> 8 * shift;
      for (std::size_t i = 0; i < first.command.size; ++i) {
        first.data.push_back(static_cast<std::uint8_t>(value >> 8 * i));
      }
    } else if (!answer.is_ok()) {
      ++counts_.unanswered;
    }
    finish();
    perform();
  });
}

// In parts that cross no page.
void GuestBus::read(const PciCommand& command) {
  const std::uint64_t address = kBase + command.address + pending_.front().data.size();
  const std::size_t left = command.size - pending_.front().data.size();
  const auto bytes =
      static_cast<unsigned>(std::min<std::uint64_t>(left, kPageBytes - address % kPageBytes));
  host_.read(address, bytes, [this, bytes](const HostAnswer& answer) {
    Pending& first = pending_.front();
    const std::size_t so_far = first.data.size();
    if (answer.is_ok()) {
      first.data.insert(first.data.end(), answer.data.begin(), answer.data.end());
    } else {
      ++counts_.unanswered;
    }
    first.data.resize(so_far + bytes, 0xff);
    if (first.data.size() < first.command.size) {
      read(first.command);
      return;
    }
    finish();
    perform();
  });
}

void GuestBus::finish() {
  Pending first = std::move(pending_.front());
  pending_.pop_front();
  if (first.command.is_read()) {
    first.data.resize(first.command.size, 0xff);
    first.answer(first.data);
  }
}

}  // namespace flitwise
