// SPDX-License-Identifier: Apache-2.0
/// The device's use of translations: an ATC for each function, what each TLP does with it, and the
/// transfers that wait for an answer. Rules: src/ats. TranslatedPath sends and receives.
// Longer than 150 lines: accesses, requests, invalidations and page requests of one ATC.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ats/function_atc.h"
#include "ats/page_request_interface.h"
#include "ats/translation_request.h"
#include "common/due_queue.h"
#include "endpoint/line_seams.h"
#include "endpoint/parked_transfers.h"
#include "flitwise/config.h"
#include "flitwise/result.h"

namespace flitwise {

class AtsUnit {
 public:
  /// pages: the interface of the device; null: it has none. It outlives the unit.
  /// seed: of random replacement.
  AtsUnit(const DeviceConfig& device, std::uint64_t seed, PageRequestInterface* pages);

  /// Software has set a function up anew; one that has never been enabled is not made for it.
  /// [CFG-01] [CFG-02] [CFG-07]
  void configure(unsigned function, const TranslationSettings& settings);
  void set_pasid(bool is_enabled) { has_pasid_ = is_enabled; }  ///< PASID Enable of the device
  bool has_pasid() const { return has_pasid_; }  ///< may its functions send PASIDs? [CFG-11]
  /// Has software ever touched it, or an invalidation?
  bool knows(unsigned function) const { return functions_[function] != nullptr; }
  /// Its reset is over: all is forgotten. [CFG-03] [CFG-04] [PRI-38]
  void reset(unsigned function, Bdf bdf);

  // ---- accesses
  /// Asks the ATC. `parked`: where the TLP comes from a transfer that had waited. Counts a hit or a
  /// miss unless `was_counted`.
  AtsRoute route(const AtsAccess& access, const ParkedTransfer* parked, bool was_counted);
  /// A translated write goes into the posted queue now. [INV-07]
  void write_sent(unsigned function) { functions_[function]->atc.writes.note_write(kTrafficClass); }
  /// A read has this tag now; `translated`: what it reads, if by a translated address. [INV-04]
  /// structure: whose address the firmware has translated, where that is so.
  void read_opened(unsigned function, std::uint16_t tag, const AtsAccess* translated,
                   std::optional<StaticStructure> structure = {});
  /// It has its last completion, or never will. is_pushing: it came behind all posted requests that
  /// were sent before it. Returns the structure that it was opened with. [INV-04] [INV-07]
  std::optional<StaticStructure> read_ended(unsigned function, std::uint16_t tag, bool is_pushing);

  // ---- the line of CXL.cache that waits for its address
  /// What is known of this access: of another one it is forgotten. It insists on a translation.
  ParkedTransfer& line_for(const AtsAccess& access);
  void forget_line() { has_line_ = false; }
  /// The line, if it waits for this request.
  ParkedTransfer* line_behind(unsigned function, Slot request) {
    const bool waits = has_line_ && line_.state == ParkedState::kAwaitsReply &&
                       line_.access.function == function && line_.request == request;
    return waits ? &line_ : nullptr;
  }
  /// REQUIRES: the line has a CQID, or gets one now: there is room for a use of each. [INV-04]
  LineAddresses::Use open_use(const AtsAccess& access);
  void end_use(const LineAddresses::Use& use);

  // ---- Translation Requests
  /// One that is out and will tell what this access wants to know.
  std::optional<Slot> request_for(const AtsAccess& access) const;
  /// A request keeps its place until its reply is at the ATC. [ATR-28]
  bool has_room_for_request(unsigned function, Time now);
  /// What to ask for the access. REQUIRES: route() said kAsk.
  TranslationAsk ask_for(const AtsAccess& access, unsigned translations) const;
  const TranslationSettings& settings(unsigned function) const {
    return functions_[function]->settings;
  }
  /// Books a request that goes out as this TLP, `counts`: for a measured transfer.
  /// REQUIRES: has_room_for_request().
  Slot open_request(unsigned function, const TranslationAsk& ask, const Tlp& request, bool counts);
  /// A completion for it; it is taken in where more or nothing is to come.
  TranslationVerdict take_reply(unsigned function, Slot request, const Packet& packet) {
    return take_in(functions_[function]->pending[request].receiver, packet);
  }
  static TranslationVerdict take_in(TranslationReceiver& receiver, const Packet& packet);
  /// It has ended: who waited for it goes on at `when`. REQUIRES: the verdict is not kPartial.
  void end_request(unsigned function, Slot request, TranslationVerdict verdict, Time when);
  /// Nobody answered. [ATR-25]
  void give_up_request(unsigned function, Slot request) {
    functions_[function]->pending[request].is_out = false;
    functions_[function]->atc.requests.close(request);
  }

