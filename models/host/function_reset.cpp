// SPDX-License-Identifier: Apache-2.0
// The steps of a function level reset, one after the other.
#include "host/function_reset.h"

#include <array>
#include <utility>

#include "config_space/registers.h"
#include "dhi/handle_registers.h"

namespace flitwise {
namespace {

/// Owned by the callback of the step that is under way.
class Sequence : public std::enable_shared_from_this<Sequence> {
 public:
  Sequence(HostAccess& bridge, const FunctionResetOptions& options,
           std::function<void(HandleStatus)> done)
      : bridge_(bridge), options_(options), done_(std::move(done)) {}

  void start() {
    access({false, options_.function, control(), 0, 0xf},
           [](Sequence& self, std::uint32_t value) { self.initiate(value); });
  }

 private:
  using Then = void (*)(Sequence&, std::uint32_t);

  std::uint16_t control() const {
    return static_cast<std::uint16_t>(options_.pcie + cfg::pcie::kDeviceControl);
  }

  void access(const CfgAccess& access, Then then) {
    bridge_.config(access, [self = shared_from_this(), then](const HostAnswer& answer) {
      then(*self, answer.value());
    });
  }

  void initiate(std::uint32_t device_control) {
    access({true, options_.function, control(), device_control | cfg::pcie::kInitiateFlr, 0x3},
           [](Sequence& self, std::uint32_t) { self.wait(); });
  }

  // The function answers with Request Retry Status until all that it had under way has ended.
  void wait() {
    access({false, options_.function, cfg::kVendorId, 0, 0xf},
           [](Sequence& self, std::uint32_t) { self.clear_host(); });
  }

  void clear_host() {
    const std::array<std::uint32_t, 5> registers{
        0, options_.function.value, 0, 0,
        options_.is_first ? handle_register::kDeallocAll : handle_register::kDeallocFunction};
    std::array<std::uint8_t, 20> bytes{};
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      bytes[at] = static_cast<std::uint8_t>(registers[at / 4] >> 8 * (at % 4));
    }
    const std::uint64_t block = handle_block(options_.host_block);
    bridge_.write(block + handle_register::kHandle, bytes.data(), bytes.size(), false);
    bridge_.read(block + handle_register::kStatus, 4,
                 [self = shared_from_this()](const HostAnswer& answer) {
                   self->status_ = static_cast<HandleStatus>(answer.value() & 0xfU);
                   self->end();
                 });
  }

  void end() {
    if (!options_.enables) {
      done_(status_);
      return;
    }
    access({true, options_.function, cfg::kCommand, cfg::kCommandBusMaster, 0x3},
           [](Sequence& self, std::uint32_t) { self.done_(self.status_); });
  }

  HostAccess& bridge_;
  const FunctionResetOptions options_;
  const std::function<void(HandleStatus)> done_;
  HandleStatus status_ = HandleStatus::kOk;
};

}  // namespace

void reset_function(HostAccess& bridge, const FunctionResetOptions& options,
                    std::function<void(HandleStatus)> done) {
  std::make_shared<Sequence>(bridge, options, std::move(done))->start();
}

}  // namespace flitwise
