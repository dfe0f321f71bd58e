// SPDX-License-Identifier: Apache-2.0
#include "pio/context_recovery.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kNotThere = ~std::uint64_t{0};  // no register has this value
constexpr std::int64_t kLooksOfAWait = 16;

}  // namespace

void ContextRecovery::start(unsigned context, std::uint64_t shadow, bool was_reset, Done done) {
  context_ = context;
  shadow_ = shadow;
  done_ = std::move(done);
  was_reset_ = was_reset;
  begins_again_ = false;
  gone_since_ = Time::never();
  see_halt();
}

// A context halts before it says so: one that is not halted has been initialised since, unless its
// device was reset.
void ContextRecovery::see_halt() {
  step_ = "its Status";
  read(offset_of(SendRegisters::kStatus), [this](std::uint64_t status) {
    if (!was_reset_ && (status & SendRegisters::kHalted) == 0) {
      end(Outcome::kNotHalted);
      return;
    }
    step_ = "its packets to leave send memory";
    await_drained();
  });
}

void ContextRecovery::await_drained() {
  read(offset_of(SendRegisters::kEgressStatus), [this](std::uint64_t packets) {
    if (packets != 0) {
      access_.host->after(access_.poll, [this] { await_drained(); });
      return;
    }
    initialise();
  });
}

// The read behind it has its answer when it is done.
void ContextRecovery::initialise() {
  step_ = "its initialisation";
  write(SendRegisters::kControl, 0);
  access_.host->write_register(access_.registers() + SendRegisters::kInitContext,
                               SendRegisters::init_of(context_));
  read(SendRegisters::kInitContext, [this](std::uint64_t /*result*/) {
    access_.set_to_0(shadow_);
    write(SendRegisters::kControl, SendRegisters::kEnable);
    step_ = "being enabled";
    await_enabled();
  });
}

// model: returns that tell of the error may still be on their way to memory, and would stay there.
// A force sends a new one behind them. [PIO-12.40]
void ContextRecovery::await_enabled() {
  read(offset_of(SendRegisters::kControl), [this](std::uint64_t control) {
    if ((control & SendRegisters::kEnable) == 0) {
      access_.host->after(access_.poll, [this] { await_enabled(); });
      return;
    }
    write(SendRegisters::kCreditForce, 1);
    write(SendRegisters::kCreditForce, 0);
    end(Outcome::kBegunAnew);
  });
}

// A device that is reset, or whose link is down, is looked for from the beginning, the longer it
// lasts the less often.
void ContextRecovery::await_device() {
  step_ = "the device, whose registers cannot be read";
  gone_since_ = std::min(gone_since_, now());
  const Time waited = now() - gone_since_;
  if (waited >= kPatience) {
    end(Outcome::kDeviceGone);
    return;
  }
  begins_again_ = false;
  access_.host->after(std::max(access_.poll, Time{waited.fs / kLooksOfAWait}),
                      [this] { see_halt(); });
}

void ContextRecovery::end(Outcome outcome) {
  step_ = nullptr;
  gone_since_ = Time::never();
  done_(outcome);
}

// What cannot be read gives ones.
void ContextRecovery::read(std::uint32_t offset, std::function<void(std::uint64_t)> then) {
  access_.host->read(access_.registers() + offset, kQwBytes,
                     [this, then = std::move(then)](const HostAnswer& answer) {
                       const bool is_there = answer.is_ok() && answer.data.size() == kQwBytes;
                       const std::uint64_t value =
                           is_there ? boost::endian::load_little_u64(answer.data.data())
                                    : kNotThere;
                       if (value == kNotThere) {
                         await_device();
                         return;
                       }
                       gone_since_ = Time::never();
                       std::exchange(begins_again_, false) ? see_halt() : then(value);
                     });
}

void ContextRecovery::write(SendRegisters::Register one, std::uint64_t value) {
  access_.host->write_register(access_.registers() + offset_of(one), value);
}

}  // namespace flitwise