  // ---- accesses that wait for the address of a static structure
  static constexpr Slot kStructure = 0xffff'fffe;  ///< in the place of a request
  void structures_set(Time when);

  // ---- invalidations
  InvalidateVerdict invalidate(unsigned function, const InvalidateRequest& request);
  bool has_completion(unsigned function) const {
    return functions_[function] != nullptr &&
           functions_[function]->atc.invalidations.has_completion();
  }
  InvalidateCompletion take_completion(unsigned function) {
    return functions_[function]->atc.invalidations.take_completion();
  }

  // ---- page requests
  PageRequestInterface* pages() { return pages_; }
  /// Does asking for a page lead anywhere, now or later? [PRI-11] [PRI-19]
  bool can_ask_for_pages() const;
  /// The group that asks for the page of this access already, if there is one.
  std::optional<std::uint16_t> group_for(const AtsAccess& access);
  /// A group for the page of this access and those behind it, as far as `bytes` from it on, credits
  /// and device.pri.group_pages reach. REQUIRES: pages()->can_open(1). [PRI-27]
  struct NewGroup {
    std::uint16_t index;
    unsigned pages;
  };
  NewGroup open_group(const AtsAccess& access, std::uint64_t bytes, Bdf bdf);
  /// Its next request, for the n-th page.
  PageRequest next_page_request(const NewGroup& group, const AtsAccess& access, unsigned n);
  /// Software has written the interface's registers: who waits for nothing goes on. [PRI-23]
  void pages_written(Time when);
  /// Those whose group was answered ask for their translation again. [PRI-08]
  void page_is_there(std::uint16_t index, Time when);

  ParkedTransfers parked;

  void start_window();
  /// One for each function that software or an invalidation has touched.
  std::vector<AtsResult> results(const std::string& device) const;
  std::vector<CheckResult> checks(const std::string& device) const;
  std::string waiting() const;

 private:
  static constexpr unsigned kTrafficClass = 0;  // of all requests: there is one virtual channel
  static constexpr Slot kNoUse = 0xffff'ffff;

  struct Pending {
    TranslationAsk ask;
    AddressSpan implied;
    TranslationReceiver receiver;
    bool is_out = false;
  };
  struct Read {
    Slot use = kNoUse;
    std::uint64_t issued = 0;  // writes that its completion shows to be pushed
    std::optional<StaticStructure> structure;
  };
  struct Function {
    Function(const DeviceConfig& device, std::uint64_t seed);
    FunctionAtc atc;
    TranslationSettings settings;
    TranslationPolicy policy;
    std::vector<Pending> pending;  // by slot of atc.requests
    DueQueue<Slot> replies;        // on their way to the ATC
    std::vector<Read> reads;       // by tag
    std::uint32_t epoch = 1;       // of its uses: a reset ends them all
    AtsResult counts, window;
  };
  Function& function(unsigned index);
  unsigned pending_invalidations() const;
  void miss(Function& one, const AtsAccess& access, const ParkedTransfer* waited, bool is_new,
            AtsRoute& route);
  void settle(ParkedTransfer& one, const Pending& pending, const CacheablePieces& found,
              bool is_struck) const;
  void release(Slot slot, Time when);
  void take_grant(ParkedTransfer& one) const;

  const DeviceConfig device_;
  const std::uint64_t seed_;
  PageRequestInterface* const pages_;
  std::vector<std::unique_ptr<Function>> functions_;
  bool has_pasid_ = false;
  ParkedTransfer line_;
  bool has_line_ = false;
};

}  // namespace flitwise
