// SPDX-License-Identifier: Apache-2.0
// Every way to write a config wrong, with the exact place and what the message offers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/config/support.h"

namespace flitwise::bad_input_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

auto at(const std::string& place, const std::string& seen, const std::string& offered = "") {
  return AllOf(StartsWith("c.yaml:" + place + ": "), HasSubstr(seen), HasSubstr("; expected "),
               HasSubstr(offered));
}

TEST(BadInput, UnknownKeyNamesTheNearestOne) {
  EXPECT_THAT(problems_of("link:\n  presett: gen3x8\n"),
              ElementsAre(at("2:3", "link.presett: unknown key", "nearest key 'link.preset'")));
  EXPECT_THAT(problems_of("linc:\n  preset: gen3x8\n"),
              ElementsAre(at("1:1", "unknown key 'linc'", "nearest key 'link'")));
  EXPECT_THAT(problems_of("payload: 64B\n"),
              ElementsAre(at("1:1", "unknown key 'payload'", "nearest key 'workload.payload'")))
      << "rather than workload, which is spelt alike";
}

TEST(BadInput, TwoKeysOfOneSettingThatContradictEachOther) {
  const std::string both = "system: {source_validation: true, acs: {source_validation: ";
  EXPECT_THAT(problems_of(both + "false}}\n"),
              ElementsAre(at("1:41", "system.acs.source_validation", "one of them")));
  EXPECT_THAT(problems_of(both + "true}}\n"), IsEmpty());
}

TEST(BadInput, QuantitiesAreDecimal) {
  EXPECT_THAT(problems_of("workload: {buffer_base: 0x10000100000}\n"),
              ElementsAre(at("1:25", "is hexadecimal", "a size such as 256B")));
}

TEST(BadInput, KeyInTheWrongSectionNamesTheRightOne) {
  EXPECT_THAT(problems_of("mps: 256B\n"), ElementsAre(at("1:1", "'mps'", "'link.mps'")));
}

TEST(BadInput, UnknownKeyWithoutAnythingNearListsWhatIsThere) {
  EXPECT_THAT(problems_of("message: {qqqqqqqqqqqqqqqqqqqqqqqqqqqqqq: 1}\n"),
              ElementsAre(at("1:11", "unknown key", "flit_bits")));
}

TEST(BadInput, DottedKeyOutsideInstancesIsUnknown) {
  EXPECT_THAT(problems_of("link.mps: 256B\n"), ElementsAre(at("1:1", "unknown key 'link.mps'")));
}

