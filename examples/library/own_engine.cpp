// SPDX-License-Identifier: Apache-2.0
// An engine of your own on a device, in place of its DMA engine: it copies a buffer in host memory,
// block by block, with a few reads under way at a time. The device does the rest: TLPs of at most
// link.mps, tags, identities, handles, translations. Prints how long the copy took.
#include <cstdio>
#include <cstring>
#include <deque>
#include <vector>

#include "flitwise/error.h"
#include "flitwise/kernel.h"
#include "flitwise/load.h"
#include "flitwise/system.h"

namespace {

constexpr std::uint64_t kFrom = 0x1'0000'0000, kTo = 0x1'0001'0000;
constexpr std::uint32_t kBlock = 1024, kBlocks = 32, kAtATime = 8;

class CopyEngine : public flitwise::DeviceEngine {
 public:
  bool next(flitwise::Time now, flitwise::EngineRequest& request) override {
    if (!full_.empty()) {  // a block that has come goes out again
      const std::uint32_t block = full_.front();
      full_.pop_front();
      request.kind = flitwise::EngineRequest::Kind::kWrite;
      request.address = kTo + std::uint64_t{block} * kBlock;
      request.bytes = kBlock;
      request.token = kBlocks + block;
      request.data = &data_[std::size_t{block} * kBlock];
      return true;
    }
    if (asked_ == kBlocks || reading_ == kAtATime) {
      return false;
    }
    request.kind = flitwise::EngineRequest::Kind::kRead;
    request.address = kFrom + std::uint64_t{asked_} * kBlock;
    request.bytes = kBlock;
    request.token = asked_++;
    ++reading_;
    begin_ = asked_ == 1 ? now : begin_;
    return true;
  }
  void data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
            std::size_t size) override {
    std::memcpy(&data_[std::size_t{token} * kBlock + offset], bytes, size);
  }
  void finished(const flitwise::EngineAnswer& answer) override {
    failed_ += answer.status == flitwise::EngineStatus::kDone ? 0 : 1;
    end_ = answer.when;
    if (answer.token < kBlocks) {
      --reading_;
      full_.push_back(answer.token);
    } else {
      ++written_;
    }
  }
  bool is_done() const override { return written_ == kBlocks; }
  std::string waits_for() const override {
    return std::to_string(kBlocks - written_) + " blocks are not copied yet";
  }

  double took_ns() const { return (end_ - begin_).ns(); }
  unsigned failed() const { return failed_; }

 private:
  std::vector<std::uint8_t> data_ = std::vector<std::uint8_t>(std::size_t{kBlock} * kBlocks);
  std::deque<std::uint32_t> full_;  // blocks to be written
  std::uint32_t asked_ = 0, reading_ = 0, written_ = 0;
  unsigned failed_ = 0;
  flitwise::Time begin_{}, end_{};
};

int simulate() {
  const flitwise::Config config = flitwise::config_from_text(R"(
link: {preset: gen5x16}
workload: {domains: 1, payload: 1KiB}
run: {warmup: 0}
)",
                                                             "own_engine", "");
  CopyEngine engine;
  flitwise::Attachments attached;
  attached.engines["ep0"] = &engine;
  flitwise::System system(config, attached);
  std::vector<std::uint8_t> bytes(std::size_t{kBlock} * kBlocks);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  }
  system.poke(kFrom, bytes);
  const flitwise::RunResult result = system.run();
  const bool is_same = system.peek(kTo, bytes.size()) == bytes;
  const auto& link = result.rows<flitwise::LinkResult>().front();
  std::printf("%u KiB copied in %.0f ns, %s; %llu TLPs up, %llu down\n", kBlock * kBlocks / 1024,
              engine.took_ns(), is_same && engine.failed() == 0 ? "byte for byte" : "with errors",
              static_cast<unsigned long long>(link.up.tlps),
              static_cast<unsigned long long>(link.down.tlps));
  return is_same ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return flitwise::run_in_kernel(simulate);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
