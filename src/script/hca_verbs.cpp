// SPDX-License-Identifier: Apache-2.0
// The verbs of a host channel adapter, a row each.
#include <fmt/format.h>

#include <algorithm>

#include "script/hca_script.h"

namespace flitwise {

/// What the verbs do.
struct HcaActions {
  static constexpr std::size_t kMostCommands = 4096;
  static constexpr std::uint32_t kMostQpn = 0xffffff;
  using Commands = std::vector<HcaScript::Command>;

  static HcaScript::Adapter& own(HcaScript& script) { return *script.adapter_; }
  static Pretranslation& eps(HcaScript& script) { return own(script).eps; }
  static void tell(HcaScript& script, const Json& event) { script.sink_(event); }
  static void refuse(HcaScript& script, const HcaLine& line, const std::string& detail) {
    tell(script, {{"event", "error"},
                  {"kind", "hca_refused"},
                  {"detail", fmt::format("{}: {}", line.verb->name, detail)}});
  }
  static void set_up(HcaScript& script, const HcaLine& line) {
    script.adapter_.emplace(line.setup);
  }

  /// The function has to be there.
  template <void (*apply)(HcaScript&, const HcaLine&)>
  static void of_function(HcaScript& script, const HcaLine& line) {
    if (const std::uint32_t count = eps(script).functions(); line.function >= count) {
      refuse(script, line,
             fmt::format("function {} seen; expected 0 to {}", line.function, count - 1));
    } else {
      apply(script, line);
    }
  }
  static QpTag tag_of(const HcaLine& line) {
    return {line.function, static_cast<std::uint32_t>(line.numbers.front() & kMostQpn)};
  }

