// SPDX-License-Identifier: Apache-2.0
// A function and a translation agent over links that delay and reorder all they may, while the host
// remaps its pages: once an invalidation is complete, nobody comes with what it took away.
// [INV-04] [INV-05] [INV-07] [INV-08] [INV-27] [TCP-16] [TCP-19]
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>
#include <set>
#include <vector>

#include "ats/invalidation.h"
#include "ats/translation_completion.h"
#include "common/random.h"

namespace flitwise::no_stale_translation_test {
namespace {

constexpr Bdf kAgent = Bdf::of(0, 0, 0), kFunction = Bdf::of(1, 0, 0);
constexpr unsigned kPages = 64, kBlockPages = 4, kClasses = 3, kBlockBits = 14;
constexpr std::uint64_t kPage = 4096;

/// The host's mappings: blocks of four pages, each one large page or four small ones.
class Mappings {
 public:
  Mappings() { remap_all(); }

  TranslationEntry translate(std::uint64_t address) const {
    const std::size_t page = address / kPage;
    TranslationEntry entry;
    const bool is_large = is_large_[page / kBlockPages];
    entry.size_bits = is_large ? kBlockBits : 12;
    entry.translated = frames_[page] & ~PageRange::mask_of(entry.size_bits);
    entry.read = entry.write = true;
    return entry;
  }
  /// Remaps one page or a block; old frames go to `taken`. Returns what has to be invalidated.
  PageRange change(Random& random, std::vector<std::uint64_t>& taken) {
    const std::size_t page = random.below(kPages);
    const std::size_t block = page / kBlockPages;
    if (random.chance(0.6)) {
      taken.push_back(frames_[page]);
      frames_[page] = fresh_ + kPage * (page % kBlockPages);
      fresh_ += kPage * kBlockPages;
      is_large_[block] = false;
      return {page * kPage, 12};
    }
    for (std::size_t i = 0; i < kBlockPages; ++i) {
      taken.push_back(frames_[block * kBlockPages + i]);
    }
    remap(block);
    return {block * kBlockPages * kPage, kBlockBits};
  }

 private:
  void remap_all() {
    for (std::size_t block = 0; block < kPages / kBlockPages; ++block) {
      remap(block);
    }
  }
  void remap(std::size_t block) {
    is_large_[block] = fresh_ / kPage / kBlockPages % 3 != 0;
    for (std::size_t i = 0; i < kBlockPages; ++i) {
      frames_[block * kBlockPages + i] = fresh_ + kPage * i;
    }
    fresh_ += kPage * kBlockPages;
  }
  std::array<std::uint64_t, kPages> frames_{};
  std::array<bool, kPages / kBlockPages> is_large_{};
  std::uint64_t fresh_ = std::uint64_t{1} << 40;
};

struct Ask {
  TranslationAsk ask;
  Tlp request;
  Slot slot = 0;
  bool is_translated = false;
  std::array<std::uint8_t, 64> payload{};
  Tlp completion;
};
struct Use {
  std::uint64_t frame = 0;
  Slot slot = 0;
  bool is_write = false;
  unsigned tc = 0;
  std::uint64_t mark = 0;
};
/// What stands in the upstream queue of one traffic class.
struct Upstream {
  std::optional<Use> use;
  InvalidateCompletion completion;
};

class World {
 public:
  World(std::uint64_t seed, AtcDiscard policy)
      : random_(seed),
        out_(4, policy),
        receiver_({seed % 2 == 0, true, false}, cache_, out_, uses_, writes_) {
    cache_.set_enabled(true);
    settings_.is_enabled = true;
    function_ = sender_.add_function(kFunction);
    sender_.set_depth(function_, 4);
  }

  void step() {
    switch (random_.below(9)) {
      case 0: remap(); break;
      case 1:
      case 2: access(); break;
      case 3: translate_one(); break;
      case 4: reply_one(); break;
      case 5: deliver_invalidation(); break;
      case 6: queue_one(); break;
      case 7: deliver_upstream(); break;
      default:
        finish_read();
        if (receiver_.has_completion()) {
          const InvalidateCompletion completion = receiver_.take_completion();
          upstream_[completion.tc].push_back({std::nullopt, completion});
        }
    }
  }

  unsigned stale = 0, translated = 0, completed = 0;

