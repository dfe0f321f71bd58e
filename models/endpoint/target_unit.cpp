// SPDX-License-Identifier: Apache-2.0
// The functions of a device: requests to them, their configuration spaces, and what a reset takes.
#include "endpoint/target_unit.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>

#include "common/byte_vector.h"
#include "endpoint/has_ats.h"
#include "tlp/message_use.h"
#include "tlp/splitter.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"
#include "workload/workload.h"

namespace flitwise {
namespace {

constexpr std::uint64_t kFunctionsPerBus = 256;
constexpr std::uint32_t kCompleterRcb = 128;  // of completers that are no root complex

EndpointSpaceOptions options_of(const DeviceConfig& device, const LinkConfig& link) {
  EndpointSpaceOptions options;
  options.link = {link.preset.generation, link.preset.lanes};
  options.bar_size = device.functions.bar_size;
  options.total_vfs = static_cast<std::uint16_t>(device.functions.count - 1);
  options.max_mps = static_cast<unsigned>(link.mps);
  options.tag_bits = device.tag_bits;
  // Behind the handle registers and in front of the doorbells.
  options.msix.table_offset = static_cast<std::uint32_t>(options.bar_size / 4);
  options.msix.pba_offset = static_cast<std::uint32_t>(options.bar_size / 4 + options.bar_size / 8);
  if (has_ats(device)) {
    options.ats = AtsOptions{device.atc.queue_depth, true, device.atc.global_invalidate, false};
    if (device.functions.has_pasid) {
      options.pasid = PasidOptions{};
    }
  }
  return options;
}

// Its first DW, as far as it has one.
std::uint32_t dw_of(const Packet& packet) {
  return static_cast<std::uint32_t>(
      little_endian(packet.payload.data(), std::min<std::size_t>(packet.payload.size(), 4)));
}

void set_bus_master_enable(ConfigSpace& space) {
  space.write(cfg::kCommand, space.read(cfg::kCommand) | cfg::kCommandBusMaster, 0x3);
}

}  // namespace

TargetUnit::TargetUnit(const DeviceConfig& device, const LinkConfig& link, const DeviceParts& parts,
                       SoftwareEffects& software)
    : device_(device),
      mps_(static_cast<unsigned>(link.mps)),
      s_(parts),
      software_(software),
      page_requests_(device.pri.enabled ? std::make_unique<PageRequestInterface>(PageRequestConfig{
                                              device.pri.capacity, device.pri.response_pasid,
                                              device.pri.clamps_allocation})
                                        : nullptr),
      space_options_(options_of(device, link)),
      dvsec_(DhiCapability::of(device)),
      spaces_(device.functions.count),
      bar_(device.functions.bar_size,
           [this](const Packet& request, const std::vector<std::uint8_t>& bytes, Time ready) {
             complete(request, bytes, ready);
           }) {
  space_options_.page_requests = page_requests_.get();
}

ConfigSpace& TargetUnit::space(unsigned function) {
  std::unique_ptr<ConfigSpace>& space = spaces_[function];
  if (space == nullptr) {
    space = std::make_unique<ConfigSpace>(function == 0 ? endpoint_space(space_options_)
                                                        : virtual_function_space(space_options_));
    if (function == 0 && device_.dhi.supported) {
      space->add(dhi_capability(dvsec_));
    }
    if (function != 0 && starts_enabled_) {
      set_bus_master_enable(*space);
    }
  }
  return *space;
}

// Those without a configuration space so far begin with it.
void TargetUnit::enable_vfs() {
  starts_enabled_ = true;
  for (std::size_t f = 1; f < spaces_.size(); ++f) {
    if (spaces_[f] != nullptr) {
      set_bus_master_enable(*spaces_[f]);
    }
  }
}

// Where the BARs are, decoded once a change.
void TargetUnit::refresh() {
  const ConfigSpace& pf = space(0);
  vfs_ = flitwise::virtual_functions(pf);
  bar_.set_bars(pf.memory_space_enabled() ? pf.bar(0) : AddressRange{},
                vfs_.memory_space_enabled ? vf_bar(pf, 0) : AddressRange{});
}

void TargetUnit::reset(unsigned function, ResetKind kind) {
  const bool had_handles = dvsec_.end().is_enabled;
  if (function == 0) {
    starts_enabled_ = false;
  } else {
    space(function);  // made, with the enable that the reset takes
  }
  for (unsigned f = function; f < spaces_.size(); ++f) {
    if (spaces_[f] != nullptr) {
      spaces_[f]->reset(kind);
    }
    if (function != 0) {
      break;  // A VF alone; the PF takes all with it.
    }
  }
  refresh();
  if (function == 0) {
    software_.controlled(device_control(space(0)));
    if (had_handles) {
      negotiate_again();
    }
  }
}

Bdf TargetUnit::routing_id(unsigned function) const {
  const Bdf pf = Bdf::of(bus_, 0, 0);
  return function == 0 || !is_there(function) ? pf : vfs_.bdf(pf, function - 1);
}

bool TargetUnit::receive(PacketRef packet, Time now, unsigned function) {
  const Time pipeline = device_.timing.pipeline;
  if (arrived_.empty() && packet->tlp.type == TlpType::kMWr && tell_early(*packet, now)) {
    return false;
  }
  const Time due =
      arrived_.empty() ? now + pipeline : std::max(now + pipeline, arrived_.back().due);
  arrived_.push_back(
      {std::move(packet), due, now + std::max(pipeline, device_.timing.mmio), function});
  return true;
}

// A write that can be served, all of it for an owner that wants to know early, with nothing in
// front of it.
bool TargetUnit::tell_early(const Packet& packet, Time now) {
  const std::optional<BarAccess::Place> place = locate(packet.tlp);
  if (!place || !bar_.is_told_early(*place, packet.tlp.length_dw * std::uint64_t{4}) ||
      packet.tlp.is_poisoned || violation_of(packet)) {
    return false;
  }
  bar_.write(*place, packet, next_edge(now + device_.timing.pipeline, device_.timing.clock));
  return true;
}

std::optional<TlpViolation> TargetUnit::violation_of(const Packet& packet) const {
  TlpLimits limits;
  limits.mps = mps_;
  limits.is_below = true;
  return packet.malformed ? packet.malformed : check_tlp(packet.tlp, limits);
}

void TargetUnit::discard() {
  arrived_.clear();
  answers_.clear();
  messages_.clear();
  bar_.discard();
}

void TargetUnit::work(Time now) {
  is_working_ = true;
  while (!arrived_.empty() && arrived_.front().due <= now) {
    const Arrival arrival = std::move(arrived_.front());
    arrived_.pop_front();
    perform(arrival, now);
  }
  is_working_ = false;
}

Time TargetUnit::next_work(Time now) const {
  Time again = arrived_.empty() ? Time::never() : arrived_.front().due;
  for (const std::deque<Outgoing>* const queue : {&answers_, &messages_}) {
    if (!queue->empty() && queue->front().ready > now) {
      again = std::min(again, queue->front().ready);
    }
  }
  return again;
}

std::string TargetUnit::waiting() const {
  std::string text;
  const auto say = [&](std::size_t count, const char* what) {
    if (count > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
    }
  };
  say(arrived_.size(), "requests wait to be served");
  say(bar_.open_reads(), "reads wait for their data");
  say(answers_.size(), "answers wait for room in the link's queues");
  say(messages_.size(), "messages wait for room in the link's queues");
  return text;
}

void TargetUnit::perform(const Arrival& arrival, Time now) {
  const Tlp& tlp = arrival.packet->tlp;
  const std::optional<TlpViolation> violation = violation_of(*arrival.packet);
  if (violation && is_malformed(*violation)) {
    report(0, "malformed_tlp", cfg::aer::Uncorrectable::kMalformedTlp, *arrival.packet, now);
    return;
  }
  // What is unsupported in a request comes before its poison. [LNK-12.12]
  const auto is_served = [&] {
    if (is_message(tlp.type)) {
      const bool is_for_atc = has_ats(device_) && tlp.message_code == msg::kInvalidateRequest;
      return is_for_atc || use_at_device(tlp) != MessageUse::kUnsupported;
    }
    return is_configuration(tlp.type) ? target_of(tlp).has_value()
                                      : tlp.type == TlpType::kMWr && locate(tlp).has_value();
  };
  if (tlp.is_poisoned && has_data(tlp.type) && is_served()) {
    refuse(arrival, "poisoned_tlp", cfg::aer::Uncorrectable::kPoisonedTlp, now);
    return;
  }
  if (is_configuration(tlp.type)) {
    configuration(arrival, now);
  } else if (tlp.type == TlpType::kMWr || tlp.type == TlpType::kMRd) {
    memory_access(arrival, now);
  } else if (is_message(tlp.type)) {
    message(arrival, now);
  } else {
    // Atomics, deferrable writes, I/O and locked reads.
    refuse(arrival, "unsupported_request", cfg::aer::Uncorrectable::kUnsupportedRequest, now);
  }
}

// Those that nobody else of the device has taken. [LNK-12.3] to [LNK-12.5]
void TargetUnit::message(const Arrival& arrival, Time now) {
  const Tlp& tlp = arrival.packet->tlp;
  const MessageUse use = use_at_device(tlp);
  if (use == MessageUse::kUnsupported) {
    refuse(arrival, "unsupported_request", cfg::aer::Uncorrectable::kUnsupportedRequest, now);
  } else if (use == MessageUse::kTaken && tlp.message_code == msg::kPmeTurnOff) {
    // [LNK-12.4] model: and works on
    send_message(0, msg::kPmeToAck, MsgRouting::kGathered, now);
  } else if (use == MessageUse::kTaken) {
    const auto at =
        static_cast<std::uint16_t>(space(0).find(cfg::kCapPcie).value() + cfg::pcie::kDeviceCap);
    space(0).set(at, cfg::pcie::kCapSlotPower,
                 dw_of(*arrival.packet) << cfg::pcie::kSlotPowerShift);
  }
}

// Type 0 names a function of our own bus, type 1 a VF on one of the further buses we own.
std::optional<unsigned> TargetUnit::target_of(const Tlp& tlp) const {
  const bool is_type0 = tlp.type == TlpType::kCfgRd0 || tlp.type == TlpType::kCfgWr0;
  const unsigned low = tlp.completer_id.value % kFunctionsPerBus;
  if (!is_type0 && tlp.completer_id.bus() <= bus_) {
    return std::nullopt;
  }
  const unsigned routing_id = is_type0 ? low : (tlp.completer_id.bus() - bus_) * 256U + low;
  if (routing_id == 0) {
    return 0;
  }
  const std::optional<unsigned> vf =
      vfs_.index_of(Bdf{0}, Bdf{static_cast<std::uint16_t>(routing_id)});
  return vf ? std::optional<unsigned>(*vf + 1) : std::nullopt;
}

// Where a request names no function that is there, the PF answers for the device. A message says
// itself whom it is for.
unsigned TargetUnit::function_behind(const Tlp& request, unsigned named) const {
  if (is_message(request.type)) {
    return is_there(named) ? named : 0;
  }
  if (is_configuration(request.type)) {
    return target_of(request).value_or(0);
  }
  const std::optional<BarAccess::Place> place =
      is_memory_request(request.type) ? bar_.place_of(request.address) : std::nullopt;
  return place ? place->function : 0;
}

void TargetUnit::configuration(const Arrival& arrival, Time now) {
  const Packet& packet = *arrival.packet;
  const Tlp& tlp = packet.tlp;
  const bool is_write = tlp.type == TlpType::kCfgWr0 || tlp.type == TlpType::kCfgWr1;
  const std::optional<unsigned> function = target_of(tlp);
  if (!function) {
    refuse(arrival, "unsupported_request", cfg::aer::Uncorrectable::kUnsupportedRequest, now);
    return;
  }
  if (software_.is_in_reset(*function)) {
    // Ask again later.
    answer(completion(packet, CplStatus::kRRS), arrival.answer);
    return;
  }
  if (is_write && tlp.type == TlpType::kCfgWr0 && tlp.completer_id.bus() != bus_) {
    // Every type 0 write tells the device its bus number.
    bus_ = static_cast<std::uint8_t>(tlp.completer_id.bus());
    software_.numbered(bus_);
  }
  PacketRef reply = completion(packet, CplStatus::kSC);
  if (is_write) {
    reply->tlp.byte_count = 4;
    answer(std::move(reply), arrival.answer);
    apply(*function, space(*function).write(tlp.register_offset, dw_of(packet), tlp.first_be));
    return;
  }
  const std::uint32_t value = space(*function).read(tlp.register_offset);
  reply->tlp.type = TlpType::kCplD;
  reply->tlp.length_dw = 1;
  reply->tlp.byte_count = 4;
  reply->payload_bytes = 4;
  reply->payload.resize(4);
  boost::endian::store_little_u32(reply->payload.data(), value);
  answer(std::move(reply), arrival.answer);
}

void TargetUnit::apply(unsigned function, const WriteEffect& effect) {
  if (!effect.any()) {
    return;
  }
  const unsigned vfs_before = vfs_.count;
  refresh();
  for (unsigned vf = vfs_.count; vf < vfs_before; ++vf) {
    // It is gone; when it comes again it is as after a reset. [LNK-9.27]
    software_.function_level_reset(vf + 1);
  }
  if (effect.command_changed) {
    software_.command_written(function);
  }
  if (effect.device_control_changed && function == 0) {
    software_.controlled(device_control(space(0)));
  }
  if (effect.ecrc_control_changed && function == 0) {
    software_.ecrc_controlled(ecrc_control(space(0)));
  }
  if (effect.dhi_control_changed) {
    negotiate_again();
  }
  if (effect.ats_control_changed || effect.pasid_control_changed || effect.pri_control_changed) {
    software_.translation_written(function);
  }
  if (effect.msix_control_changed) {
    software_.interrupts_written();
  }
  if (effect.stu_changed_live) {  // [CFG-06]
    s_.events.count("stu_changed_while_enabled");
  }
  if (effect.pri_misused) {  // [PRI-24] [PRI-25] [PRI-26]
    s_.events.count("page_request_register_misused");
  }
  if (effect.flr_started) {
    software_.function_level_reset(function);
  }
}

void TargetUnit::configure(unsigned function, const CfgAccess& access) {
  apply(function, space(function).write(access.offset, access.value, access.byte_enables));
}

// The device knows its own end alone: what software enabled there is what it goes by. [DHI D5, D6]
void TargetUnit::negotiate_again() {
  const HandleEnd own = dvsec_.end();
  const Negotiated outcome =
      negotiate({true, true, own.bits, own.epoch}, own, dvsec_.range(), true);
  dvsec_.set_outcome(outcome);
  software_.negotiated(outcome, dvsec_.is_software_managed());
}

// Where a request goes that can be served. A device translates for nobody. [ATR-30]
std::optional<BarAccess::Place> TargetUnit::locate(const Tlp& tlp) const {
  if (tlp.at != AddressType::kUntranslated && tlp.at != AddressType::kTranslated) {
    return std::nullopt;
  }
  const std::optional<BarAccess::Place> place = bar_.place_of(tlp);
  return place && !software_.is_in_reset(place->function) ? place : std::nullopt;
}

void TargetUnit::memory_access(const Arrival& arrival, Time now) {
  const std::optional<BarAccess::Place> place = locate(arrival.packet->tlp);
  if (!place) {
    refuse(arrival, "unsupported_request", cfg::aer::Uncorrectable::kUnsupportedRequest, now);
  } else if (arrival.packet->tlp.type == TlpType::kMWr) {
    bar_.write(*place, *arrival.packet, now);
  } else {
    bar_.read(*place, arrival.packet, arrival.answer, now);
  }
}

// Cut at RCB and MPS. [LNK-9.10]
void TargetUnit::complete(const Packet& request, const std::vector<std::uint8_t>& bytes,
                          Time ready) {
  CompletionSplitter splitter(request.tlp, mps_, kCompleterRcb);
  const auto lead = static_cast<std::uint32_t>(__builtin_ctz(request.tlp.first_be | 0x10U)) % 4;
  CompletionPiece piece;
  while (splitter.next(piece)) {
    PacketRef packet = completion(request, CplStatus::kSC);
    packet->tlp.type = TlpType::kCplD;
    packet->tlp.length_dw = piece.length_dw;
    packet->tlp.byte_count = piece.byte_count;
    packet->tlp.lower_address = piece.lower_address;
    packet->payload_bytes = request.tlp.first_be == 0 ? 0 : piece.bytes;
    const std::uint8_t* const from = bytes.data() + ((lead + piece.offset) & ~3U);
    packet->payload.assign(from, from + std::size_t{piece.length_dw} * 4);
    answer(std::move(packet), ready);
  }
  if (!is_working_) {
    s_.output.wake_at(ready);
  }
}

// From the function that was asked, with its own ID. [LNK-9.24]
PacketRef TargetUnit::completion(const Packet& request, CplStatus status) const {
  PacketRef packet = s_.pool.make(PacketKind::kTlp);
  packet->counts = request.counts;
  packet->is_raw = request.is_raw;
  packet->answers_io_or_cfg_write = is_io_or_cfg_write(request.tlp.type);
  Tlp& tlp = packet->tlp;
  start_completion(tlp, request.tlp);
  end_without_data(tlp, request.tlp, status);
  tlp.completer_id = is_configuration(request.tlp.type) ? request.tlp.completer_id
                                                        : routing_id(function_behind(request.tlp));
  return packet;
}

void TargetUnit::answer(PacketRef packet, Time ready) {
  s_.sizer.size(*packet);
  answers_.push_back({std::move(packet), ready});
}

// Non-posted requests get a Cpl with UR; posted ones are dropped. Both are booked. [LNK-9.19]
void TargetUnit::refuse(const Arrival& arrival, const char* kind, cfg::aer::Uncorrectable error,
                        Time now) {
  report(function_behind(arrival.packet->tlp, arrival.function), kind, error, *arrival.packet, now);
  if (fc_class(arrival.packet->tlp.type) == FcClass::kNonPosted) {
    answer(completion(*arrival.packet, CplStatus::kUR), arrival.answer);
  }
}

template <class Found>
void TargetUnit::book(unsigned function, const Found& found, Time now) {
  const unsigned owner = is_there(function) ? function : 0;
  const ConfigSpace* const physical = owner == 0 ? nullptr : &space(0);
  if (const std::optional<std::uint8_t> code = report_error(space(owner), found, physical)) {
    send_message(owner, *code, MsgRouting::kToRootComplex, now);
  }
}

void TargetUnit::report(unsigned function, const char* kind, cfg::aer::Uncorrectable error,
                        const Packet& packet, Time now) {
  s_.events.refuse(packet, kind);
  book(function, FoundError{error, received_header(packet), is_advisory(error, packet.tlp)}, now);
}

void TargetUnit::report(unsigned function, cfg::aer::Correctable error, Time now) {
  book(function, error, now);
}

void TargetUnit::report_timeout(unsigned function, Time now) {
  book(function, FoundError{cfg::aer::Uncorrectable::kCompletionTimeout}, now);
}

void TargetUnit::send_message(unsigned function, std::uint8_t code, MsgRouting routing, Time now) {
  PacketRef message = s_.pool.make(PacketKind::kTlp);
  message->counts = false;
  message->tlp.type = TlpType::kMsg;
  message->tlp.routing = routing;
  message->tlp.message_code = code;
  message->tlp.requester_id = routing_id(function);
  s_.sizer.size(*message);
  messages_.push_back({std::move(message), now + device_.timing.pipeline});
}

}  // namespace flitwise
