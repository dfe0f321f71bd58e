// SPDX-License-Identifier: Apache-2.0
// Tables of the sections `link` and `message`.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/ranges.h"
#include "config/sections/sections.h"

namespace flitwise::config {

namespace {

/// Presets of a kind: each generation with each number of lanes.
struct PresetFamily {
  const char* prefix;
  CxlFlits cxl;
  unsigned first_generation, last_generation;
};
constexpr PresetFamily kFamilies[] = {{"", CxlFlits::kNone, 1, 6},
                                      {"cxl68_", CxlFlits::k68, 3, 5},
                                      {"cxl256_", CxlFlits::k256, 6, 6}};
constexpr unsigned kLaneCounts[] = {1, 2, 4, 8, 12, 16, 32};

const std::vector<LinkPreset>& presets() {
  static const std::vector<LinkPreset> all = [] {
    std::vector<LinkPreset> made;
    for (const PresetFamily& one : kFamilies) {
      for (unsigned generation = one.first_generation; generation <= one.last_generation;
           ++generation) {
        const bool has_flits = generation == 6 || one.cxl != CxlFlits::kNone;
        for (const unsigned lanes : kLaneCounts) {
          if (!has_flits || 16 % lanes == 0) {  // [LNK-11.4]
            made.push_back({fmt::format("{}gen{}x{}", one.prefix, generation, lanes), generation,
                            lanes, one.cxl});
          }
        }
      }
    }
    return made;
  }();
  return all;
}

const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> all = mapped(presets(), &LinkPreset::name);
  return all;
}

void read_preset(Config& config, const Value& value, const ReadContext& context) {
  static const std::string kExpected =
      "genGxL with G in 1..6 and L in 1, 2, 4, 8, 12, 16 or 32, gen6 without 12 and 32; or "
      "cxl68_genGxL with G in 3..5, or cxl256_gen6xL, and L in 1, 2, 4, 8 or 16";
  if (const auto index = index_of(value, preset_names(), kExpected, context)) {
    config.link.preset = presets()[*index];
  }
}

Key preset_key() {
  return {"link.preset",
          "",
          "gen1x1..gen5x32, with 1, 2, 4, 8, 12, 16 or 32 lanes; gen6 with 1, 2, 4, 8 or 16; "
          "cxl68_gen3x1..cxl68_gen5x16 and cxl256_gen6x1..cxl256_gen6x16",
          "Generation and number of lanes; cxl68 and cxl256: CXL in flits of that size.",
          preset_names(),
          {{"enum", preset_names()}},
          read_preset,
          [](const Config& config) -> nlohmann::ordered_json { return config.link.preset.name; }};
}

/// The rows link.cxl.per_flit. [CXL-2.9]
Keys cxl_packing_keys() {
  // In the order of CxlChannel.
  constexpr const char* kMessages[kCxlChannels] = {
      "D2H Req", "D2H Rsp", "D2H Data",  "H2D Req", "H2D Rsp", "H2D Data",
      "M2S Req", "M2S RwD", "M2S BIRsp", "S2M NDR", "S2M DRS", "S2M BISnp"};
  Keys keys;
  for (std::size_t channel = 0; channel < kCxlChannels; ++channel) {
    const std::string what = kMessages[channel];
    std::string name = what;  // "d2h_req"
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
      return static_cast<char>(c == ' ' ? '_' : std::tolower(c));
    });
    keys.push_back(count(
        "link.cxl.per_flit." + name, [channel](auto& c) { return &c.link.cxl.per_flit[channel]; },
        or_zero_as("auto", between(1, 255)),
        fmt::format("Most {}{}; auto: as CXL-2.9 has it in 68-byte flits, any in 256-byte flits.",
                    what, channel == 0 ? " that one flit of CXL.cache and CXL.mem takes" : "")));
  }
  return keys;
}

// Largest advertisements of scaled flow control: 127 and 2047 times sixteen. [LNK-8.4, LNK-8.8]
constexpr std::uint64_t kMaxHeaderCredits = 127 * 16;
constexpr std::uint64_t kMaxDataCredits = 2047 * 16;

}  // namespace