 private:
  template <class T>
  T take(std::vector<T>& pool) {
    const auto i = static_cast<std::ptrdiff_t>(random_.below(pool.size()));
    T one = pool[static_cast<std::size_t>(i)];
    pool.erase(pool.begin() + i);
    return one;
  }
  void remap() {
    if (!sender_.can_send(function_)) {
      return;
    }
    std::vector<std::uint64_t> taken;
    InvalidateRequest request;
    request.range = mappings_.change(random_, taken);
    request.agent = kAgent;
    request.function = kFunction;
    request.itag = sender_.send(function_, {});
    taken_[request.itag] = taken;
    down_.push_back(request);
  }
  void access() {
    const std::uint64_t address = random_.below(kPages) * kPage;
    const TranslationCache::Entry* const hit = cache_.find(address, {});
    if (hit == nullptr) {
      ask_for(address);
    } else if (uses_.has_room()) {
      Use use;
      use.frame = hit->translate(address);
      use.is_write = random_.chance(0.5);
      use.tc = static_cast<unsigned>(random_.below(kClasses));
      use.slot = uses_.open({address, address + 63}, {});
      unsent_.push_back(use);
      ++translated;
    }
  }
  void ask_for(std::uint64_t address) {
    if (!out_.has_room()) {
      return;
    }
    Ask one;
    one.ask.address = address;
    one.ask.translations = static_cast<unsigned>(
        1 + random_.below(std::min<std::uint64_t>(4, kPages - address / kPage)));
    one.request = translation_request_tlp(one.ask, settings_, kFunction);
    one.slot = out_.open(one.ask, 0);
    asked_.push_back(one);
  }
  void translate_one() {
    if (asked_.empty()) {
      return;
    }
    Ask one = take(asked_);
    std::vector<TranslationEntry> found;
    std::uint64_t at = one.ask.address;
    for (unsigned i = 0; i < one.ask.translations && at < kPages * kPage; ++i) {
      found.push_back(mappings_.translate(at));
      at = PageRange::around(at, found[0].size_bits).last() + 1;
    }
    const unsigned length =
        reply_length(found.data(), static_cast<unsigned>(found.size()), one.request, 0);
    store_reply(one.payload.data(), found.data(), length);
    TranslationReply reply(length, 64);
    CompletionPiece piece;
    reply.next(piece);
    one.completion = translation_cpld(one.request, piece);
    replied_.push_back(one);
  }
  void reply_one() {
    if (replied_.empty()) {
      return;
    }
    const Ask one = take(replied_);
    TranslationReceiver reply(one.request, one.request.has_pasid, 64, 0);
    ASSERT_EQ(reply.check(one.completion, one.payload.data()), TranslationVerdict::kLast);
    reply.accept(one.completion, one.payload.data());
    const CacheablePieces pieces = out_.cacheable(one.slot, reply);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      cache_.insert(pieces[i].range, out_.tag_of(one.slot), pieces[i].translation);
    }
    out_.close(one.slot);
  }
  void deliver_invalidation() {
    if (!down_.empty()) {
      ASSERT_EQ(receiver_.check(down_.front()), InvalidateVerdict::kAccept);
      receiver_.accept(down_.front());
      down_.pop_front();
    }
  }
  // A request comes to its posted or non-posted queue; both keep their order here.
  void queue_one() {
    if (unsent_.empty()) {
      return;
    }
    Use use = take(unsent_);
    if (use.is_write) {
      writes_.note_write(use.tc);
      receiver_.end_use(use.slot);
    } else {
      use.mark = writes_.issued(use.tc);
    }
    upstream_[use.tc].push_back({use, {}});
  }
  void deliver_upstream() {
    std::deque<Upstream>& queue = upstream_[random_.below(kClasses)];
    if (queue.empty()) {
      return;
    }
    const Upstream one = queue.front();
    queue.pop_front();
    if (one.use) {
      stale += dead_.count(one.use->frame) != 0 ? 1U : 0U;
      if (!one.use->is_write) {
        reads_.push_back(*one.use);
      }
      return;
    }
    const CompletionReport report = sender_.complete(one.completion);
    EXPECT_EQ(report.unexpected | report.mismatched, 0U);
    for (std::uint32_t left = report.retired; left != 0; left &= left - 1) {
      const auto itag = static_cast<unsigned>(__builtin_ctz(left));
      dead_.insert(taken_[itag].begin(), taken_[itag].end());
      ++completed;
    }
  }
  void finish_read() {
    if (!reads_.empty()) {
      const Use use = take(reads_);
      stale += dead_.count(use.frame) != 0 ? 1U : 0U;
      writes_.note_pushed(use.tc, use.mark);
      receiver_.end_use(use.slot);
    }
  }

  Random random_;
  Mappings mappings_;
  TranslationSettings settings_;
  TranslationCache cache_{{16, 4, CachePolicy::kLru, 1}};
  OutstandingTranslations out_;
  TranslatedUses uses_{8};
  PostedWrites writes_;
  InvalidationReceiver receiver_;
  InvalidationSender sender_{kAgent, Time::from_us(60'000'000)};
  unsigned function_ = 0;
  std::vector<Ask> asked_, replied_;
  std::vector<Use> unsent_, reads_;
  std::deque<InvalidateRequest> down_;
  std::array<std::deque<Upstream>, kClasses> upstream_;
  std::array<std::vector<std::uint64_t>, kItags> taken_;
  std::set<std::uint64_t> dead_;
};

TEST(NoStaleTranslation, INV_27_OnceAnInvalidationIsComplete) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const AtcDiscard policy : {AtcDiscard::kOverlapping, AtcDiscard::kAll}) {
      SCOPED_TRACE(seed);
      World world(seed, policy);
      for (int i = 0; i < 50'000; ++i) {
        world.step();
      }
      EXPECT_EQ(world.stale, 0U);
      EXPECT_GT(world.translated, 500U);
      EXPECT_GT(world.completed, 500U);
    }
  }
}

}  // namespace
}  // namespace flitwise::no_stale_translation_test
