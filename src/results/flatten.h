// SPDX-License-Identifier: Apache-2.0
/// Nested results as flat columns.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace flitwise {

/// Appends the leaves of `object` to `row`, their keys joined by underscores behind `prefix`:
/// {"wire_bytes": {"crc": 4}} gives wire_bytes_crc.
void flatten(const nlohmann::ordered_json& object, const std::string& prefix,
             nlohmann::ordered_json& row);

/// The figures of a result.json as one row: simulated_ns, up_link_efficiency, dma_write_p99_ns,
/// dhi_hits, iommu_walks, errors_KIND, checks_failed ... Figures of the first link and device have
/// no further name; those of the n-th carry its name in front.
nlohmann::ordered_json figures_row(const nlohmann::ordered_json& result);

/// The value at a path of keys and list indices, "links.0.up.replays"; nothing where there is none.
std::optional<nlohmann::ordered_json> figure_of(const nlohmann::ordered_json& result,
                                                const std::string& path);

}  // namespace flitwise
