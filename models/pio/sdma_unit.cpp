// SPDX-License-Identifier: Apache-2.0
#include "pio/sdma_unit.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <utility>

#include "common/ranges.h"

namespace flitwise {

SdmaUnit::SdmaUnit(const PioEngineConfig& config, SendEngine& rules,
                   std::function<void()> work_appeared, std::function<void(Time)> wake)
    : config_(config),
      rules_(rules),
      work_appeared_(std::move(work_appeared)),
      wake_(std::move(wake)) {
  for (unsigned engine = 0; engine < config.sdma_engines(); ++engine) {
    const SdmaArea area = config.sdma_area(engine);
    rules_.sdma_set_up(engine, {area.ring(), area.entries, area.head(), config.pio.sdma.buffer,
                                config.pio.sdma.reads});
  }
}

void SdmaUnit::write_tail(unsigned engine, std::uint64_t index, Time now) {
  rules_.sdma_write_tail(engine, index);
  ask(engine, now);
}

void SdmaUnit::work(Time now, std::uint32_t cleared) {
  std::uint32_t to_ask = cleared | std::exchange(to_ask_, 0);
  while (answers_.is_due(now)) {
    const Answer answer = answers_.take();
    const unsigned engine = answer.token / SdmaRing::kMostReads;
    if (answer.is_ok) {
      rules_.sdma_finish(engine, tags_[answer.token]);
    } else {
      rules_.sdma_fail(engine, tags_[answer.token]);
    }
    to_ask |= 1U << engine;
  }
  for (; to_ask != 0; to_ask &= to_ask - 1) {
    ask(static_cast<unsigned>(__builtin_ctz(to_ask)), now);
  }
}

// All reads that can go out, and the head where somebody has asked for it.
void SdmaUnit::ask(unsigned engine, Time now) {
  while (const std::optional<SdmaRead> read = rules_.sdma_next_read(engine)) {
    const auto token = static_cast<std::uint32_t>(engine * SdmaRing::kMostReads +
                                                  read->tag % SdmaRing::kMostReads);
    tags_[token] = read->tag;
    push(*read, token, now);
  }
  Ring& ring = rings_[engine];
  if (!ring.is_head_out) {
    if (const std::optional<SdmaHeadWrite> write = rules_.sdma_take_head_write(engine)) {
      ring.is_head_out = true;
      ring.head = boost::endian::native_to_little(write->head);
      push({0, write->address, kQwBytes}, kReadTokens + engine, now);
    }
  }
  note_waits(engine, now);
}

void SdmaUnit::push(const SdmaRead& read, std::uint32_t token, Time now) {
  make_room(requests_);
  requests_.push_back({read, token, now + config_.pio.timing.crossing});
  work_appeared_();
}

void SdmaUnit::note_waits(unsigned engine, Time now) {
  const SdmaRing& rules = rules_.sdma_ring(engine);
  rings_[engine].room.set(rules.waits_for_room(), room_waits_, now);
  rings_[engine].reads.set(rules.waits_for_reads(), read_waits_, now);
}

bool SdmaUnit::next(Time now, Transfer& transfer) {
  if (next_at() > now) {
    return false;
  }
  const Request request = requests_.front();
  requests_.pop_front();
  const bool is_head = request.token >= kReadTokens;
  const unsigned engine =
      is_head ? request.token - kReadTokens : request.token / SdmaRing::kMostReads;
  transfer = {};
  transfer.op = is_head ? Op::kWrite : Op::kRead;
  transfer.domain = DomainId{engine};
  transfer.address = request.read.address;
  transfer.bytes = request.read.bytes;
  transfer.issue = transfer.ready = request.ready;
  transfer.token = request.token;
  transfer.counts = counts_requests_;
  transfer.data = is_head ? reinterpret_cast<const std::uint8_t*>(&rings_[engine].head) : nullptr;
  ++in_flight_;
  return true;
}

void SdmaUnit::data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
                    std::size_t size) {
  rules_.sdma_put(token / SdmaRing::kMostReads, tags_[token], offset, bytes, size);
}

void SdmaUnit::finished(const TransferEnd& end) {
  --in_flight_;
  if (end.token >= kReadTokens) {
    rings_[end.token - kReadTokens].is_head_out = false;
    to_ask_ |= 1U << (end.token - kReadTokens);
    wake_(end.when);
    return;
  }
  const Time due = end.when + config_.pio.timing.crossing;
  answers_.add({end.token, end.status == TransferStatus::kDone}, due);
  wake_(due);
}

void SdmaUnit::forget() {
  for (const Request& one : requests_) {
    if (one.token >= kReadTokens) {
      rings_[one.token - kReadTokens].is_head_out = false;
    }
  }
  requests_.clear();
  while (!answers_.empty()) {
    answers_.take();
  }
  to_ask_ = 0;
  for (Ring& ring : rings_) {
    ring.head = 0;
  }
}

std::string SdmaUnit::waits_for() const {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (in_flight_ > 0) {
    add(fmt::format("{} reads and heads of SDMA engines that are under way", in_flight_));
  }
  if (!requests_.empty()) {
    add(fmt::format("{} that wait to be sent", requests_.size()));
  }
  for (unsigned engine = 0; engine < config_.sdma_engines(); ++engine) {
    const SdmaRing& ring = rules_.sdma_ring(engine);
    for (int i = 0; i < kSdmaErrors; ++i) {
      if (ring.has_error(static_cast<SdmaError>(i))) {
        add(fmt::format("SDMA engine {} is halted by {}", engine,
                        name_of(static_cast<SdmaError>(i))));
      }
    }
  }
  return text;
}

void SdmaUnit::start_window(Time now) {
  counts_requests_ = true;
  room_waits_.start_window(now);
  read_waits_.start_window(now);
}

std::vector<WaitResult> SdmaUnit::waits(const std::string& place) const {
  if (config_.sdma_engines() == 0) {
    return {};
  }
  const auto& sdma = config_.pio.sdma;
  return {room_waits_.result({place, "sdma_buffer", ResourceRole::kSlots, "up", "read",
                              "device.pio.sdma.buffer", sdma.buffer}),
          read_waits_.result({place, "sdma_reads", ResourceRole::kSlots, "up", "read",
                              "device.pio.sdma.reads", sdma.reads})};
}

}  // namespace flitwise
