// SPDX-License-Identifier: Apache-2.0
/// The non-posted requests of one device that wait for completions: tags per function, what is
/// still owed, and which one times out first.
#pragma once

#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/ranges.h"
#include "dhi/device_handle_table.h"
#include "flitwise/packet.h"
#include "tlp/splitter.h"
#include "tlp/tag_pool.h"

namespace flitwise {

/// A tag whose request has timed out is held back for so long, or for a second completion timeout
/// where that is longer, unless its last completion comes before: no completer of the default range
/// takes longer. model: our choice [LNK-9.18]
inline constexpr Time kLongestCompletion = Time::from_us(50'000);

/// One request, from its tag to its last completion.
struct OutstandingRequest {
  PacketRef request;
  Reassembly reassembly;
  HandlePin pin;
  std::uint64_t posted_serial =
      0;  ///< all posted requests up to it are pushed by this one's completion [DHI D10]
  std::uint32_t transfer = 0;  ///< the shell's transfer slot
  std::uint64_t offset = 0;    ///< of this request's first byte in the transfer
  std::uint32_t received = 0;  ///< bytes
  bool is_poisoned = false;    ///< some of them: it fails with its last completion [LNK-9.26]
  Time deadline{};             ///< completion timeout [LNK-9.18]
};

class OutstandingRequests {
 public:
  /// `functions` tag pools of `tag_bits` bits, made when first used. [LNK-9.8]
  OutstandingRequests(unsigned functions, unsigned tag_bits)
      : tag_bits_(tag_bits), enabled_tag_bits_(tag_bits), functions_(functions) {}
  /// Software has enabled tags of so many bits; 10 are all that the device has. Requests that are
  /// out keep their tags. REQUIRES: the device has them, else its register would not say so.
  /// [LNK-9.8]
  void set_tag_bits(unsigned enabled) {
    enabled_tag_bits_ = enabled >= 10 ? tag_bits_ : enabled;
    for (const std::unique_ptr<Function>& function : functions_) {
      if (function) {
        function->tags.set_bits(enabled_tag_bits_);
      }
    }
  }

  std::size_t free_tags(unsigned function) { return owner(function).tags.free(); }
  /// Requests of one function that are out.
  std::size_t in_use(unsigned function) const {
    return functions_[function] == nullptr ? 0 : functions_[function]->tags.in_use();
  }
  /// Takes a tag and records the request. REQUIRES: free_tags(function) > 0; deadlines never
  /// decrease.
  std::uint16_t open(unsigned index, OutstandingRequest&& request) {
    if (free_.empty()) {
      free_.push_back(slots_.emplace_back());
    }
    Slot& slot = free_.front();
    out_.splice(out_.end(), free_, free_.begin());
    slot.request = std::move(request);
    slot.function = index;
    slot.tag = owner(index).tags.take();
    owner(index).slots[slot.tag] = &slot;
    return slot.tag;
  }
  /// Null where no such request is out: an Unexpected Completion.
  OutstandingRequest* find(unsigned function, std::uint16_t tag) {
    if (function >= functions_.size() || !functions_[function] ||
        !functions_[function]->tags.is_out(tag)) {
      return nullptr;
    }
    return &functions_[function]->slots[tag]->request;
  }
  /// The function whose request went out with this handle as its Requester ID and this tag: an
  /// error completion echoes a handle that names no domain at the host. [DHI D16]
  std::optional<unsigned> function_with(Bdf handle, std::uint16_t tag) {
    for (unsigned function = 0; function < functions_.size(); ++function) {
      const OutstandingRequest* const one = find(function, tag);
      if (one != nullptr && one->request->tlp.id_is_handle &&
          one->request->tlp.requester_id == handle) {
        return function;
      }
    }
    return std::nullopt;
  }
  void close(unsigned index, std::uint16_t tag) {
    forget(index, tag);
    owner(index).tags.give(tag);
  }
  /// The request has given up, and something may still come for it: its tag is held back until
  /// last_came(), or until then. REQUIRES: `until` never decreases. [LNK-9.18]
  void close_late(unsigned index, std::uint16_t tag, Time until) {
    forget(index, tag);
    owner(index).tags.hold(tag);
    held_.push_back({index, tag, until});
  }
  /// The last completion of a request that had given up has come; false: there is none.
  bool last_came(unsigned function, std::uint16_t tag) {
    const auto found =
        find_if(held_, [&](const Held& one) { return one.function == function && one.tag == tag; });
    return found != held_.end() && (release(found), true);
  }
  /// Tags that have been held back until now are free.
  void release_due(Time now) {
    while (!held_.empty() && held_.front().until <= now) {
      release(held_.begin());
    }
  }
  /// When the next tag is free again, if nothing comes for it; never where none is held back.
  Time next_release() const { return held_.empty() ? Time::never() : held_.front().until; }
  std::size_t held() const { return held_.size(); }

  /// The request that times out first.
  struct Oldest {
    unsigned function;
    std::uint16_t tag;
    Time deadline;
  };
  std::optional<Oldest> oldest() const {
    return out_.empty() ? std::nullopt
                        : std::optional<Oldest>({out_.front().function, out_.front().tag,
                                                 out_.front().request.deadline});
  }
  std::size_t size() const { return out_.size(); }
  /// Tags that each function has. [LNK-9.8]
  std::size_t tags_per_function() const { return TagPool(enabled_tag_bits_).size(); }
  /// Tags that are out, of all functions.
  std::size_t tags_out() const {
    return sum_of<std::size_t>(functions_, [](const std::unique_ptr<Function>& function) {
      return function ? function->tags.in_use() : 0;
    });
  }

 private:
  struct Held {
    unsigned function;
    std::uint16_t tag;
    Time until;
  };
  struct Slot : boost::intrusive::list_base_hook<> {
    OutstandingRequest request;
    unsigned function = 0;
    std::uint16_t tag = 0;
  };
  struct Function {
    [[gnu::noinline]] Function(unsigned tag_bits, unsigned enabled)
        : tags(tag_bits), slots(1U << tag_bits) {
      tags.set_bits(enabled);
    }
    TagPool tags;
    std::vector<Slot*> slots;  // by tag
  };
  void forget(unsigned index, std::uint16_t tag) {
    Slot& slot = *owner(index).slots[tag];
    slot.request.request.reset();
    slot.request.pin = {};
    free_.splice(free_.begin(), out_, out_.iterator_to(slot));
  }
  void release(std::deque<Held>::iterator one) {
    owner(one->function).tags.release(one->tag);
    held_.erase(one);
  }
  Function& owner(unsigned index) {
    std::unique_ptr<Function>& one = functions_[index];
    if (!one) {
      one = std::make_unique<Function>(tag_bits_, enabled_tag_bits_);
    }
    return *one;
  }

  const unsigned tag_bits_;  // as many as the device has
  unsigned enabled_tag_bits_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::deque<Slot> slots_;
  std::deque<Held> held_;  // tags that are held back, from the first to be free on
  boost::intrusive::list<Slot> out_, free_;  // the former from the oldest on
};

}  // namespace flitwise