  static void command(HcaScript& script, const HcaLine& line);
  static void end_fetch(HcaScript& script, const HcaLine& line, bool is_good);
  static void fetched(HcaScript& script, const HcaLine& line) { end_fetch(script, line, true); }
  static void fetch_failed(HcaScript& script, const HcaLine& line) {
    end_fetch(script, line, false);
  }
  static void finish(HcaScript& script, const HcaLine& line);
  static void reset(HcaScript& script, const HcaLine& line);
  static void wait(HcaScript& script, const HcaLine& line);
};

void HcaActions::wait(HcaScript& script, const HcaLine& line) {
  constexpr Time kLongest = Time::from_us(3'600'000'000);
  const Time then = own(script).now + Time::from_ns(static_cast<std::int64_t>(line.numbers[0]));
  if (then > kLongest) {
    refuse(script, line, "expected one hour in all at most");
    return;
  }
  own(script).now = then;
}

void HcaActions::command(HcaScript& script, const HcaLine& line) {
  Commands& commands = own(script).commands;
  const std::uint64_t id = line.numbers[1];
  if (!eps(script).is_running(line.function)) {
    refuse(script, line, fmt::format("function {} does not run", line.function));
  } else if (commands.size() == kMostCommands ||
             any_of(commands, [&](const auto& one) { return one.id == id; })) {
    refuse(
        script, line,
        fmt::format("command {} seen; expected another id than those of the {} under way, and up "
                    "to {} of them",
                    id, commands.size(), kMostCommands));
  } else {
    commands.push_back({id, tag_of(line)});
    script.look_up();
  }
}

// What waits for the state goes on in its order, or is of no use.
void HcaActions::end_fetch(HcaScript& script, const HcaLine& line, bool is_good) {
  HcaScript::Adapter& adapter = own(script);
  const QpTag tag = tag_of(line);
  const auto fetch = std::find_if(adapter.fetches.begin(), adapter.fetches.end(),
                                  [&](const auto& one) { return one.tag == tag; });
  if (fetch == adapter.fetches.end()) {
    refuse(script, line,
           fmt::format("nothing is fetched of QP {:#x} of function {}", tag.number, tag.function));
    return;
  }
  const Slot entry = fetch->entry;
  adapter.fetches.erase(fetch);
  if (adapter.cache.end_fetch(entry, is_good)) {
    adapter.psns[entry] = adapter.memory[{tag.function, tag.number}];
  }
  for (auto one = adapter.commands.begin(); one != adapter.commands.end();) {
    if (one->entry != entry || one->has_state) {
      ++one;
    } else if (is_good) {
      one->has_state = true;
      tell(script, {{"event", "hca_command"},
                    {"command", one->id},
                    {"outcome", "ready"},
                    {"entry", entry},
                    {"psn", adapter.psns[entry]}});
      ++one;
    } else {
      one = script.drop(one, "failed");
    }
  }
  script.look_up();
}

// A command is done, and its packets have moved the PSN of its queue pair on.
void HcaActions::finish(HcaScript& script, const HcaLine& line) {
  HcaScript::Adapter& adapter = own(script);
  const auto one = std::find_if(
      adapter.commands.begin(), adapter.commands.end(),
      [&](const auto& command) { return command.id == line.numbers[0] && command.has_state; });
  if (one == adapter.commands.end()) {
    refuse(script, line, fmt::format("no command {} has its state", line.numbers[0]));
    return;
  }
  if (line.numbers[1] > 0) {
    adapter.psns[one->entry] =
        static_cast<std::uint32_t>(adapter.psns[one->entry] + line.numbers[1]) & kMostQpn;
    adapter.cache.mark_dirty(one->entry);
  }
  adapter.cache.unpin(one->entry);
  adapter.commands.erase(one);
  script.look_up();
}

// Work that has its state goes on to its end.
void HcaActions::reset(HcaScript& script, const HcaLine& line) {
  eps(script).stop(line.function);
  own(script).cache.reset(line.function);
  Commands& commands = own(script).commands;
  for (auto one = commands.begin(); one != commands.end();) {
    const bool is_lost = one->tag.function == line.function && !one->has_state;
    one = is_lost ? script.drop(one, "dropped") : one + 1;
  }
  script.look_up();
}

namespace {

void tell_entry(HcaScript& script, const HcaLine& line) {
  auto& adapter = HcaActions::own(script);
  const QpTag tag = HcaActions::tag_of(line);
  const std::optional<Slot> entry = adapter.cache.find(tag);
  Json event = {{"event", "hca_entry"},
                {"function", tag.function},
                {"qpn", tag.number},
                {"state", name_of(entry ? adapter.cache.state(*entry) : QpEntryState::kInvalid)},
                {"memory_psn", adapter.memory[{tag.function, tag.number}]}};
  if (entry) {
    event["entry"] = *entry;
    event["pins"] = adapter.cache.pins(*entry);
    event["psn"] = adapter.psns[*entry];
  }
  HcaActions::tell(script, event);
}

void write_structure(HcaScript& script, const HcaLine& line) {
  if (!HcaActions::eps(script).write(line.function, line.structure, line.numbers[0],
                                     line.numbers[1])) {
    HcaActions::refuse(script, line,
                       fmt::format("{} bytes at {:#x} seen; expected an end within 64 bits",
                                   line.numbers[1], line.numbers[0]));
  }
}

void allow_structure(HcaScript& script, const HcaLine& line) {
  HcaActions::eps(script).allow(line.function, line.structure, line.numbers[0] != 0);
}

void start_function(HcaScript& script, const HcaLine& line) {
  HcaActions::eps(script).start(line.function);
}

void stop_function(HcaScript& script, const HcaLine& line) {
  HcaActions::eps(script).stop(line.function);
}

void enable_adapter(HcaScript& script, const HcaLine& line) {
  HcaActions::eps(script).set_enabled(line.numbers[0] != 0);
}

void scan(HcaScript& script, const HcaLine& /*line*/) {
  auto& adapter = HcaActions::own(script);
  while (const auto request = adapter.eps.next(adapter.now)) {
    std::string names;
    for (unsigned i = 0; i < kStaticStructures; ++i) {
      if ((request->structures >> i & 1U) != 0) {
        names += (names.empty() ? "" : " ") + std::string(name_of(static_cast<StaticStructure>(i)));
      }
    }
    HcaActions::tell(script, {{"event", "hca_request"},
                              {"request", request->id},
                              {"function", request->function},
                              {"addr", json_value::hex_number(request->address)},
                              {"structures", names}});
  }
}

void refuse_request(HcaScript& script, const HcaLine& line) {
  HcaActions::refuse(script, line, fmt::format("no request {} is under way", line.numbers[0]));
}

void answer_request(HcaScript& script, const HcaLine& line) {
  TranslationEntry entry;
  entry.size_bits = line.range_bits;
  entry.translated = PageRange::around(line.numbers[1], line.range_bits).base;
  entry.read = line.reads;
  entry.write = line.writes;
  auto& adapter = HcaActions::own(script);
  if (!adapter.eps.answer(static_cast<std::uint32_t>(line.numbers[0]), entry, adapter.now)) {
    refuse_request(script, line);
  }
}

void fail_request(HcaScript& script, const HcaLine& line) {
  auto& adapter = HcaActions::own(script);
  if (!adapter.eps.fail(static_cast<std::uint32_t>(line.numbers[0]), adapter.now)) {
    refuse_request(script, line);
  }
}

void access_structure(HcaScript& script, const HcaLine& line) {
  const StructureAccess access = HcaActions::eps(script).begin(line.function, line.structure,
                                                               line.numbers[0], line.numbers[1]);
  Json event = {{"event", "hca_access"},
                {"function", line.function},
                {"structure", name_of(line.structure)},
                {"verdict", name_of(access.verdict)}};
  if (access.verdict == StructureAccess::Verdict::kGo) {
    event["at"] = access.at == AddressType::kTranslated ? "10" : "00";
    event["addr"] = json_value::hex_number(access.address);
  }
  HcaActions::tell(script, event);
}

void tell_invalidated(HcaScript& script, std::uint32_t function, unsigned itag) {
  HcaActions::tell(script, {{"event", "hca_invalidated"}, {"function", function}, {"itag", itag}});
}

void serve_access(HcaScript& script, const HcaLine& line) {
  Pretranslation& eps = HcaActions::eps(script);
  if (eps.open_uses(line.function, line.structure) == 0) {
    HcaActions::refuse(
        script, line,
        fmt::format("no access to {} with AT=10 is under way", name_of(line.structure)));
    return;
  }
  const std::uint32_t complete = eps.end(line.function, line.structure);
  for (unsigned itag = 0; itag < 32; ++itag) {
    if ((complete >> itag & 1U) != 0) {
      tell_invalidated(script, line.function, itag);
    }
  }
}

void invalidate_range(HcaScript& script, const HcaLine& line) {
  Pretranslation& eps = HcaActions::eps(script);
  const auto itag = static_cast<unsigned>(line.numbers[0]);
  if (itag >= 32 || eps.is_waiting(line.function, itag)) {
    HcaActions::refuse(script, line,
                       fmt::format("ITag {} seen; expected 0 to 31, and none that waits", itag));
    return;
  }
  const auto result = eps.invalidate(
      line.function, itag, PageRange::around(line.numbers[1], line.range_bits), line.scope);
  HcaActions::tell(script, {{"event", "hca_invalidation"},
                            {"function", line.function},
                            {"itag", itag},
                            {"structures", result.structures}});
  if (result.is_complete) {
    tell_invalidated(script, line.function, itag);
  }
}

void tell_structure(HcaScript& script, const HcaLine& line) {
  const Pretranslation& eps = HcaActions::eps(script);
  const StructureRegister& csr = eps.at(line.function, line.structure);
  HcaActions::tell(script, {{"event", "hca_structure"},
                            {"function", line.function},
                            {"structure", name_of(line.structure)},
                            {"addr", json_value::hex_number(csr.address)},
                            {"bytes", csr.bytes},
                            {"pretranslated", csr.is_pretranslated},
                            {"valid", csr.is_valid},
                            {"allow", csr.allows_translation},
                            {"record", name_of(eps.record(line.function, line.structure))},
                            {"uses", eps.open_uses(line.function, line.structure)}});
}

void tell_counts(HcaScript& script, const HcaLine& /*line*/) {
  const auto& adapter = HcaActions::own(script);
  const QpStateCache::Counts& cache = adapter.cache.counts();
  const PretranslationCounts& eps = adapter.eps.counts();
  HcaActions::tell(script, {{"event", "hca_counts"},
                            {"hits", cache.hits},
                            {"fetches", cache.fetches},
                            {"waits", cache.waits},
                            {"stalls", cache.stalls},
                            {"write_backs", cache.write_backs},
                            {"translated", eps.translated},
                            {"untranslated", eps.untranslated},
                            {"access_waits", eps.waits},
                            {"access_faults", eps.faults},
                            {"requests", eps.requests},
                            {"failures", eps.failures},
                            {"discarded", eps.discarded},
                            {"invalidations_hit", eps.invalidations_hit},
                            {"invalidations_missed", eps.invalidations_missed}});
}

}  // namespace

const std::vector<HcaVerb>& hca_verbs() {
  using A = HcaArgument;
  using Do = HcaActions;
  static const std::vector<HcaVerb> kVerbs = {
      {"hca", {A::kSetup}, Do::set_up},
      {"command", {A::kFunction, A::kQpn, A::kNumber}, Do::of_function<Do::command>},
      {"fetched", {A::kFunction, A::kQpn}, Do::of_function<Do::fetched>},
      {"fetch_failed", {A::kFunction, A::kQpn}, Do::of_function<Do::fetch_failed>},
      {"finish", {A::kNumber, A::kNumber}, Do::finish},
      {"entry", {A::kFunction, A::kQpn}, Do::of_function<tell_entry>},
      {"structure",
       {A::kFunction, A::kStructure, A::kAddress, A::kAddress},
       Do::of_function<write_structure>},
      {"allow", {A::kFunction, A::kStructure, A::kFlag}, Do::of_function<allow_structure>},
      {"start", {A::kFunction}, Do::of_function<start_function>},
      {"stop", {A::kFunction}, Do::of_function<stop_function>},
      {"reset", {A::kFunction}, Do::of_function<Do::reset>},
      {"enable", {A::kFlag}, enable_adapter},
      {"wait", {A::kNumber}, Do::wait},
      {"scan", {}, scan},
      {"answer", {A::kNumber, A::kAddress, A::kRange, A::kRights}, answer_request},
      {"fail", {A::kNumber}, fail_request},
      {"access",
       {A::kFunction, A::kStructure, A::kAddress, A::kNumber},
       Do::of_function<access_structure>},
      {"served", {A::kFunction, A::kStructure}, Do::of_function<serve_access>},
      {"invalidate",
       {A::kFunction, A::kNumber, A::kPasids, A::kAddress, A::kRange},
       Do::of_function<invalidate_range>},
      {"status", {A::kFunction, A::kStructure}, Do::of_function<tell_structure>},
      {"counts", {}, tell_counts}};
  return kVerbs;
}

}  // namespace flitwise
