// SPDX-License-Identifier: Apache-2.0
/// RoCEv2 frames whose bytes others have made: captured ones, those of scapy's own tests, and ones
/// whose ICRC scapy has worked out.
#pragma once

#include <string>
#include <vector>

namespace flitwise::test {

struct RoceVector {
  const char* id;
  std::string hex;
  std::string json;  ///< what makes the same bytes, unless empty
};

/// V1 to V15.
inline std::vector<RoceVector> roce_vectors() {
  const std::string eth =
      "020000000002020000000001"
      "0800";
  const std::string ends = "0a0000010a000002";
  const std::string zeros(32, '0');
  const std::string ack_head = eth + "4502003000004000401126b9" + ends +
                               "c00112b7001c0000"
                               "1100ffff00654321";
  const std::string ack_json =
      R"({"ip":{"ecn":2},"udp":{"src_port":49153},"bth":{"opcode":"RC_ACKNOWLEDGE",)"
      R"("dest_qp":"0x654321",)";
  return {
      {"V1",
       "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201000012b700280000"
       "8100ffff4000011800000000" +
           zeros + "82fd002a",
       R"({"eth":{"dst":"e4:1d:2d:ab:2b:c2","src":"7c:fe:90:64:3b:32"},)"
       R"("ip":{"dscp":48,"ecn":2,"id":"0x718c","src":"10.0.17.1","dst":"10.0.18.1"},)"
       R"("udp":{"src_port":0},"bth":{"opcode":"CNP","becn":true,"dest_qp":280}})"},
      {"V2",
       "248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a80007c00012b7002caca2"
       "2460ffff000000d300cf1710"
       "4630818be28935d90e9a95505401be885e500000"
       "78f353f3",
       ""},
      {"V3",
       eth + "4502003800004000401126b1" + ends +
           "c00012b700240000"
           "0410ffff0012345680000100"
           "68656c6c6f207372646d6100f873e4f3",
       R"({"ip":{"ecn":2},"bth":{"opcode":"RC_SEND_ONLY","dest_qp":"0x123456","psn":256,)"
       R"("ack_req":true},"payload":"68656c6c6f207372646d61"})"},
      {"V4",
       eth + "4502004400004000401126a5" + ends +
           "c00012b700300000"
           "0a00ffff0012345680000102"
           "00007f0012345000deadbeef00000008"
           "4142434445464748"
           "18e8f768",
       R"({"ip":{"ecn":2},"bth":{"opcode":"RC_RDMA_WRITE_ONLY","dest_qp":"0x123456",)"
       R"("ack_req":true,"psn":258},"reth":{"va":"0x7f0012345000","r_key":"0xdeadbeef",)"
       R"("dma_length":8},"payload":"4142434445464748"})"},
      {"V5",
       eth + "4502003400004000401126b5" + ends +
           "c00012b700200000"
           "0580ffff0012345680000103"
           "cafef00d"
           "696d6d21"
           "9e8686c6",
       R"({"ip":{"ecn":2},"bth":{"opcode":"RC_SEND_ONLY_WITH_IMMEDIATE","se":true,)"
       R"("dest_qp":"0x123456","ack_req":true,"psn":259},"immdt":{"data":"0xcafef00d"},)"
       R"("payload":"696d6d21"})"},
      {"V6", ack_head + "000001031f000004b2fd842d", ack_json + R"("psn":259},"aeth":{"msn":4}})"},
      {"V7", ack_head + "00000104600000046891f8ac",
       ack_json + R"("psn":260},"aeth":{"syndrome":"0x60","msn":4}})"},
      {"V8", ack_head + "000001042e00000466be33d7",
       ack_json + R"("psn":260},"aeth":{"syndrome":"0x2e","msn":4}})"},
      {"V9",
       eth + "4502003c00004000401126ad" + ends +
           "c00212b700280000"
           "8100ffff4065432100000000" +
           zeros + "142390d1",
       R"({"ip":{"ecn":2},"udp":{"src_port":49154},"bth":{"opcode":"CNP","becn":true,)"
       R"("dest_qp":"0x654321"}})"},
      {"V10",
       eth + "4502003c00004000401126ad" + ends +
           "c00012b700280000"
           "0c00ffff0012345680000105"
           "00007f0012346000deadbeef00001000"
           "b3e3336a",
       R"({"ip":{"ecn":2},"bth":{"opcode":"RC_RDMA_READ_REQUEST","dest_qp":"0x123456",)"
       R"("ack_req":true,"psn":261},"reth":{"va":"0x7f0012346000","r_key":"0xdeadbeef",)"
       R"("dma_length":4096}})"},
      {"V11",
       eth + "4502004000004000401126a9" + ends +
           "c00012b7002c0000"
           "1000ffff0065432100000105"
           "1f000005"
           "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"
           "549203e8",
       R"({"ip":{"ecn":2},"bth":{"opcode":"RC_RDMA_READ_RESPONSE_ONLY","dest_qp":"0x654321",)"
       R"("psn":261},"aeth":{"msn":5},"payload":"5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a"})"},
      {"V12",
       eth + "458a003c0000400040112625" + ends +
           "c0009c4000280000"
           "0410ffff0012345680000200"
           "7372646d612073657373696f6e203000"
           "25fc53c0",
       R"({"ip":{"dscp":34,"ecn":2},"udp":{"src_port":49152,"dst_port":40000},)"
       R"("bth":{"opcode":"RC_SEND_ONLY","dest_qp":"0x123456","ack_req":true,"psn":512},)"
       R"("payload":"7372646d612073657373696f6e2030"})"},
      {"V13",
       eth + "458a003c0000400040112625" + ends +
           "c0019c4100280000"
           "0410ffff0012345680000201"
           "7372646d612073657373696f6e203100"
           "1c8182a7",
       R"({"ip":{"dscp":34,"ecn":2},"udp":{"src_port":49153,"dst_port":40001},)"
       R"("bth":{"opcode":"RC_SEND_ONLY","dest_qp":"0x123456","ack_req":true,"psn":513},)"
       R"("payload":"7372646d612073657373696f6e2031"})"},
      {"V14",
       eth + "458a003c0000400040112625" + ends +
           "c0029c4200280000"
           "0410ffff0012345680000202"
           "7372646d612073657373696f6e203200"
           "5706f10f",
       R"({"ip":{"dscp":34,"ecn":2},"udp":{"src_port":49154,"dst_port":40002},)"
       R"("bth":{"opcode":"RC_SEND_ONLY","dest_qp":"0x123456","ack_req":true,"psn":514},)"
       R"("payload":"7372646d612073657373696f6e2032"})"},
      {"V15",
       eth + "458a003c0000400040112625" + ends +
           "c0039c4300280000"
           "0410ffff0012345680000203"
           "7372646d612073657373696f6e203300"
           "6e7b2068",
       R"({"ip":{"dscp":34,"ecn":2},"udp":{"src_port":49155,"dst_port":40003},)"
       R"("bth":{"opcode":"RC_SEND_ONLY","dest_qp":"0x123456","ack_req":true,"psn":515},)"
       R"("payload":"7372646d612073657373696f6e2033"})"},
  };
}

}  // namespace flitwise::test
