// SPDX-License-Identifier: Apache-2.0
// The policies, each a few lines.
#include "ats/translation_policy.h"

#include <string>
#include <vector>

#include "ats/translation_request.h"
#include "flitwise/error.h"

namespace flitwise {

namespace {

/// The same number for every miss.
class AlwaysPolicy final : public TranslationPolicy {
 public:
  explicit AlwaysPolicy(unsigned translations) : translations_(translations) {}
  unsigned translations_for(const MissedAccess&) const override { return translations_; }
  void note_miss(const MissedAccess&) override {}

 private:
  const unsigned translations_;
};

/// Counts the misses of pages in a direct-mapped table; a page that takes another's place starts
/// anew. model: counts stop at the threshold and do not age.
class ReusePolicy final : public TranslationPolicy {
 public:
  ReusePolicy(unsigned threshold, unsigned pages, unsigned stu)
      : threshold_(threshold), shift_(stu_bits(stu)), counts_(pages) {}

  unsigned translations_for(const MissedAccess& miss) const override {
    const Count& count = counts_[index_of(miss)];
    return is_same(count, miss) && count.misses >= threshold_ ? 1 : 0;
  }
  void note_miss(const MissedAccess& miss) override {
    Count& count = counts_[index_of(miss)];
    if (!is_same(count, miss)) {
      count = {miss.address >> shift_, miss.pasid, 0};
    }
    count.misses += count.misses < threshold_ ? 1U : 0U;
  }

 private:
  struct Count {
    std::uint64_t page = 0;
    OptionalId<Pasid> pasid;
    unsigned misses = 0;
  };
  std::size_t index_of(const MissedAccess& miss) const {
    const std::uint64_t pasid = miss.pasid.has_value() ? to_int(*miss.pasid) : 0;
    return ((miss.address >> shift_) ^ pasid) & (counts_.size() - 1);
  }
  bool is_same(const Count& count, const MissedAccess& miss) const {
    return count.misses != 0 && count.page == miss.address >> shift_ && count.pasid == miss.pasid;
  }

  const unsigned threshold_;
  const unsigned shift_;
  std::vector<Count> counts_;
};

/// Software chooses buffer by buffer.
class HintPolicy final : public TranslationPolicy {
 public:
  unsigned translations_for(const MissedAccess& miss) const override {
    return miss.has_hint ? 1 : 0;
  }
  void note_miss(const MissedAccess&) override {}
};

void check_ranges(const TranslationPolicyConfig& config) {
  const bool is_power_of_two = (config.reuse_pages & (config.reuse_pages - 1)) == 0;
  FLITWISE_CHECK(
      config.reuse_threshold >= 1 && config.reuse_threshold <= 255 && config.reuse_pages >= 1 &&
          is_power_of_two && config.pages_ahead >= 1 && config.pages_ahead < kMaxTranslations,
      "reuse threshold " + std::to_string(config.reuse_threshold) + ", pages " +
          std::to_string(config.reuse_pages) + ", ahead " + std::to_string(config.pages_ahead));
}

}  // namespace

std::unique_ptr<TranslationPolicy> make_translation_policy(const TranslationPolicyConfig& config,
                                                           unsigned stu) {
  check_ranges(config);
  switch (config.kind) {
    case TranslationPolicyKind::kAlways:
      return std::make_unique<AlwaysPolicy>(1);
    case TranslationPolicyKind::kReuse:
      return std::make_unique<ReusePolicy>(config.reuse_threshold, config.reuse_pages, stu);
    case TranslationPolicyKind::kPrefetch:
      return std::make_unique<AlwaysPolicy>(1 + config.pages_ahead);
    case TranslationPolicyKind::kHint:
      return std::make_unique<HintPolicy>();
  }
  FLITWISE_CHECK(false, "translation policy");
}

}  // namespace flitwise
