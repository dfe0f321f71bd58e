// SPDX-License-Identifier: Apache-2.0
/// Answers to Translation Requests at a root port: one translation after another, then all of them
/// in one or two completions. [ATR-21]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ats/translation_completion.h"
#include "iommu/tlp_request.h"
#include "iommu/walk.h"
#include "root_complex/port_output.h"

namespace flitwise {

class TranslationReplies {
 public:
  TranslationReplies(unsigned rcb, unsigned split, PortOutput& output)
      : rcb_(rcb), split_(split), output_(output) {}

  /// Of one request on its way through the agent.
  struct Asked {
    std::uint64_t ticket;
    const Packet& packet;
    bool has_pasid;
    unsigned stu;
  };
  /// Takes one translation in; where to look for the next one, if it needs that.
  std::optional<std::uint64_t> next_after(const Asked& asked, const WalkResult& result);
  /// The last outcome is known: false where it refuses the request. A refusal behind the first
  /// translation ends the reply there. [ATR-01] [ATR-24] [IOM-7.1]
  bool answer(const Asked& asked, const WalkResult& result, Time when);

 private:
  struct Gather {
    std::uint64_t ticket;
    TranslationGather translations;
  };
  std::vector<Gather>::iterator find(std::uint64_t ticket);

  const unsigned rcb_, split_;
  PortOutput& output_;
  std::vector<Gather> gathers_;  // replies with more than one translation, as far as they are found
};

}  // namespace flitwise
