// SPDX-License-Identifier: Apache-2.0
#include "pio/context_recovery.h"

#include <boost/endian/conversion.hpp>

#include <utility>

namespace flitwise {

void ContextRecovery::start(unsigned context, std::uint64_t shadow, Done done) {
  context_ = context;
  shadow_ = shadow;
  done_ = std::move(done);
  step_ = "its Status";
  see_halt();
}

// A context halts before it says so: one that is not halted has been initialised since.
void ContextRecovery::see_halt() {
  read(offset_of(SendRegisters::kStatus), [this](std::uint64_t status) {
    if ((status & SendRegisters::kHalted) == 0) {
      end(false);
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
    end(true);
  });
}

void ContextRecovery::end(bool was_halted) {
  step_ = nullptr;
  done_(was_halted);
}

// What cannot be read gives ones.
void ContextRecovery::read(std::uint32_t offset, std::function<void(std::uint64_t)> then) {
  access_.host->read(
      access_.registers() + offset, kQwBytes, [then = std::move(then)](const HostAnswer& answer) {
        const bool is_there = answer.is_ok() && answer.data.size() == kQwBytes;
        then(is_there ? boost::endian::load_little_u64(answer.data.data()) : ~std::uint64_t{0});
      });
}

void ContextRecovery::write(SendRegisters::Register one, std::uint64_t value) {
  access_.host->write_register(access_.registers() + offset_of(one), value);
}

}  // namespace flitwise
