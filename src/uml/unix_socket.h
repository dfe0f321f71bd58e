// SPDX-License-Identifier: Apache-2.0
/// Sockets of the local machine: whole messages, and the file descriptors that come with them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "uml/owned_file.h"

namespace flitwise {

/// Throws std::system_error where nobody can listen at the path.
OwnedFile listen_at(const std::string& path);
/// The next one who connects. REQUIRES: poll() has said that there is one.
OwnedFile accept_from(const OwnedFile& listener);
/// All of it; false where the other end is gone.
bool send_all(int socket, const void* bytes, std::size_t size);
/// Waits for so many bytes; false where the other end is gone before. files: those that come with
/// them are appended; null: they are closed.
bool receive_all(int socket, void* bytes, std::size_t size,
                 std::vector<OwnedFile>* files = nullptr);

}  // namespace flitwise
