// SPDX-License-Identifier: Apache-2.0
#include "rdma/eps.h"

#include <fmt/format.h>
#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

PretranslationSetup setup_of(const PretranslationConfig& config, std::size_t functions) {
  PretranslationSetup setup;
  PretranslationSetup::Function function;
  function.page_bits = static_cast<unsigned>(__builtin_ctzll(config.page_size));
  setup.functions.assign(functions, function);
  setup.clears = config.clears;
  setup.retranslates = config.retranslates;
  setup.first_retry = config.timing.retry;
  setup.longest_retry = std::max(config.timing.retry, config.timing.longest_retry);
  setup.requests = config.requests;
  return setup;
}

}  // namespace

Eps::Eps(const sc_core::sc_module_name& name, std::string device, const HcaConfig& config,
         std::vector<DomainId> domains, Hooks hooks)
    : ComponentModule(name),
      device_(std::move(device)),
      config_(config),
      domains_(std::move(domains)),
      hooks_(std::move(hooks)),
      rules_(setup_of(config.rdma.pretranslation, domains_.size())),
      wakeup_("wakeup", config.rdma.timing.clock),
      written_(domains_.size()) {
  wakeup_.wakes("work", [this] { work(); });
}

void Eps::claim(BarMap& map) {
  map.claim({config_.registers(), StructureRegisters::kBytes, 0, rules_.functions()}, *this);
}

// Each write of a register is a reason to look, as a boot is. [EP-1] [EP-10]
void Eps::mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                     Time now) {
  if (size != 8) {
    return;
  }
  const std::uint64_t offset = place.offset - config_.registers();
  const auto structure = static_cast<StaticStructure>(offset / 16);
  std::uint64_t& address = written_[place.function][offset / 16];
  const std::uint64_t word = boost::endian::load_little_u64(bytes);
  if (offset % 16 == 0) {
    address = word;
    return;
  }
  rules_.write(place.function, structure, address, word & ~StructureRegisters::kAllowed);
  rules_.allow(place.function, structure, (word & StructureRegisters::kAllowed) != 0);
  look_at(now);
}

void Eps::mmio_read(const MmioRead& read, BarAccess& access, Time now) {
  const std::vector<std::uint8_t> ones(read.bytes, 0xff);
  access.answer(read, ones.data(), now);
}

void Eps::enabled(unsigned function, bool is_enabled, Time now) {
  if (function >= rules_.functions() || (is_enabled && rules_.is_started(function))) {
    return;
  }
  if (!is_enabled) {
    rules_.stop(function);
    wake_waiters(now);
    return;
  }
  rules_.set_pasid(function, requests_->pasid_of(domains_[function]));
  rules_.start(function);
  look_at(now);
}

void Eps::reset(unsigned function) {
  for (unsigned f = function; f < (function == 0 ? rules_.functions() : function + 1U); ++f) {
    if (f < rules_.functions()) {
      rules_.stop(f);
    }
  }
}

void Eps::serve(bool is_served) {
  rules_.set_enabled(is_served);
  wake_waiters(flitwise::now());
  if (is_served) {
    look_at(flitwise::now());
  }
}

void Eps::look_at(Time when) {
  due_ = std::min(due_, when);
  wakeup_.at(when);
}

// A request that cannot leave now has failed, as one without an answer. [EP-6]
void Eps::work() {
  wakeup_.taken();
  const Time now = flitwise::now();
  if (due_ <= now) {
    due_ = Time::never();
    while (const auto request = rules_.next(now)) {
      if (requests_->ask(domains_[request->function], request->address, request->id,
                         hooks_.counts(), now)) {
        ++sent_;
      } else {
        rules_.fail(request->id, now);
      }
    }
    was_cut_short_ = rules_.is_full();
    wake_waiters(now);  // of what is not translated again
  }
  rest(now);
}

// What is left is looked at again after a time; nothing wakes it where nothing is. [EP-1] [EP-6]
void Eps::rest(Time now) {
  if (rules_.has_wishes()) {
    const Time background = next_edge(now + Time{1}, config_.rdma.pretranslation.timing.period);
    look_at(std::min(background, rules_.next_retry(now)));
  }
}

void Eps::wake_waiters(Time now) {
  if (std::exchange(has_waiters_, false)) {
    requests_->try_again(now);
  }
}

// An address before the structure lies far beyond its end.
std::uint64_t Eps::offset_of(const StructureBytes& bytes) const {
  return bytes.address - rules_.guest_address(bytes.function, bytes.structure);
}

StructureAccess Eps::access(const StructureBytes& bytes) {
  if (!is_written(bytes.function, bytes.structure)) {
    return {StructureAccess::Verdict::kGo, AddressType::kUntranslated, bytes.address};
  }
  const std::uint64_t offset = offset_of(bytes);
  const StructureAccess access =
      access_of(rules_.at(bytes.function, bytes.structure), offset, bytes.bytes);
  if (access.verdict != StructureAccess::Verdict::kGo) {
    has_waiters_ = has_waiters_ || access.verdict == StructureAccess::Verdict::kWait;
    rules_.begin(bytes.function, bytes.structure, offset, bytes.bytes);
  }
  return access;
}

void Eps::begin(const StructureBytes& bytes, std::uint32_t token) {
  bool is_translated = false;
  if (is_written(bytes.function, bytes.structure)) {
    const StructureAccess access =
        rules_.begin(bytes.function, bytes.structure, offset_of(bytes), bytes.bytes);
    is_translated = access.at == AddressType::kTranslated;
  }
  hooks_.touched(token, is_translated);
}

void Eps::end(unsigned function, StaticStructure structure) {
  rules_.end(function, structure);
}

void Eps::answered(std::uint32_t request, const TranslationEntry* translation, Time now) {
  if (translation != nullptr) {
    rules_.answer(request, *translation, now);
  } else {
    rules_.fail(request, now);
  }
  wake_waiters(now);
  if (std::exchange(was_cut_short_, false)) {
    look_at(now);
  }
  rest(now);
}

void Eps::invalidated(unsigned function, unsigned itag, const PageRange& range,
                      const InvalidationScope& scope, Time now) {
  if (function < rules_.functions()) {
    rules_.invalidate(function, itag, range, scope);
    rest(now);
  }
}

EpsCounters Eps::totals() const {
  const PretranslationCounts& counts = rules_.counts();
  return {sent_,
          counts.failures,
          counts.discarded,
          counts.invalidations_hit,
          counts.invalidations_missed,
          counts.waits,
          counts.faults};
}

void Eps::report(RunResult& result) const {
  EpsResult row;
  static_cast<EpsCounters&>(row) = totals();
  row -= before_;
  row.device = device_;
  for (unsigned f = 0; f < rules_.functions(); ++f) {
    for (unsigned s = 0; s < kStaticStructures; ++s) {
      const StructureRegister& csr = rules_.at(f, static_cast<StaticStructure>(s));
      row.structures += csr.bytes > 0 ? 1 : 0;
      row.translated += csr.is_pretranslated ? 1 : 0;
    }
  }
  result.rows<EpsResult>().push_back(std::move(row));
}

std::vector<CheckResult> Eps::checks_at_rest() const {
  unsigned uses = 0;
  for (unsigned f = 0; f < rules_.functions(); ++f) {
    for (unsigned s = 0; s < kStaticStructures; ++s) {
      uses += rules_.open_uses(f, static_cast<StaticStructure>(s));
    }
  }
  return {{device_ + ": no access by a pre-translated address is under way", uses == 0,
           fmt::format("{} are", uses)}};
}

}  // namespace flitwise
