// SPDX-License-Identifier: Apache-2.0
// The first byte is how many DWs belong to a TLP before; the rest are the TLP bytes and DLPs of
// flits, each of which is protected, struck in one group and mended. What is found there packs to
// the same again.
#include <algorithm>

#include "common/byte_vector.h"
#include "fuzz/fuzz_support.h"
#include "link/flit_bytes.h"

namespace flitwise {
namespace {

void check_dlp(const FlitBytes& flit) {
  DlpBytes bytes{};
  std::copy_n(flit.begin() + flit::kTlpBytes, bytes.size(), bytes.begin());
  if (const auto dlp = decode_dlp(bytes)) {
    FLITWISE_PROPERTY(encode(*dlp) == bytes);
  }
}

// The content itself says where it is struck.
void check_code(const FlitBytes& content) {
  FlitBytes sent = content;
  protect_flit(sent);
  FlitBytes flit = sent;
  const std::size_t at = content[0];
  flit[at] ^= content[1];
  const FlitRepair repair = mend_flit(flit);
  FLITWISE_PROPERTY(repair.is_good && flit == sent);
  FLITWISE_PROPERTY(repair.mended.size() == (content[1] == 0 ? 0U : 1U));

  FlitBytes any = content;  // as a flit, whatever its check bytes are
  const FlitRepair of_any = mend_flit(any);
  FLITWISE_PROPERTY(of_any.mended.size() <= flit::kFecGroups);
}

void check_tlps(const ByteVector& stream, std::size_t rest_bytes) {
  const FoundTlps found = find_tlps(stream, rest_bytes);
  FLITWISE_PROPERTY(!found.error || found.error_at <= stream.size());
  std::size_t end = 0;
  TlpBytePacker packer;
  for (const FoundTlp& tlp : found.tlps) {
    FLITWISE_PROPERTY(tlp.start >= end && !tlp.bytes.empty() && tlp.bytes.size() % 4 == 0);
    end = tlp.start + tlp.bytes.size();
    FLITWISE_PROPERTY(end <= stream.size());
    FLITWISE_PROPERTY(std::equal(tlp.bytes.begin(), tlp.bytes.end(),
                                 stream.begin() + static_cast<std::ptrdiff_t>(tlp.start)));
    FLITWISE_PROPERTY(!tlp.ends_beyond || end == stream.size());
    FLITWISE_PROPERTY(!tlp.began_before || tlp.start == 0);
  }
  if (found.error || found.ninth_at) {
    return;
  }
  // Flit by flit, with the TLPs that begin in it.
  ByteVector packed;
  auto next = found.tlps.begin();
  while (packed.size() < stream.size()) {
    for (; next != found.tlps.end() && next->start < packed.size() + flit::kTlpBytes; ++next) {
      if (next->began_before) {
        packer.push_rest(next->bytes);
      } else {
        packer.push(next->bytes, next->nops);
      }
    }
    const TlpBytePacker::Filled filled = packer.fill();
    packed.insert(packed.end(), filled.bytes.begin(), filled.bytes.end());
  }
  const FoundTlps again = find_tlps(packed, rest_bytes);
  FLITWISE_PROPERTY(!packer.has_work() && again.tlps.size() == found.tlps.size());
  for (std::size_t i = 0; i < found.tlps.size(); ++i) {
    FLITWISE_PROPERTY(again.tlps[i].start == found.tlps[i].start);
    FLITWISE_PROPERTY(again.tlps[i].bytes == found.tlps[i].bytes);
  }
}

void check(const ByteVector& bytes, std::size_t rest_bytes) {
  ByteVector stream;
  for (std::size_t at = 0; at < bytes.size(); at += kFlitCrcAt) {
    FlitBytes content{};
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                std::min(kFlitCrcAt, bytes.size() - at), content.begin());
    check_dlp(content);
    check_code(content);
    stream.insert(stream.end(), content.begin(), content.begin() + flit::kTlpBytes);
  }
  check_tlps(stream, rest_bytes);
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0) {
    flitwise::check(flitwise::fuzz::bytes_of_input(data + 1, size - 1), std::size_t{4} * data[0]);
  }
  return 0;
}