Keys link_keys() {
  const Limits headers = or_zero_as("infinite", between(1, kMaxHeaderCredits));
  const Limits data = or_zero_as("infinite", between(1, kMaxDataCredits));
  const Limits shared_headers = between(0, kMaxHeaderCredits);
  const Limits shared_data = between(0, kMaxDataCredits);
  const Limits cxl_credits = between(1, 4096);
  return joined({
      preset_key(),
      choice(KEY(link.carrier),
             "What carries the messages: PCIe TLPs, or the bit-packed message of section message."),
      flag(KEY(link.flit_mode),
           "TLPs travel in 256-byte flits below 64 GT/s too; at 64 GT/s (gen6) they always do."),
      size(KEY(link.mps), power_of_two(128, 4096), "Max_Payload_Size: largest payload of one TLP."),
      size(KEY(link.mrrs), power_of_two(128, 4096),
           "Max_Read_Request_Size: largest read of one TLP."),
      size(KEY(link.rcb), only({64, 128}),
           "Read Completion Boundary, where the root port splits completions."),
      choice(KEY(link.identity), "How a message names the domain that it belongs to."),
      choice(KEY(link.dhi_form), "Where the handle stands in a TLP, for identity dhi."),
      real(KEY(link.error_rate), 0, 0.1,
           "Probability of a wrong bit, for each bit, in both directions."),
      count(KEY(link.error_burst), between(1, 64),
            "Flit mode: a wrong bit makes so many from it on wrong; FEC mends up to 24 that lie "
            "well."),
      choice(KEY(link.skp),
             "Spacing of SKP ordered sets: common clock, separate clocks with spread, or none."),
      count(KEY(link.ack_coalesce), between(0, 2047),
            "An Ack goes out after so many TLPs, in flit mode flits, at the latest; 0: by the "
            "latency limit alone."),
      choice(KEY(link.relaxed_passing),
             "When TLPs with RO or IDO overtake older posted ones that they may pass."),
      size(KEY(link.replay_buffer), between(256, Bytes{1} << 30),
           "TLPs that wait for their Ack, at each end."),
      count(KEY(link.queue_depth), between(1, 65536),
            "TLPs that each transaction queue holds, for each class and end, beside those on their "
            "way to it through the port's pipeline: 96 posted, 96 non-posted, 1024 completions."),
      // ---- credits
      count(KEY(link.credits.posted_headers), headers,
            "Posted header credits that each end advertises."),
      count(KEY(link.credits.posted_data), data, "Posted data credits, 16 bytes each."),
      count(KEY(link.credits.nonposted_headers), headers, "Non-posted header credits."),
      count(KEY(link.credits.nonposted_data), data, "Non-posted data credits, 16 bytes each."),
      count(KEY(link.credits.completion_headers), headers, "Completion header credits."),
      count(KEY(link.credits.completion_data), data, "Completion data credits, 16 bytes each."),
      flag(KEY(link.credits.scaled),
           "Scaled flow control is negotiated, so that more credits can be advertised."),
      count(KEY(link.shared_credits.posted_headers), shared_headers,
            "Flit mode: shared posted header credits that each end advertises beside the dedicated "
            "ones of link.credits; 0: none."),
      count(KEY(link.shared_credits.posted_data), shared_data,
            "Shared posted data credits, 16 bytes each."),
      count(KEY(link.shared_credits.nonposted_headers), shared_headers,
            "Shared non-posted header credits."),
      count(KEY(link.shared_credits.nonposted_data), shared_data,
            "Shared non-posted data credits, 16 bytes each."),
      count(KEY(link.shared_credits.completion_headers), shared_headers,
            "Shared completion header credits."),
      count(KEY(link.shared_credits.completion_data), shared_data,
            "Shared completion data credits, 16 bytes each."),
      flag(KEY(link.shared_credits.merged),
           "The shared credits of posted requests are for completions as well, which have none of "
           "their own."),
      // ---- CXL
      count(KEY(link.cxl.req_credits), cxl_credits,
            "CXL: request credits that each end advertises, for CXL.cache and CXL.mem each."),
      count(KEY(link.cxl.rsp_credits), cxl_credits, "CXL: response credits, likewise."),
      count(KEY(link.cxl.data_credits), cxl_credits,
            "CXL: data credits, lines of 64 bytes, likewise."),
      count(KEY(link.cxl.queue_depth), between(1, 65536),
            "CXL: messages of each channel that wait to be packed, or are on their way to it."),
      count(KEY(link.cxl.retry_flits), between(1, 255),
            "68-byte flits: those that wait for their acknowledgement."),
      choice(KEY(link.cxl.identity),
             "What a D2H Req of CXL.cache says of its domain: nothing, all in an added field, or a "
             "handle."),
      count(KEY(link.cxl.handle_bits), between(0, 32),
            "Bits of such a handle; 0: device.dhi.bits."),
      count(KEY(link.cxl.io_weight), between(1, 1024),
            "CXL: flits of CXL.io in a row while CXL.cache and CXL.mem wait."),
      count(KEY(link.cxl.cachemem_weight), between(1, 1024),
            "CXL: flits of CXL.cache and CXL.mem in a row while CXL.io waits."),
      flag(KEY(link.cxl.latency_optimised),
           "256-byte flits: those of CXL.cache and CXL.mem are in the latency-optimised form, "
           "whose halves have their own CRCs."),
      time(KEY(link.cxl.timing.retry_timeout),
           or_zero_as("auto", between(Time::from_ns(10), Time::from_us(1'000'000))),
           "68-byte flits: RETRY.Req is sent again without an answer for so long; auto: a round "
           "trip and the replay of all flits."),
      time(KEY(link.cxl.timing.ack_after), any_latency(),
           "CXL: credits, and Acks of 68-byte flits, go by themselves after so long without a flit "
           "to take them."),
      cxl_packing_keys(),
      // ---- timing
      time(KEY(link.timing.clock), any_clock(), "Clock period of the link core."),
      time(KEY(link.timing.propagation), any_latency(), "Flight of a symbol, one way."),
      time(KEY(link.timing.receive), any_latency(),
           "PHY and data link layer of a receiver, pin to transaction layer."),
      time(KEY(link.timing.fec), any_latency(),
           "Flit mode: FEC decoder of a receiver, for every flit."),
      time(KEY(link.timing.retrain), any_latency(), "One pass through Recovery."),
      time(KEY(link.timing.replay_timeout),
           or_zero_as("auto", between(Time::from_ns(100), Time::from_us(1'000'000))),
           "REPLAY_TIMER limit; auto: from the formulas and the round trip, in flit mode 1,500 "
           "flit times."),
  });
}

