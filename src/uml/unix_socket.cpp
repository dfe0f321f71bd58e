// SPDX-License-Identifier: Apache-2.0
// recvmsg and sendmsg, until all is there.
#include "uml/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/interrupt.h"

namespace flitwise {
namespace {

constexpr std::size_t kMostFiles = 8;  // of one message

void take_files(const msghdr& header, std::vector<OwnedFile>* files) {
  for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr;
       one = CMSG_NXTHDR(const_cast<msghdr*>(&header), one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(one) + i * sizeof(int), sizeof(int));
      OwnedFile file(descriptor);
      if (files != nullptr) {
        files->push_back(std::move(file));
      }
    }
  }
}

}  // namespace

OwnedFile listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
  }
  path.copy(address.sun_path, path.size());
  OwnedFile listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!listener.is_open() ||
      bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 1) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
  return listener;
}

OwnedFile accept_from(const OwnedFile& listener) {
  return OwnedFile(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

bool send_all(int socket, const void* bytes, std::size_t size) {
  const auto* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t sent = send(socket, next, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR && !is_interrupted()) {
      continue;
    }
    if (sent <= 0) {
      return false;
    }
    next += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* bytes, std::size_t size, std::vector<OwnedFile>* files) {
  auto* next = static_cast<char*>(bytes);
  while (size > 0) {
    iovec area{next, size};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFiles * sizeof(int))> control;
    msghdr header{};
    header.msg_iov = &area;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t received = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    if (received < 0 && errno == EINTR && !is_interrupted()) {
      continue;
    }
    if (received <= 0) {
      return false;
    }
    take_files(header, files);
    next += received;
    size -= static_cast<std::size_t>(received);
  }
  return true;
}

}  // namespace flitwise
