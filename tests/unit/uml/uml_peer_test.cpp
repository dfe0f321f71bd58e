// SPDX-License-Identifier: Apache-2.0
// A guest of one thread at the other end of the sockets.
#include "uml/uml_peer.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <boost/endian/conversion.hpp>
#include <cstring>
#include <filesystem>
#include <thread>

#include "uml/unix_socket.h"

namespace flitwise::uml_peer_test {

using namespace boost::endian;
using std::chrono::seconds;

class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "umlXXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};

OwnedFile connect_to(const std::string& path) {
  OwnedFile file(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  EXPECT_EQ(connect(file.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return file;
}

TimeMessage ask(const OwnedFile& clock, TimeOp op, std::uint64_t ns, std::uint32_t number) {
  TimeMessage message{op, number, ns};
  EXPECT_TRUE(send_all(clock.get(), &message, sizeof message));
  EXPECT_TRUE(receive_all(clock.get(), &message, sizeof message));
  EXPECT_EQ(message.number, number);
  return message;
}

UmlPeer::Hooks at(std::uint64_t& ns) {
  return {[&ns] { return ns; }, [] { return true; }};
}

TEST(UmlPeer, AGuestThatWaitsRunsAtTheTimeThatItHasAskedFor) {
  const Folder folder;
  std::uint64_t ns = 1000;
  UmlPeer peer(folder.path, {}, at(ns));
  TimeMessage run;
  std::thread guest([&] {
    const OwnedFile clock = connect_to(folder.path + "/time.sock");
    ask(clock, TimeOp::kStart, 7, 1);
    EXPECT_EQ(ask(clock, TimeOp::kGet, 0, 2).ns, 1000U);
    ask(clock, TimeOp::kRequest, 9000, 3);
    ask(clock, TimeOp::kRequest, 5000, 4);
    ask(clock, TimeOp::kWait, 0, 5);
    receive_all(clock.get(), &run, sizeof run);
    const TimeMessage ack{TimeOp::kAck, run.number, 0};
    send_all(clock.get(), &ack, sizeof ack);
  });
  EXPECT_TRUE(peer.serve_until_waiting(seconds(20)));
  EXPECT_TRUE(peer.is_waiting());
  EXPECT_EQ(peer.wanted(), std::uint64_t{5000});
  peer.run(5000);
  EXPECT_TRUE(peer.serve_until_waiting(seconds(20)));  // the guest ends
  EXPECT_TRUE(peer.is_gone());
  guest.join();
  EXPECT_EQ(run.op, TimeOp::kRun);
  EXPECT_EQ(run.ns, 5000U);
}

TEST(UmlPeer, AGuestThatSaysNothingIsGivenUp) {
  const Folder folder;
  std::uint64_t ns = 0;
  UmlPeer peer(folder.path, {}, at(ns));
  EXPECT_FALSE(peer.serve_until_waiting(seconds(0)));
}

/// The driver's end of vhost-user.
class VhostDriver {
 public:
  explicit VhostDriver(const std::string& path) : socket_(connect_to(path)) {}

  /// Sends a message that needs a reply, and returns what it says.
  std::uint64_t ask(std::uint32_t request, const std::vector<std::uint64_t>& payload,
                    int file = -1) {
    std::vector<std::uint8_t> bytes(12 + payload.size() * 8);
    store_little_u32(bytes.data(), request);
    store_little_u32(bytes.data() + 4, 1 | 8);
    store_little_u32(bytes.data() + 8, static_cast<std::uint32_t>(payload.size() * 8));
    for (std::size_t i = 0; i < payload.size(); ++i) {
      store_little_u64(bytes.data() + 12 + i * 8, payload[i]);
    }
    iovec area{bytes.data(), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &area;
    header.msg_iovlen = 1;
    if (file >= 0) {
      header.msg_control = control;
      header.msg_controllen = sizeof control;
      cmsghdr* const one = CMSG_FIRSTHDR(&header);
      one->cmsg_level = SOL_SOCKET;
      one->cmsg_type = SCM_RIGHTS;
      one->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(one), &file, sizeof file);
    }
    EXPECT_EQ(sendmsg(socket_.get(), &header, 0), static_cast<ssize_t>(bytes.size()));
    VhostMessage reply;
    EXPECT_TRUE(receive_message(socket_.get(), reply));
    EXPECT_EQ(reply.request, request);
    EXPECT_EQ(reply.flags, 1U | 4U);
    return reply.u64();
  }

 private:
  const OwnedFile socket_;
};

TEST(UmlPeer, ADeviceIsSetUpKickedAndCalls) {
  const Folder folder;
  std::uint64_t ns = 0;
  std::vector<unsigned> kicked;
  std::uint64_t memory_bytes = 0;
  VhostDevice device(
      "pci", [&](VhostDevice&, unsigned queue) { kicked.push_back(queue); },
      [&](const GuestMemory& memory) { memory_bytes = memory.regions().at(0).region.size; });
  UmlPeer peer(folder.path, {&device}, at(ns));
  OwnedFile memory(memfd_create("guest", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(memory.get(), 0x10000), 0);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const OwnedFile heard(ends[0]);
  OwnedFile told(ends[1]);
  std::thread guest([&] {
    const OwnedFile clock = connect_to(folder.path + "/time.sock");
    VhostDriver driver(folder.path + "/pci.sock");
    EXPECT_EQ(driver.ask(1, {}), 0x1'4000'0000U);
    EXPECT_EQ(driver.ask(15, {}), 0x4028U);
    EXPECT_EQ(driver.ask(21, {}, told.get()), 0U);
    told.close();
    EXPECT_EQ(driver.ask(5, {1, 0x4000, 0xc000, 0x4000, 0x4000}, memory.get()), 0U);
    EXPECT_EQ(driver.ask(5, {1, 0x4000, 0x10000, 0x4000, 0x4000}, memory.get()),
              1U);  // behind its end
    EXPECT_EQ(driver.ask(5, {1, 0x4000, 0xc000, 0x4000, 0x4000}, memory.get()), 0U);
    EXPECT_EQ(driver.ask(8, {std::uint64_t{16} << 32 | 1}), 0U);
    EXPECT_EQ(driver.ask(8, {std::uint64_t{16} << 32 | 2}), 1U);  // there are two queues
    EXPECT_EQ(driver.ask(9, {1, 0x4000, 0x5000, 0x6000, 0}), 0U);
    EXPECT_EQ(driver.ask(9, {1, 0x1f000, 0x5000, 0x6000, 0}), 1U);
    EXPECT_EQ(driver.ask(35, {1}), 0U);
    EXPECT_EQ(driver.ask(99, {1}), 1U);
    ask(clock, TimeOp::kWait, 0, 1);
    VhostMessage call;
    EXPECT_TRUE(receive_message(heard.get(), call));
    EXPECT_EQ(call.request, 4U);
    EXPECT_EQ(call.u32(), 1U);
    ask(clock, TimeOp::kGet, 0, 2);  // the time, before it has taken the interrupt
    call.flags = 1 | 4;
    EXPECT_TRUE(send_message(heard.get(), call));
  });
  EXPECT_TRUE(peer.serve_until_waiting(seconds(20)));
  EXPECT_EQ(kicked, std::vector<unsigned>{1});
  EXPECT_EQ(memory_bytes, 0xc000U);
  EXPECT_TRUE(peer.call(device, 1, seconds(20)));
  guest.join();
}

}  // namespace flitwise::uml_peer_test