/// The bit-packed carrier. [DHI D24]
Keys message_keys() {
  return {
      count(KEY(message.header_bits), between(0, 1024),
            "Header of a message without its identity, in bits."),
      count(KEY(message.payload_bits), between(1, 32768), "Payload of a message, in bits."),
      count(KEY(message.identity_bits), between(0, 128), "Bits that name the domain."),
      count(KEY(message.flit_bits), between(16, 128), "One flit with its CRC, in bits."),
      count(KEY(message.crc_bits), between(0, 64), "CRC inside each flit, in bits."),
      choice(KEY(message.packing),
             "Whether a message starts on a flit, or follows the last one without a gap."),
  };
}

std::string faster_preset(const LinkPreset& preset) {
  const LinkPreset* wider = nullptr;
  const LinkPreset* next_generation = nullptr;
  for (const LinkPreset& one : presets()) {
    if (one.cxl != preset.cxl) {
      continue;
    }
    if (one.generation == preset.generation && one.lanes == 2 * preset.lanes) {
      wider = &one;
    } else if (one.generation == preset.generation + 1 && one.lanes == preset.lanes) {
      next_generation = &one;
    }
  }
  const LinkPreset* const faster = wider != nullptr && wider->lanes <= 16 ? wider : next_generation;
  return faster != nullptr ? faster->name : "";
}

}  // namespace flitwise::config