// Everything that is printed as JSON later on would fail there.
TEST(BadInput, TextThatIsNoUtf8) {
  for (const char* bytes : {"\xfa", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    const auto problems = problems_of("workload: {sizes: \"" + std::string(bytes) + "\"}\n");
    EXPECT_THAT(problems, ElementsAre(at("1:19", "no UTF-8"))) << bytes;
  }
  EXPECT_THAT(problems_of("run: {name: \"gr\xc3\xbc\xc3\x9f, \xe2\x82\xac \xf0\x9f\x9a\x80\"}\n"),
              testing::Each(testing::Not(HasSubstr("UTF-8"))));
}

TEST(BadInput, NestingBeyondAnyConfig) {
  EXPECT_THAT(problems_of("run: " + std::string(120, '[') + std::string(120, ']') + "\n"),
              ElementsAre(at("1:105", "more than 100 levels")));
}

TEST(BadInput, NestingByAliasesBeyondAnyConfig) {
  const std::string open(30, '[');
  const std::string close(30, ']');
  std::string yaml = "l0: &l0 " + open + close + "\n";
  for (int i = 1; i < 5; ++i) {
    yaml += fmt::format("l{0}: &l{0} {2}*l{1}{3}\n", i, i - 1, open, close);
  }
  EXPECT_THAT(problems_of(yaml), ElementsAre(at("4:39", "more than 100 levels")));
}

TEST(BadInput, BareNumberWhereAUnitIsNeeded) {
  EXPECT_THAT(problems_of("link:\n  mps: 256\n"),
              ElementsAre(at("2:8", "'256' has no unit", "such as 256B")));
  EXPECT_THAT(problems_of("link:\n  timing:\n    clock: 2\n"),
              ElementsAre(at("3:12", "'2' has no unit", "such as 2ns")));
  EXPECT_THAT(problems_of("workload: {rate: 5}\n"),
              ElementsAre(at("1:18", "'5' has no unit", "such as 5Mreq/s")));
  EXPECT_THAT(problems_of("host: {memory: {bandwidth: 5}}\n"),
              ElementsAre(at("1:28", "'5' has no unit", "such as 5Gb/s")));
}

TEST(BadInput, WrongUnitNamesTheNearestOne) {
  EXPECT_THAT(problems_of("link:\n  mps: 1KB\n"),
              ElementsAre(at("2:8", "unit 'KB'", "nearest unit 'KiB'")));
  EXPECT_THAT(problems_of("link:\n  mps: 256ns\n"), ElementsAre(at("2:8", "unit 'ns'", "256B")));
}

TEST(BadInput, UnitOnAPlainCount) {
  EXPECT_THAT(problems_of("workload: {requests: 10B}\n"),
              ElementsAre(at("1:22", "'10B' is no whole number")));
}

TEST(BadInput, FractionsThatAreNoWholeNumberOfTheSmallestUnit) {
  EXPECT_THAT(problems_of("workload: {payload: 0.3B}\n"),
              ElementsAre(at("1:21", "no whole number of B")));
  EXPECT_THAT(problems_of("device: {dma: {issue_interval: 0.5fs}}\n"),
              ElementsAre(at("1:32", "no whole number of fs")));
}

TEST(BadInput, DuplicateKeyAtItsSecondPlace) {
  EXPECT_THAT(problems_of("link:\n  mps: 256B\n  mps: 128B\n"),
              ElementsAre(at("3:3", "duplicate key 'mps'", "2:3")));
  EXPECT_THAT(problems_of("run: {seed: 1}\nlink: {}\nrun: {seed: 2}\n"),
              ElementsAre(at("3:1", "duplicate key 'run'", "1:1")));
}

TEST(BadInput, WrongType) {
  EXPECT_THAT(problems_of("workload:\n  requests: many\n"),
              ElementsAre(at("2:13", "'many' is no whole number")));
  EXPECT_THAT(problems_of("workload:\n  requests: 1.5\n"), ElementsAre(at("2:13", "'1.5'")));
  EXPECT_THAT(problems_of("workload:\n  requests: \"100\"\n"),
              ElementsAre(at("2:13", "the text '100'")));
  EXPECT_THAT(problems_of("workload:\n  requests: [1]\n"), ElementsAre(at("2:13", "a sequence")));
  EXPECT_THAT(problems_of("workload:\n  requests: -1\n"), ElementsAre(at("2:13", "'-1'")));
  EXPECT_THAT(problems_of("workload: {churn: .inf}\n"), ElementsAre(at("1:19", "'.inf'")));
  EXPECT_THAT(problems_of("workload: {requests: 99999999999999999999}\n"),
              ElementsAre(at("1:22", "too large")));
}

// [LNK-9.9] [LNK-9.16]
TEST(BadInput, ValueOutOfRange) {
  EXPECT_THAT(problems_of("device:\n  dhi:\n    bits: 13\n"),
              ElementsAre(at("3:11", "13", "2..12")));
  EXPECT_THAT(problems_of("device:\n  dhi:\n    bits: 1\n"), ElementsAre(at("3:11", "1")));
  EXPECT_THAT(problems_of("link: {mps: 300B}\n"),
              ElementsAre(at("1:13", "300B", "a power of two in 128B..4KiB")));
  EXPECT_THAT(problems_of("link: {mrrs: 8KiB}\n"), ElementsAre(at("1:14", "8KiB")));
  EXPECT_THAT(problems_of("link: {rcb: 256B}\n"), ElementsAre(at("1:13", "256B", "64B or 128B")));
  EXPECT_THAT(problems_of("device: {tag_bits: 9}\n"),
              ElementsAre(at("1:20", "9", "5, 8, 10 or 14")));
  EXPECT_THAT(problems_of("workload: {requests: 0}\n"), ElementsAre(at("1:22", "0")));
  EXPECT_THAT(problems_of("message: {flit_bits: 15}\n"), ElementsAre(at("1:22", "15", "16..128")));
  EXPECT_THAT(problems_of("link: {error_rate: 2}\n"), ElementsAre(at("1:20", "2")));
  EXPECT_THAT(problems_of("link: {credits: {posted_headers: 0}}\n"),
              ElementsAre(at("1:34", "0", "infinite")));
}

TEST(BadInput, RangeEndsAreValid) {
  for (const char* text :
       {"device: {dhi: {bits: 2}}", "device: {dhi: {bits: 12}}", "link: {mps: 128B}",
        "link: {mps: 4KiB}", "message: {flit_bits: 17}", "message: {flit_bits: 128}"}) {
    EXPECT_THAT(problems_of(text), IsEmpty()) << text;
  }
}

TEST(BadInput, SyntaxErrorHasAPlace) {
  EXPECT_THAT(problems_of("link: [\n"), ElementsAre(at("2:1", "not valid YAML")));
  EXPECT_THAT(problems_of("run:\n  seed: 1\n bad: 2\n"), ElementsAre(at("3:2", "not valid YAML")));
  EXPECT_THAT(problems_of("run: {seed: 1}\n\tlink: {}\n"), testing::SizeIs(1));
}

TEST(BadInput, WrongShape) {
  EXPECT_THAT(problems_of("link:\n- 1\n"), ElementsAre(at("2:1", "link: a sequence", "a map")));
  EXPECT_THAT(problems_of("link: gen3x8\n"), ElementsAre(at("1:7", "'gen3x8'", "a map")));
  EXPECT_THAT(problems_of("- 1\n"), ElementsAre(at("1:1", "a sequence", "a map")));
  EXPECT_THAT(problems_of("device: {dhi: 6}\n"), ElementsAre(at("1:15", "'6'", "a map")));
  EXPECT_THAT(problems_of("link: {mps: {a: 1}}\n"), ElementsAre(at("1:13", "a map", "a size")));
  EXPECT_THAT(problems_of("faults: {up: {corrupt_tlps: 3}}\n"),
              ElementsAre(at("1:29", "'3'", "rising list")));
}

TEST(BadInput, KeyWithoutValue) {
  EXPECT_THAT(problems_of("link:\n  mps:\n"), ElementsAre(at("2:3", "no value", "4KiB")));
}

TEST(BadInput, UnknownWordNamesTheNearestOne) {
  EXPECT_THAT(problems_of("link:\n  identity: bdf+pasid\n"),
              ElementsAre(at("2:13", "'bdf+pasid'", "nearest value 'bdf_pasid'")));
  EXPECT_THAT(problems_of("faults: {break: [tags, credit]}\n"),
              ElementsAre(at("1:24", "'credit'", "nearest value 'credits'")));
  EXPECT_THAT(problems_of("link: {preset: gen3x9}\n"),
              ElementsAre(at("1:16", "'gen3x9'", "nearest value 'gen3x")));
}

TEST(BadInput, YamlTrapsAreRefused) {
  EXPECT_THAT(problems_of("device: {dhi: {supported: no}}\n"),
              ElementsAre(at("1:27", "'no'", "true or false")));
  EXPECT_THAT(problems_of("device: {dhi: {supported: off}}\n"),
              ElementsAre(at("1:27", "'off'", "true or false")));
  EXPECT_THAT(problems_of("run: {seed: 010}\n"), ElementsAre(at("1:13", "looks octal")));
  EXPECT_THAT(problems_of("run: {seed: 0o10}\n"), ElementsAre(at("1:13", "looks octal")));
  EXPECT_THAT(problems_of("run: {seed: !!int 3}\n"), ElementsAre(at("1:13", "tag")));
  EXPECT_THAT(problems_of("run: {[1]: 3}\n"), ElementsAre(at("1:7", "a sequence as a key")));
  EXPECT_THAT(problems_of("run: {seed: 1}\n---\nlink: {}\n"), ElementsAre(at("3:1", "second")));
}

TEST(BadInput, KnownPartsThatAreNotModelledYetSaySo) {
  for (const char* part : {"hca"}) {
    EXPECT_THAT(problems_of("device:\n  " + std::string(part) + ": {}\n"),
                ElementsAre(at("2:3", "not modelled yet")));
  }
}

// [CXL-5.1] [CXL-5.2]
TEST(BadInput, CxlLinksHaveTheirRatesAndWidths) {
  for (const char* preset : {"cxl68_gen2x16", "cxl68_gen6x16", "cxl256_gen5x16", "cxl68_gen5x12"}) {
    EXPECT_THAT(problems_of("link: {preset: " + std::string(preset) + "}\n"),
                ElementsAre(at("1:16", "cxl68_genGxL")));
  }
  EXPECT_THAT(problems_of("link: {preset: cxl68_gen5x16, flit_mode: true}\n"),
              ElementsAre(at("1:42", "68-byte flits in flit mode")));
  EXPECT_THAT(problems_of("link: {preset: cxl68_gen5x16, carrier: bit_packed}\n"),
              Contains(at("1:40", "a CXL link with the bit-packed carrier")));
  for (const char* preset : {"cxl68_gen5x16", "gen6x16"}) {
    EXPECT_THAT(problems_of("link: {cxl: {latency_optimised: true}, preset: " +
                            std::string(preset) + "}\n"),
                ElementsAre(at("1:48", "without 256-byte flits of CXL")));
  }
  EXPECT_THAT(problems_of("device: {cxl: {memory: 8GiB}}\nlink: {preset: gen6x16}\n"),
              ElementsAre(at("2:16", "CXL.mem on a PCIe link")));
}

// [LNK-11.4] [DHI D23]
TEST(BadInput, FlitModeWantsWidthsAndFormsOfItsOwn) {
  EXPECT_THAT(problems_of("link: {preset: gen6x12}\n"), ElementsAre(at("1:16", "gen6x12")));
  EXPECT_THAT(problems_of("link: {preset: gen4x12, flit_mode: true}\n"),
              ElementsAre(at("1:36", "12 lanes")));
  EXPECT_THAT(problems_of("link: {flit_mode: true, carrier: bit_packed}\n"),
              ElementsAre(at("1:34", "bit-packed carrier")));
  EXPECT_THAT(problems_of("link: {preset: gen6x16, credits: {scaled: false}}\n"),
              testing::Contains(at("1:43", "flit mode without scaled flow control")));
  for (const char* form : {"tag", "prefix"}) {
    const std::string link = "link: {preset: gen6x16, identity: dhi, dhi_form: ";
    EXPECT_THAT(problems_of(link + form + "}\n"),
                ElementsAre(at("1:50", "form " + std::string(form) + " on a link in flit mode")));
  }
  EXPECT_THAT(problems_of("link: {identity: dhi, dhi_form: ohc}\n"),
              ElementsAre(at("1:33", "not in flit mode")));
}

TEST(BadInput, AllProblemsAtOnceInFileOrder) {
  EXPECT_THAT(
      problems_of("link:\n  presett: gen3x8\n  identity: bdf+pasid\nworkload:\n  requests: many\n"),
      ElementsAre(at("2:3", "presett"), at("3:13", "bdf+pasid"), at("5:13", "many")));
}

TEST(BadInput, DuplicatesAndBrokenRelationsComeInFileOrderWithTheRest) {
  EXPECT_THAT(problems_of("message: {flit_bits: 16, crc_bits: 16}\nrun: {sed: 1}\nrun: {}\n"),
              ElementsAre(at("1:36", "16 CRC bits"), at("2:7", "sed"), at("3:1", "duplicate")));
}

TEST(BadInput, FilesHaveToExist) {
  EXPECT_THAT(problems_of("workload: {sizes: nowhere.csv}\n"),
              ElementsAre(at("1:19", "no file 'nowhere.csv'")));
  EXPECT_THAT(problems_of("workload: {trace: nowhere.csv}\n"),
              ElementsAre(at("1:19", "no file 'nowhere.csv'")));
  EXPECT_THAT(problems_of("workload: {sizes: solar_2021}\n"),
              ElementsAre(at("1:19", "no file", "nearest name 'solar_2022'")));
  EXPECT_THAT(problems_of("workload: {kind: trace}\n"), ElementsAre(at("1:18", "kind trace")));
}

TEST(BadInput, LatencyPairsNameHopsInTheirOrder) {
  EXPECT_THAT(problems_of("trace: {latency: [{name: a, from: isue, to: sent}]}\n"),
              ElementsAre(at("1:35", "unknown hop 'isue'", "nearest hop 'issue'")));
  EXPECT_THAT(problems_of("trace: {latency: [{name: a, from: sent, to: issue}]}\n"),
              ElementsAre(at("1:19", "from 'sent' to 'issue'")));
  EXPECT_THAT(problems_of("trace: {latency: [{name: dma_read, from: issue, to: sent}]}\n"),
              ElementsAre(at("1:26", "is taken")));
  EXPECT_THAT(problems_of("trace: {latency: [{name: a, from: issue}]}\n"),
              ElementsAre(at("1:19", "no 'to'")));
}

TEST(BadInput, MissingFileIsAConfigError) {
  try {
    load_config("nowhere/at_all.yaml");
    FAIL() << "a missing file was accepted";
  } catch (const ConfigError& error) {
    ASSERT_EQ(error.problems().size(), 1U);
    EXPECT_EQ(error.problems()[0].file, "nowhere/at_all.yaml");
    EXPECT_THAT(error.problems()[0].message, HasSubstr("no such file; expected"));
  }
}

TEST(BadInput, WeightsOfVirtualLanes) {
  const auto problems = [](const std::string& list) {
    return problems_of("device:\n  pio: {egress: {high: " + list + "}}\n");
  };
  EXPECT_THAT(problems("[]"), IsEmpty());
  EXPECT_THAT(problems("[[0, 255], [7, 0], [0, 1]]"), IsEmpty());
  EXPECT_THAT(problems("3"), ElementsAre(at("2:24", "'3'", "such as [[0, 3], [1, 1]]")));
  EXPECT_THAT(problems("[[0, 1], 3]"), ElementsAre(at("2:33", "'3'", "pairs [vl, weight]")));
  EXPECT_THAT(problems("[[0, 1, 2]]"), ElementsAre(at("2:25", "a sequence", "pairs")));
  EXPECT_THAT(problems("[[8, 1]]"), ElementsAre(at("2:26", "'8'", "VL 0 to 7")));
  EXPECT_THAT(problems("[[0, 256]]"), ElementsAre(at("2:29", "'256'", "weight 0 to 255")));
  EXPECT_THAT(problems("[[0, x]]"), ElementsAre(at("2:29", "'x'")));
  std::string many = "[[0, 1]";
  for (int i = 0; i < 16; ++i) {
    many += ", [0, 1]";
  }
  EXPECT_THAT(problems(many + "]"), ElementsAre(at("2:24", "17 pairs", "up to 16")));
}

TEST(BadInput, HostileYamlEndsInAMessage) {
  EXPECT_THAT(problems_of("run: &a {seed: *a}\n"), testing::SizeIs(1));
  std::string bomb = "a: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string one = "*a" + std::to_string(i - 1);
    bomb += "b" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + one;
    for (int j = 0; j < 9; ++j) {
      bomb += ", " + one;
    }
    bomb += "]\n";
  }
  EXPECT_THAT(problems_of(bomb), testing::Contains(HasSubstr("more than")));
  EXPECT_FALSE(problems_of(std::string(100'000, '[')).empty());
  EXPECT_FALSE(problems_of(std::string("\0\x01\xff", 3)).empty());
}

}  // namespace
}  // namespace flitwise::bad_input_test
