// SPDX-License-Identifier: Apache-2.0
#include "rdma/hca_descriptor_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rdma/hca_dma.h"

namespace flitwise {

void HcaDescriptorFetch::kicked(std::uint32_t pair, Time now) {
  read(pair, false, now);
  read(pair, true, now);
  s_.packets.ready(pair, now);
  s_.states.release(pair);
}

// Up to the end of the ring at a time. The queue pair is pinned until the entries are there.
void HcaDescriptorFetch::read(std::uint32_t number, bool is_receive, Time now) {
  HcaPair& pair = s_.pairs[number];
  HcaRing& ring = is_receive ? pair.receive : pair.send;
  if (ring.is_lost) {
    return;
  }
  if (!is_receive && !ring.is_read_out) {
    take_commands(pair);
  }
  if (ring.is_read_out || ring.left() == 0) {
    note_batch(number, is_receive, now);
    return;
  }
  const RdmaArea area = s_.config.area(number);
  const std::uint32_t to_end = s_.config.rdma.queue - ring.read % s_.config.rdma.queue;
  std::uint32_t entries = std::min({ring.left(), s_.config.rdma.wqe_batch, to_end});
  if (!is_receive && !pair.commands.empty()) {
    entries = std::min(entries, s_.commands[pair.commands.first].number - ring.read);
  }
  HcaJob& job =
      s_.dma.make(*this, is_receive ? HcaJobKind::kReceiveEntries : HcaJobKind::kSendEntries, true);
  job.queue_pair = number;
  job.address = is_receive ? area.receive_entry(ring.read) : area.send_entry(ring.read);
  job.bytes = entries * (is_receive ? kReceiveEntryBytes : kWqeBytes);
  job.tag = entries;
  ring.is_read_out = true;
  ring.is_read_of = entries;
  note_batch(number, is_receive, now);
  s_.states.pin(number);
  s_.dma.start(job, now);
}

// Entries behind those that are read now fill the next read as well.
void HcaDescriptorFetch::note_batch(std::uint32_t number, bool is_receive, Time now) {
  const HcaPair& pair = s_.pairs[number];
  const HcaRing& ring = is_receive ? pair.receive : pair.send;
  const bool waits = ring.is_read_out && ring.left() - ring.is_read_of >= s_.config.rdma.wqe_batch;
  batches_.set(2U * number + (is_receive ? 1 : 0), waits, now);
}

void HcaDescriptorFetch::start_window(Time now) {
  HcaModule::start_window(now);
  batches_.start_window(now);
}

void HcaDescriptorFetch::add_more_waits(const std::string& place, Time /*now*/,
                                        std::vector<WaitResult>& all) const {
  all.push_back(batches_.result({place, "wqe_batch", ResourceRole::kSlots, "down", "write",
                                 "device.rdma.wqe_batch", s_.config.rdma.wqe_batch}));
}

// Commands whose turn it is: those whose entry would be the next to be read. One behind that has
// come a second time.
void HcaDescriptorFetch::take_commands(HcaPair& pair) {
  while (!pair.commands.empty()) {
    const HcaCommands::Record& first = s_.commands[pair.commands.first];
    const auto ahead = static_cast<std::int32_t>(first.number - pair.send.read);
    if (ahead > 0) {
      return;
    }
    const std::uint32_t token = s_.commands.pop(pair.commands);
    if (ahead == 0) {
      ++pair.send.read;
      ++s_.totals.pushed;
      post(pair, false, first.bytes.data());
    }
    if (ahead == 0 && first.has_payload) {
      s_.commands.push(pair.payloads, token);
    } else {
      s_.commands.close(token);
    }
  }
}

// The rules take an entry.
void HcaDescriptorFetch::post(HcaPair& pair, bool is_receive, const std::uint8_t* entry) {
  PostResult result = PostResult::kMalformed;
  if (is_receive) {
    result = pair.rules.post_receive(decode_receive(entry));
  } else if (const auto work = decode_send(entry); work) {
    result = pair.rules.post_send(*work);
    ++s_.totals.wqes;
  }
  if (result != PostResult::kTaken) {  // nobody can tell what software had meant
    ++bad_entries_;
    pair.rules.modify(QpState::kError);
  }
}

// Nobody knows the ids of its work requests: one completion stands for all that is not complete by
// then. [VB-5] [VB-8]
void HcaDescriptorFetch::lose(std::uint32_t number, bool is_receive) {
  HcaPair& pair = s_.pairs[number];
  const bool was_lost = std::exchange((is_receive ? pair.receive : pair.send).is_lost, true);
  pair.rules.modify(QpState::kError);
  if (!is_receive && !was_lost) {
    WorkCompletion lost;
    lost.queue_pair = pair.rules.setup().number;
    lost.status = WorkStatus::kLocalOperation;
    s_.pairs.function_of(number).sends.push(lost);
  }
}

std::string HcaDescriptorFetch::waiting() const {
  constexpr int kShown = 4;
  std::string text;
  int shown = 0;
  for (const HcaPair& pair : s_.pairs) {
    if ((pair.send.is_lost || pair.receive.is_lost) && ++shown <= kShown) {
      text +=
          fmt::format("{}a ring of queue pair {} ({}) could not be read", text.empty() ? "" : ", ",
                      pair.rules.setup().number, name_of(pair.rules.state()));
    }
  }
  return text;
}

// Entries have come.
void HcaDescriptorFetch::done(HcaJob& job, Time now) {
  HcaPair& pair = s_.pairs[job.queue_pair];
  const bool is_receive = job.kind == HcaJobKind::kReceiveEntries;
  HcaRing& ring = is_receive ? pair.receive : pair.send;
  ring.is_read_out = false;
  if (s_.pairs.is_down(job.queue_pair)) {
    s_.states.release(job.queue_pair);
    return;
  }
  for (std::uint64_t i = 0; i < job.tag && job.is_ok; ++i) {
    post(pair, is_receive, &job.own[i * (is_receive ? kReceiveEntryBytes : kWqeBytes)]);
  }
  if (!job.is_ok) {
    lose(job.queue_pair, is_receive);
  }
  ring.read += static_cast<std::uint32_t>(job.tag);
  s_.outcomes.after_rules(job.queue_pair, now);
  s_.packets.ready(job.queue_pair, now);
  read(job.queue_pair, is_receive, now);
  s_.states.release(job.queue_pair);
}

}  // namespace flitwise
