// SPDX-License-Identifier: Apache-2.0
// Streams by the kind of workload.
#include "workload/workload.h"

#include <fmt/format.h>

#include "flitwise/error.h"
#include "workload/message_source.h"
#include "workload/nic_profile.h"
#include "workload/trace_reader.h"

namespace flitwise {
namespace {

/// Each message is one DMA read or write.
class PlainWorkload final : public Workload {
 public:
  PlainWorkload(const WorkloadConfig& config, std::uint64_t seed, std::uint64_t warmup)
      : source_(config, seed, warmup) {}

  [[gnu::flatten]] bool next(WorkItem& item) override {
    Message message;
    if (!source_.next(message)) {
      return false;
    }
    const Op op = message.is_read ? Op::kRead : Op::kWrite;
    item = {message.at, message.domain, op, message.address, message.bytes, message.ends_context};
    return true;
  }
  std::uint64_t left() const override { return source_.left(); }

 private:
  MessageSource source_;
};

std::unique_ptr<Workload> trace_of(const WorkloadConfig& config, std::uint64_t warmup) {
  auto reader = std::make_unique<TraceReader>(config.trace, config.domains);
  if (warmup >= reader->records()) {
    throw ConfigError({{"config", 0, 0, "run.warmup",
                        fmt::format("is {}; expected less than the {} lines of {}", warmup,
                                    reader->records(), config.trace)}});
  }
  return reader;
}

}  // namespace

std::unique_ptr<Workload> Workload::make(const WorkloadConfig& config, const DeviceConfig& device,
                                         std::uint64_t seed, std::uint64_t warmup) {
  switch (config.kind) {
    case WorkloadKind::kPostedWrite:
    case WorkloadKind::kRead:
    case WorkloadKind::kReadWrite: return std::make_unique<PlainWorkload>(config, seed, warmup);
    case WorkloadKind::kNic: return std::make_unique<NicProfile>(config, device, seed, warmup);
    case WorkloadKind::kTrace: return trace_of(config, warmup);
    case WorkloadKind::kHostile:
    case WorkloadKind::kFlows: break;
  }
  throw ConfigError(
      {{"config", 0, 0, "workload.kind",
        fmt::format(
            "is {}, which is no stream of requests of one device; expected another kind here",
            config.kind == WorkloadKind::kFlows ? "flows" : "hostile")}});
}

std::uint32_t domain_ids(const WorkloadConfig& config) {
  const bool is_generated =
      config.kind != WorkloadKind::kTrace && config.kind != WorkloadKind::kHostile;
  return is_generated && config.domain_choice == DomainChoice::kChurn
             ? config.domains * kChurnPoolFactor
             : config.domains;
}

}  // namespace flitwise
