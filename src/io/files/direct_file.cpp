// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/files/direct_file.hpp"

#include "zygos/core/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

namespace zygos::io {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t piece_bytes = std::size_t{16} << 20;  // of reads

struct AlignedDelete {
  void operator()(std::byte* memory) const noexcept {
    ::operator delete[](memory, std::align_val_t{direct_alignment});
  }
};

bool is_aligned(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data()) % direct_alignment == 0;
}

/// False where the file system has no direct I/O.
bool set_direct(const Descriptor& file, bool direct) noexcept {
  const int flags = ::fcntl(file.get(), F_GETFL);
  return flags >= 0 &&
         ::fcntl(file.get(), F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

}  // namespace

void write_large_file_durably(const fs::path& file, std::span<const std::byte> bytes) {
  Descriptor out = create_file(file);
  if (bytes.size() >= direct_min_bytes && is_aligned(bytes) && set_direct(out, true)) {
    // What the file system refuses goes through the cache, where any other error is met again.
    const std::size_t blocks = bytes.size() / direct_alignment * direct_alignment;
    bytes = bytes.subspan(write_until_refused(out, bytes.first(blocks)));
    set_direct(out, false);
  }
  write_all(out, file, bytes);
  close_durably(out, file);
}

void read_from_disk(const fs::path& file,
                    const std::function<bool(std::span<const std::byte>)>& take) {
  std::uint64_t size = 0;
  const Descriptor in = open_regular(file, size);
  const std::size_t room =
      std::min<std::uint64_t>(piece_bytes, (size / direct_alignment + 1) * direct_alignment);
  const std::unique_ptr<std::byte[], AlignedDelete> memory(new (std::align_val_t{direct_alignment})
                                                               std::byte[room]);
  // Some file systems accept the flag and refuse the read.
  if (set_direct(in, true) && ::pread(in.get(), memory.get(), direct_alignment, 0) < 0) {
    set_direct(in, false);
  }
  read_pieces(in, file, {memory.get(), room}, take);
}

}  // namespace zygos::io
