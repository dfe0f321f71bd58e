// SPDX-License-Identifier: Apache-2.0
// Resets of functions of an RDMA adapter, and what software of the host does then.
#include <boost/endian/conversion.hpp>

#include <utility>

#include "config_space/registers.h"
#include "flitwise/link_socket.h"
#include "rdma/rdma_sender.h"

namespace flitwise {

void RdmaSender::connect_resets() {
  site_.endpoint.keep_functions_apart([this](unsigned function) {
    hca_.reset(function);
    if (eps_) {
      eps_->reset(function);
    }
    for (std::uint32_t place = 0; function != 0 && place < config_.hca.function_count(); ++place) {
      if (config_.hca.functions[place] == function && config_.hca.is_hostile(place)) {
        set_up_again(place);
      }
    }
  });
  hca_.connect(Hca::Hooks{
      [this](std::uint32_t place) {
        if (place < drivers_.size()) {
          drivers_[place]->go_down();
        }
      },
      [this](std::uint32_t place, std::uint32_t epoch) { came_up(place, epoch); },
      [this](bool is_served) {
        if (eps_) {
          eps_->serve(is_served);
        }
      },
      [this](std::uint32_t pair) { write_state(pair); }, [this](Time now) { begin(now); }});
}

// Where a write of a virtual function changes something.
std::vector<std::uint16_t> RdmaSender::registers_of(std::uint32_t place) {
  std::vector<std::uint16_t> all = {cfg::kCommand};
  const auto add = [&](std::optional<std::uint16_t> start, std::uint16_t offset) {
    if (start) {
      all.push_back(static_cast<std::uint16_t>(*start + offset));
    }
  };
  const ConfigSpace& space = space_of(place);
  add(space.find(cfg::kCapPcie), cfg::pcie::kDeviceControl);
  add(space.find(cfg::kCapPcie), cfg::pcie::kDeviceControl2);
  add(space.find(cfg::kCapMsix), 0);
  add(space.find_extended(cfg::kExtAts), cfg::ats::kControlDw);
  add(space.find_extended(cfg::kExtAer), cfg::aer::kUncorrectableMask);
  return all;
}

void RdmaSender::configure(std::uint32_t place, std::uint16_t offset, std::uint32_t value,
                           std::uint8_t enables, std::function<void()> done) {
  const Bdf function{
      static_cast<std::uint16_t>(site_.endpoint.base().value + config_.hca.functions[place])};
  site_.bridge.config({true, function, offset, value, enables},
                      [done = std::move(done)](const HostAnswer& /*answer*/) { done(); });
}

// The hypervisor has seen that the guest has reset its function: it enables it, and makes its queue
// pairs anew. A write during the reset is tried again until that is over.
void RdmaSender::set_up_again(std::uint32_t place) {
  GuestFunction& own = guest_functions_[place];
  if (own.is_being_set_up || own.is_shut_down) {
    return;
  }
  own.is_being_set_up = true;
  const auto command = [this, place] {
    GuestFunction& guest = guest_functions_[place];
    guest.is_being_set_up = false;
    if (!guest.is_shut_down) {
      control({AdapterCommand::Kind::kSetUp, place, ++guest.epoch});
    }
  };
  const auto enable_ats = [this, place, command] {
    const auto start = space_of(place).find_extended(cfg::kExtAts);
    if (eps_ && start) {
      configure(place, static_cast<std::uint16_t>(*start + cfg::ats::kControlDw), cfg::ats::kEnable,
                0xc, command);
    } else {
      command();
    }
  };
  site_.bridge.after(set_up_time(place), [this, place, enable_ats] {
    configure(place, cfg::kCommand, cfg::kCommandBusMaster, 0x3, enable_ats);
  });
}

// A virtual machine is at its end.
void RdmaSender::shut_down(std::uint32_t place, std::function<void()> done) {
  guest_functions_[place].is_shut_down = true;
  const auto pcie = space_of(place).find(cfg::kCapPcie);
  if (config_.hca.functions[place] == 0 || !pcie) {
    done();
    return;
  }
  // The second one is answered when the reset is over.
  const auto read = [this, place, done = std::move(done)]() mutable {
    configure(place, cfg::kCommand, 0, 0x3, std::move(done));
  };
  configure(place, static_cast<std::uint16_t>(*pcie + cfg::pcie::kDeviceControl),
            cfg::pcie::kInitiateFlr, 0x3, read);
}

void RdmaSender::control(const AdapterCommand& command) {
  std::uint64_t word = command.encode();
  boost::endian::native_to_little_inplace(word);
  site_.bridge.write(site_.bar(site_.index, 0) + config_.hca.control(),
                     reinterpret_cast<const std::uint8_t*>(&word), sizeof(word), hca_.is_counted());
}

// The driver of a function begins as at first. [EP-13]
void RdmaSender::came_up(std::uint32_t place, std::uint32_t epoch) {
  write_states(place);
  if (eps_) {
    write_registers(place);
  }
  if (place < drivers_.size()) {
    drivers_[place]->come_up(epoch, now());
  }
}

}  // namespace flitwise
