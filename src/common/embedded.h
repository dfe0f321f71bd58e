// SPDX-License-Identifier: Apache-2.0
/// Text files that are compiled into the program (CMake: flitwise_embed).
#pragma once

namespace flitwise::embedded {

const char* result_schema_sql();  ///< src/results/schema.sql
const char* report_css();         ///< src/report/report.css

// Of the program alone.
const char* script_config();                ///< configs/checks/script.yaml
const char* bench_posted_write_64b();       ///< configs/bench/posted_write_64B.yaml
const char* bench_flit_posted_write_64b();  ///< configs/bench/flit_mode_posted_write_64B.yaml
const char* bench_read_64b();               ///< configs/bench/read_64B.yaml
const char* bench_cxl_mem_read_64b();       ///< configs/bench/cxl_mem_read_64B.yaml
const char* bench_iommu_hit_read_64b();     ///< configs/bench/iommu_hit_read_64B.yaml
const char* bench_iommu_walk4_read_64b();   ///< configs/bench/iommu_walk4_read_64B.yaml
const char* bench_ats_hit_read_64b();       ///< configs/bench/ats_hit_read_64B.yaml
const char* bench_iotlb_16();               ///< configs/bench/iotlb_16.yaml
const char* bench_iotlb_65536();            ///< configs/bench/iotlb_65536.yaml
const char* bench_devices_1();              ///< configs/bench/devices_1.yaml
const char* bench_devices_64();             ///< configs/bench/devices_64.yaml
const char* rules_link();                   ///< docs/rules/link.md
const char* rules_dhi();                    ///< docs/rules/dhi.md
const char* rules_iommu();                  ///< docs/rules/iommu.md
const char* rules_ats();                    ///< docs/rules/ats.md
const char* rules_cxl();                    ///< docs/rules/cxl.md
const char* rules_cxl_link();               ///< docs/rules/cxl_link.md
const char* rules_coherence();              ///< docs/rules/coherence.md

}  // namespace flitwise::embedded
