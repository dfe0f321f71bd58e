// SPDX-License-Identifier: Apache-2.0
/// A sweep file: which keys take which values together, block by block. docs/sweeps.md
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sweep/presentation.h"

namespace flitwise {

/// One key and the values it takes, as they would follow `--set KEY=`.
struct Axis {
  std::string key;
  std::vector<std::string> values;
  int line = 0;  ///< where the key stands in the study file, 1-based
  int column = 0;
};

/// Axes that move together: all have the same number of values. A single axis is a group of one.
/// The key `label.NAME` is no config key: its values name the combinations, in a column NAME.
using AxisGroup = std::vector<Axis>;

/// NAME of `label.NAME`; empty for a config key.
std::string label_name(const std::string& key);

/// One group of axes: every combination of its groups and seeds is a point.
struct Block {
  std::string name;
  std::string base;                  ///< config file
  std::vector<Axis> sets;            ///< fixed overrides, one value each
  std::vector<AxisGroup> groups;     ///< the last one varies fastest
  std::vector<std::uint64_t> seeds;  ///< empty: the seed of the config
};

struct Study {
  std::string file;
  std::string title;
  std::vector<Block> blocks;
  Presentation presentation;
};

/// Reads a sweep file. Throws ConfigError with every problem found. A file without `blocks` is one
/// block named "main".
Study read_study(const std::string& file);
/// The same for a text; `name` stands for the file, its folder is where bases are looked for.
Study study_from_text(const std::string& yaml, const std::string& name);

/// The values, or what is wrong with the short form ("...; expected ...").
struct ExpandedValues {
  std::vector<std::string> values;
  std::string problem;
};

/// `A..B:*K` multiplies, `A..B:+K` adds, `A..B` adds one; both ends belong to the range (B if it is
/// hit). A and B may carry a unit of one dimension (8B..4KiB:*2, 100ns..2us:+100ns); an addend then
/// needs one too. At most 100,000 values.
ExpandedValues expand_range(const std::string& text);

/// n numbers from `first` to `last`, both included. REQUIRES of the texts: plain numbers, n >= 2.
ExpandedValues expand_linspace(const std::vector<std::string>& first_last_n);

}  // namespace flitwise
