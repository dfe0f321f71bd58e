// SPDX-License-Identifier: Apache-2.0
// The agent around its parts.
#include "iommu/translation_agent.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise {

TranslationAgent::TranslationAgent(const sc_core::sc_module_name& name, const IommuConfig& config,
                                   std::uint64_t seed, PacketPool& pool, MemoryPort& memory)
    : ComponentModule(name),
      offers_{config.capabilities, config.secure_ats},
      pool_(pool),
      memory_(memory),
      registers_(offers_),
      wakeup_("wakeup", config.timing.clock),
      translations_(config, offers_, seed, registers_, *this, *this, counts_),
      page_requests_(config.page_requests.overflow, config.page_requests.respond_pasid, registers_,
                     translations_, *this, *this),
      commands_(config, offers_,
                {registers_, translations_, page_requests_, *this, *this, counts_}) {
  wakeup_.wakes("work_process", [this] { work(); });
}

void TranslationAgent::work() {
  wakeup_.taken();
  const Time t = now();
  translations_.work(t);
  commands_.work(t);
  page_requests_.work(t);
  commands_.expire(t);
  const Time next = std::min({translations_.next_due(), commands_.next_due(),
                              page_requests_.next_due(), commands_.next_timeout()});
  if (next != Time::never()) {
    wakeup_.at(next);
  }
}

void TranslationAgent::receive(const Packet& message) {
  const Tlp& tlp = message.tlp;
  if (tlp.type != TlpType::kMsg) {
    return;
  }
  if (tlp.message_code == msg::kInvalidateCompletion) {
    commands_.completed(invalidate_completion_of(tlp), now());
  } else if (tlp.message_code == msg::kPageRequest) {
    page_requests_.receive(page_request_of(tlp), message.request);
  }
}

PacketRef TranslationAgent::make_access(TlpType type, std::uint16_t tag, std::uint64_t address,
                                        unsigned bytes) {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->tlp.type = type;
  packet->tlp.address = address;
  packet->tlp.length_dw = static_cast<std::uint16_t>(bytes / 4);
  packet->tlp.first_be = 0xf;
  packet->tlp.last_be = bytes > 4 ? 0xf : 0;
  packet->tlp.tag = tag;
  return packet;
}

void TranslationAgent::read(std::uint16_t tag, std::uint64_t address, unsigned bytes) {
  memory_.submit(*this, make_access(TlpType::kMRd, tag, address, bytes), Time{});
}

void TranslationAgent::write(std::uint16_t tag, std::uint64_t address, const std::uint8_t* bytes,
                             unsigned count, Time delay) {
  PacketRef packet = make_access(TlpType::kMWr, tag, address, count);
  packet->payload_bytes = count;
  packet->payload.assign(bytes, bytes + count);
  memory_.submit(*this, std::move(packet), delay);
}

void TranslationAgent::memory_done(const MemoryTransaction& transaction, Time when) {
  const std::uint16_t tag = transaction.packet->tlp.tag;
  const bool is_ok = transaction.is_response_ok();
  const std::uint8_t* const bytes = is_ok ? transaction.data.data() : nullptr;
  switch (tag) {
    case agent_tag::kCommands: return commands_.memory_done(bytes, when);
    case agent_tag::kPageRequests: return page_requests_.memory_done(is_ok, when);
    default: return translations_.memory_done(tag, bytes, when);
  }
}

template <class Hook, class... What>
void TranslationAgent::tell(Hook hook, const What&... what) const {
  for (const Hooks& hooks : hooks_) {
    if (hooks.*hook) {
      (hooks.*hook)(what...);
    }
  }
}

void TranslationAgent::report(const FaultRecord& record, std::uint32_t token) {
  tell(&Hooks::fault, record, token);
  interrupt(faults_.report(record, registers_));
}

void TranslationAgent::interrupt(const std::optional<IommuInterrupt>& interrupt) {
  if (interrupt) {
    tell(&Hooks::interrupt, *interrupt);
  }
}

void TranslationAgent::status_is_coming() {
  tell(&Hooks::status);
}

PacketRef TranslationAgent::new_message() {
  PacketRef packet = pool_.make(PacketKind::kTlp);
  packet->counts = false;
  return packet;
}

void TranslationAgent::send(PacketRef message, Time delay) {
  if (devices_ != nullptr) {
    devices_->send_message(std::move(message), delay);
  }
}

Time TranslationAgent::waits_until() const {
  const Time end = commands_.next_timeout();
  return end == Time::never() ? Time{} : end;
}

void TranslationAgent::count_repeats(Counts& counts) const {
  counts[name() + std::string(": orders of software carried out")] = orders_done();
}

std::string TranslationAgent::waiting() const {
  return translations_.waiting(name()) + commands_.waiting(name()) + page_requests_.waiting(name());
}

IommuResult TranslationAgent::counts_so_far() const {
  IommuResult result = counts_;
  result.name = name();
  result.page_requests = page_requests_.received();
  result.page_requests_dropped = page_requests_.dropped();
  return result;
}

void TranslationAgent::start_window() {
  window_ = counts_so_far();
  translations_.start_window(now());
}

void TranslationAgent::report(RunResult& result) const {
  IommuResult row = counts_so_far();
  row -= window_;
  result.rows<IommuResult>().push_back(std::move(row));
}

std::vector<CheckResult> TranslationAgent::checks() const {
  const std::uint64_t asked = translations_.asked(), answered = translations_.answered();
  return {{std::string(name()) + ": one outcome for each request", !is_quiet() || asked == answered,
           fmt::format("{} translations asked for, {} outcomes", asked, answered)}};
}

}  // namespace flitwise
