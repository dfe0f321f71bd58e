// SPDX-License-Identifier: Apache-2.0
// poll() over the sockets of one guest.
#include "uml/uml_peer.h"

#include <poll.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "common/interrupt.h"
#include "uml/unix_socket.h"

namespace flitwise {
namespace {

// Of the guest's clock on the wall at time 0: 2025-01-01, the same in each run.
constexpr std::uint64_t kTimeOfDay = 1'735'689'600'000'000'000;
constexpr int kLookMilliseconds = 50;

}  // namespace

UmlPeer::UmlPeer(const std::string& folder, std::vector<VhostDevice*> devices, Hooks hooks)
    : hooks_(std::move(hooks)), clock_listener_(listen_at(folder + "/" + kTimeSocket)) {
  for (VhostDevice* const one : devices) {
    devices_.push_back({one, listen_at(folder + "/" + one->name() + ".sock")});
  }
}

bool UmlPeer::serve_until(std::chrono::seconds patience, const std::function<bool()>& is_over) {
  auto last = std::chrono::steady_clock::now();
  while (!is_over() && !is_gone_) {
    if (serve_one(kLookMilliseconds)) {
      last = std::chrono::steady_clock::now();
    } else if (std::chrono::steady_clock::now() - last > patience) {
      return false;
    }
    if (!hooks_.look()) {
      lose();
    }
  }
  return true;
}

// True: something came.
bool UmlPeer::serve_one(int milliseconds) {
  std::vector<pollfd> files;
  files.push_back({clock_.is_open() ? clock_.get() : clock_listener_.get(), POLLIN, 0});
  for (const Device& one : devices_) {
    files.push_back(
        {one.device->is_connected() ? one.device->socket() : one.listener.get(), POLLIN, 0});
  }
  files.push_back({called_ != nullptr ? called_->calls() : -1, POLLIN, 0});
  const int ready = poll(files.data(), files.size(), milliseconds);
  if (ready < 0 && errno != EINTR) {
    throw std::system_error(errno, std::generic_category(), "poll");
  }
  if (ready <= 0) {
    return false;
  }
  if (files[0].revents != 0) {
    serve_clock();
  }
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    VhostDevice& device = *devices_[i].device;
    if (files[i + 1].revents == 0) {
      continue;
    }
    if (!device.is_connected()) {
      device.connect(accept_from(devices_[i].listener));
    } else {
      device.serve();  // one that the guest has closed may come again
    }
  }
  if (files.back().revents != 0) {
    if (!called_->take_call_answer()) {
      lose();
    }
    called_ = nullptr;
  }
  return true;
}

void UmlPeer::serve_clock() {
  if (!clock_.is_open()) {
    clock_ = accept_from(clock_listener_);
    return;
  }
  TimeMessage message;
  if (!receive_all(clock_.get(), &message, sizeof message)) {
    lose();
    return;
  }
  switch (message.op) {
    case TimeOp::kAck: return;
    case TimeOp::kRequest: wanted_ = message.ns; break;
    case TimeOp::kWait: is_waiting_ = true; break;
    case TimeOp::kGet: answer(message, hooks_.now_ns()); return;
    case TimeOp::kGetTimeOfDay: answer(message, kTimeOfDay + hooks_.now_ns()); return;
    default: break;
  }
  answer(message, 0);
}

void UmlPeer::answer(const TimeMessage& to, std::uint64_t ns) {
  const TimeMessage message{TimeOp::kAck, to.number, ns};
  if (!send_all(clock_.get(), &message, sizeof message)) {
    lose();
  }
}

void UmlPeer::run(std::uint64_t ns) {
  is_waiting_ = false;
  wanted_.reset();
  const TimeMessage message{TimeOp::kRun, ++runs_, ns};
  if (!send_all(clock_.get(), &message, sizeof message)) {
    lose();
  }
}

bool UmlPeer::call(VhostDevice& device, unsigned queue, std::chrono::seconds patience) {
  if (device.calls() < 0) {
    return true;
  }
  if (!device.call(queue)) {
    lose();
    return true;
  }
  called_ = &device;
  return serve_until(patience, [this] { return called_ == nullptr; });
}

}  // namespace flitwise
