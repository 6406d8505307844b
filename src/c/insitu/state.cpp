// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/insitu/state.hpp"

#include "c/failure.hpp"
#include "c/insitu/surrogate.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace zygos::c {
namespace {

std::vector<std::byte> bytes_of(const zygos_surrogate& surrogate) {
  insitu::State state = std::visit([](const auto& net) { return net.state(); }, surrogate.net);
  state += surrogate.samples.state();
  return insitu::to_bytes(state);
}

/// Both or none.
void restore(zygos_surrogate& surrogate, const insitu::State& state) {
  const insitu::State before = surrogate.samples.state();
  surrogate.samples.restore(state);
  try {
    std::visit([&](auto& net) { net.restore(state); }, surrogate.net);
  } catch (...) {
    surrogate.samples.restore(before);
    throw;
  }
}

}  // namespace
}  // namespace zygos::c

using namespace zygos::c;

int zygos_surrogate_state_bytes(zygos_surrogate* surrogate, int64_t* bytes, zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    int64_t& out = required(bytes, "bytes");
    const InUse in_use = used.use();
    out = std::ssize(bytes_of(used));
  });
}

int zygos_surrogate_save_state(zygos_surrogate* surrogate, void* buffer, int64_t size,
                               zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    auto* out = &required(static_cast<std::byte*>(buffer), "buffer");
    const InUse in_use = used.use();
    const auto bytes = bytes_of(used);
    if (size != std::ssize(bytes)) {
      throw zygos::UsageError("a buffer of " + std::to_string(size) +
                              " bytes; zygos_surrogate_state_bytes() says " +
                              std::to_string(bytes.size()));
    }
    std::ranges::copy(bytes, out);
  });
}

int zygos_surrogate_restore_state(zygos_surrogate* surrogate, const void* buffer, int64_t size,
                                  zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    const auto* begin = &required(static_cast<const std::byte*>(buffer), "buffer");
    if (size < 0) {
      throw zygos::UsageError("a buffer of " + std::to_string(size) + " bytes");
    }
    const InUse in_use = used.use();
    restore(used, zygos::insitu::from_bytes({begin, static_cast<std::size_t>(size)}));
  });
}
