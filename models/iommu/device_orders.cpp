// SPDX-License-Identifier: Apache-2.0
// Orders to devices: ITags and tags limit them, answers and time end them.
#include "iommu/device_orders.h"

#include <fmt/format.h>

#include <algorithm>

#include "codec/json_value.h"
#include "dhi/dhi_message.h"

namespace flitwise {
namespace {

InvalidateRequest request_of(const DeviceTlbInvalidation& command, std::uint8_t itag) {
  const DecodedRange decoded = decode_range(command.address, command.is_sized);
  InvalidateRequest request;
  request.agent = kRootComplexId;
  request.function = command.source;
  request.itag = itag;
  request.range = decoded.range;
  request.is_undefined = decoded.is_undefined;
  request.is_global = command.all_pasids;
  request.pasid = command.pasid;
  return request;
}

DeallocMessage message_of(const HandleInvalidation& command, std::uint8_t epoch) {
  DeallocMessage message;
  message.scope = command.scope;
  message.epoch = epoch;
  const bool is_range = command.scope == DeallocScope::kRange;
  if (is_range || command.scope == DeallocScope::kOne) {
    message.dhi = command.lower;
    message.upper = is_range ? command.upper : message.upper;
  } else if (command.scope == DeallocScope::kFunction) {
    message.function = command.source;
  }
  return message;
}

}  // namespace

// Functions of a device with handles have their ITags in common. [DHI D21]
unsigned DeviceOrders::function_of(Bdf source) {
  std::optional<unsigned> function = device_tlbs_.index_of(source);
  if (!function) {
    function = device_tlbs_.add_function(source);
  }
  const std::optional<HandleTables::Device> device =
      handle_tables_ == nullptr ? std::nullopt : handle_tables_->device_of(source);
  device_tlbs_.set_device(*function,
                          device ? std::optional<Bdf>(device->first) : std::optional<Bdf>());
  return *function;
}

void DeviceOrders::carry_out(const DeviceTlbInvalidation& command, Time now) {
  const unsigned function = function_of(command.source);
  device_tlbs_.set_depth(function, command.queue_depth);
  if (!device_tlbs_.can_send(function)) {
    hold(command);
    return;
  }
  held_.reset();
  ++counts_.invalidations;
  ++counts_.device_invalidations;
  send(function, command, false, now);
}

void DeviceOrders::send(unsigned function, const DeviceTlbInvalidation& command, bool is_in_full,
                        Time now) {
  const std::uint8_t itag = device_tlbs_.send(function, now);
  may_stray_.erase({function, itag});
  if (device_tlbs_.has_handles(function)) {
    may_stray_.emplace(std::pair<unsigned, unsigned>(function, itag), command);
  }
  if (is_in_full) {
    handle_tables_->name_in_full(command.source, itag);
  }
  PacketRef packet = events_.new_message();
  packet->payload.resize(kInvalidateBodyBytes);
  packet->tlp = invalidate_request_tlp(request_of(command, itag), packet->payload.data());
  events_.send(std::move(packet), Time{});
}

void DeviceOrders::carry_out(const HandleInvalidation& command, Time now) {
  const std::optional<HandleTables::Device> device =
      handle_tables_ == nullptr ? std::nullopt : handle_tables_->device_of(command.source);
  const Bdf first = device ? device->first : command.source;
  if (!handles_.can_send(first)) {
    hold(command);
    return;
  }
  held_.reset();
  ++counts_.invalidations;
  const DeallocOrder order = handles_.send(
      first, command.source, message_of(command, device ? device->epoch : std::uint8_t{0}), now);
  PacketRef packet = events_.new_message();
  write_dhi_message(*packet, kRootComplexId, order, command.source);
  packet->payload_bytes = static_cast<std::uint32_t>(packet->payload.size());
  events_.send(std::move(packet), Time{});
}

// What comes back under the old ITag says nothing of this domain any more, and may never come.
void DeviceOrders::strayed(Bdf function, std::uint8_t itag, Time now) {
  const std::optional<unsigned> index = device_tlbs_.index_of(function);
  const auto command = index ? may_stray_.find({*index, itag}) : may_stray_.end();
  if (command != may_stray_.end() && device_tlbs_.stray(*index, itag)) {
    again_.emplace_back(*index, command->second);
    send_again(now);
  }
}

void DeviceOrders::send_again(Time now) {
  const auto has_gone = [&](const std::pair<unsigned, DeviceTlbInvalidation>& one) {
    if (!device_tlbs_.can_send(one.first)) {
      return false;
    }
    send(one.first, one.second, true, now);
    return true;
  };
  again_.erase(std::remove_if(again_.begin(), again_.end(), has_gone), again_.end());
}

void DeviceOrders::send_held(Time now) {
  const auto command = *held_;
  std::visit([&](const auto& one) { carry_out(one, now); }, command);
}

// [INV-10] [INV-13]
DeviceOrders::Answer DeviceOrders::complete(const InvalidateCompletion& completion, Time now) {
  if (device_tlbs_.has_astray() && handle_tables_->device_of(completion.function)) {
    function_of(completion.function);  // it may answer for another of its device
  }
  const CompletionReport report = device_tlbs_.complete(completion);
  send_again(now);
  return {static_cast<unsigned>(__builtin_popcount(report.retired)),
          (report.unexpected | report.mismatched) != 0};
}

// Uses that came before the answer have found their entries; the entries go now.
DeviceOrders::Answer DeviceOrders::complete(Bdf function, const DeallocDone& done) {
  const std::optional<DeallocSender::Order> order = handles_.complete(function, done);
  if (!order) {
    return {0, true};
  }
  return {1,
          handle_tables_ != nullptr &&
              handle_tables_->answered(function, order->message, done.status) != HandleStatus::kOk};
}

std::optional<Bdf> DeviceOrders::expire(Time now) {
  while (const std::optional<InvalidationSender::Expired> expired = device_tlbs_.expire(now)) {
    if (!expired->is_astray) {
      return device_tlbs_.id_of(expired->function);
    }
    send_again(now);
  }
  const std::optional<DeallocSender::Order> expired = handles_.expire(now);
  return expired ? std::optional(expired->function) : std::nullopt;
}

Time DeviceOrders::next_timeout() const {
  return std::min(device_tlbs_.next_deadline().value_or(Time::never()),
                  handles_.next_deadline().value_or(Time::never()));
}

std::string DeviceOrders::waiting(const char* at) const {
  std::string text;
  if (device_tlbs_.all_awaited() > 0) {
    std::string functions;
    for (unsigned i = 0; i < device_tlbs_.functions(); ++i) {
      functions +=
          device_tlbs_.awaited(i) == 0 ? "" : " " + json_value::bdf_text(device_tlbs_.id_of(i));
    }
    text += fmt::format("{}: {} Invalidate Requests wait for devices:{}{}\n", at,
                        device_tlbs_.all_awaited(), functions,
                        held_ ? ", and one for an ITag of its function" : "");
  }
  if (handles_.outstanding() > 0) {
    text += fmt::format("{}: {} DEALLOC messages wait for devices\n", at, handles_.outstanding());
  }
  return text;
}

}  // namespace flitwise
