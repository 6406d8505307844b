// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/launcher.hpp"
#include "comm/ranks.hpp"

#include "zygos/comm/mpi_session.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdlib>

namespace zygos::test_mpi_session {
using namespace zygos::testing;

namespace {

int launched() {
  return comm::launched_processes([](const char* name) { return std::getenv(name); });
}

}  // namespace

TEST_CASE("the session has MPI if, and only if, a launcher started this process", "[comm]") {
  const comm::MpiSession session;  // main's own is the one that initialised
  CHECK(session.active() == (launched() > 0));
  const auto world = session.world();
  CHECK(world->kind() == (launched() > 0 ? "mpi" : "in-process"));
  CHECK(world->size() == (launched() > 0 ? launched() : 1));
}

TEST_CASE("a tag beyond what MPI has is refused with the largest", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    if (c.kind() != "mpi") {
      return;
    }
    std::vector<std::byte> buffer(1);
    bool refused = false;
    try {
      c.open_send(buffer, 0, 2147483647);
    } catch (const UsageError& error) {
      refused = true;
      expect_contains(error.what(), "this MPI has tags up to ");
    }
    expect(refused, "the largest int is no tag");
  });
}

}  // namespace zygos::test_mpi_session
