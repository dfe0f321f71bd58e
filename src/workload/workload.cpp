// SPDX-License-Identifier: Apache-2.0
// The three kinds of stream and their factory.
#include "workload/workload.h"

#include <fmt/format.h>

#include "flitwise/error.h"
#include "workload/domain_chooser.h"
#include "workload/message_source.h"
#include "workload/nic_profile.h"
#include "workload/trace_reader.h"

namespace flitwise {

namespace {

/// What a message or a line of a trace asks for.
template <class Source>
WorkItem dma_of(const Source& source) {
  WorkItem item;
  item.at = source.at;
  item.domain = source.domain;
  item.op = source.is_read ? Op::kRead : Op::kWrite;
  item.address = source.address;
  item.bytes = source.bytes;
  return item;
}

/// Each message is one DMA read or write.
class PlainWorkload : public Workload {
 public:
  PlainWorkload(const WorkloadConfig& config, std::uint64_t seed, std::uint64_t warmup)
      : source_(config, seed, warmup) {}

  [[gnu::flatten]] bool next(WorkItem& item) override {
    Message message;
    if (!source_.next(message)) {
      return false;
    }
    item = dma_of(message);
    item.ends_context = message.ends_context;
    return true;
  }
  std::uint64_t requests() const override { return source_.requests(); }

 private:
  MessageSource source_;
};

/// Each message is what a network adapter makes of it.
class NicWorkload : public Workload {
 public:
  NicWorkload(const WorkloadConfig& config, const DeviceConfig& device, std::uint64_t seed,
              std::uint64_t warmup)
      : source_(config, seed, warmup), profile_(config, device) {}

  bool next(WorkItem& item) override {
    if (position_ == count_) {
      Message message;
      if (!source_.next(message)) {
        return false;
      }
      count_ = profile_.expand(message, items_);
      position_ = 0;
    }
    item = items_[position_++];
    return true;
  }
  std::uint64_t requests() const override { return source_.requests(); }

 private:
  MessageSource source_;
  NicProfile profile_;
  NicProfile::Items items_{};
  unsigned position_ = 0;
  unsigned count_ = 0;
};

/// A user's trace, line by line.
class TraceWorkload : public Workload {
 public:
  TraceWorkload(const WorkloadConfig& config, std::uint64_t warmup)
      : reader_(config.trace, config.domains) {
    if (warmup >= reader_.records()) {
      throw ConfigError({{"config", 0, 0, "run.warmup",
                          fmt::format("is {}; expected less than the {} lines of {}", warmup,
                                      reader_.records(), config.trace)}});
    }
  }

  bool next(WorkItem& item) override {
    if (!reader_.next(record_)) {
      return false;
    }
    item = dma_of(record_);
    return true;
  }
  std::uint64_t requests() const override { return reader_.records(); }

 private:
  TraceReader reader_;
  TraceRecord record_;
};

}  // namespace

std::unique_ptr<Workload> Workload::make(const WorkloadConfig& config, const DeviceConfig& device,
                                         std::uint64_t seed, std::uint64_t warmup) {
  switch (config.kind) {
    case WorkloadKind::kPostedWrite:
    case WorkloadKind::kRead:
    case WorkloadKind::kReadWrite:
      return std::make_unique<PlainWorkload>(config, seed, warmup);
    case WorkloadKind::kNic:
      return std::make_unique<NicWorkload>(config, device, seed, warmup);
    case WorkloadKind::kTrace:
      return std::make_unique<TraceWorkload>(config, warmup);
    case WorkloadKind::kHostile:
      break;
  }
  throw ConfigError({{"config", 0, 0, "workload.kind",
                      "is hostile, which is no stream of requests; expected another kind here"}});
}

std::uint32_t domain_ids(const WorkloadConfig& config) {
  const bool is_generated =
      config.kind != WorkloadKind::kTrace && config.kind != WorkloadKind::kHostile;
  return is_generated && config.domain_choice == DomainChoice::kChurn
             ? config.domains * kChurnPoolFactor
             : config.domains;
}

std::uint64_t buffer_end(const WorkloadConfig& config) {
  const std::uint64_t per_domain =
      config.buffer_size + (config.kind == WorkloadKind::kNic ? NicProfile::kRingsBytes : 0);
  return config.buffer_base + domain_ids(config) * per_domain;
}

}  // namespace flitwise
