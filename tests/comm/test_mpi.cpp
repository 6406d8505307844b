// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds for MPI alone: that it lives beside the MPI of the program that embeds it.
#include "comm/ranks.hpp"

#include "zygos/comm/mpi.hpp"
#include "zygos/comm/mpi_session.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <climits>
#include <thread>

namespace zygos::test_mpi {
using namespace zygos::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

bool initialised() {
  int value = 0;
  MPI_Initialized(&value);
  return value != 0;
}

}  // namespace

TEST_CASE("this build has MPI", "[comm]") { CHECK(comm::mpi_available()); }

TEST_CASE("a communicator over MPI that is not initialised is refused with what to do", "[comm]") {
  if (initialised()) {
    return;  // without mpirun only
  }
  CHECK_THROWS_WITH(comm::mpi_communicator(MPI_COMM_NULL), ContainsSubstring("MPI_Init_thread"));
}

TEST_CASE("messages do not meet those of the caller on its own communicator", "[comm]") {
  if (!initialised()) {
    return;
  }
  int caught = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&caught, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  int rank = 0;
  {
    const auto c = comm::mpi_communicator(MPI_COMM_WORLD, {.time_limit_s = 60.0});
    rank = c->rank();
    std::vector<std::byte> out(4, std::byte{7});
    std::vector<std::byte> in(4);
    const auto sender = c->open_send(out, (rank + 1) % c->size(), 0);
    const auto receiver = c->open_receive(in, (rank + c->size() - 1) % c->size(), 0);
    receiver->start();
    sender->start();
    c->wait(*receiver);
    c->wait(*sender);
    CHECK(in == out);
    c->barrier();
  }
  int complete = 1;
  MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
  CHECK(complete == 0);
  MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(caught == rank);
}

TEST_CASE("ranks are those of the communicator that was given", "[comm]") {
  if (!initialised()) {
    return;
  }
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world % 2, -world, &half);  // numbered backwards
  {
    const auto c = comm::mpi_communicator(half, {.time_limit_s = 60.0});
    MPI_Comm_free(&half);  // the duplicate lives on
    std::vector<double> sum{static_cast<double>(world)};
    c->sum(sum);
    double expected = 0.0;
    for (int r = 0; r < c->size(); ++r) {
      expected += world % 2 + 2.0 * r;
    }
    CHECK(sum[0] == expected);
    CHECK(c->rank() == c->size() - 1 - world / 2);
  }
}

TEST_CASE("the caller's error handler stays its own, and MPI initialised", "[comm]") {
  if (!initialised()) {
    return;
  }
  const auto handler = [] {
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found);
    return found;
  };
  const auto before = handler();
  comm::mpi_communicator(MPI_COMM_WORLD).reset();
  { const comm::MpiSession session; }
  CHECK(handler() == before);
  int finalised = 1;
  MPI_Finalized(&finalised);
  CHECK(finalised == 0);
}

TEST_CASE("a call from another thread is a bug, and said to be", "[comm]") {
  on_every_rank([](comm::Communicator& c) {
    if (c.kind() != "mpi") {
      return;
    }
    bool refused = false;
    std::thread([&] {
      try {
        c.check();
      } catch (const InternalError&) {
        refused = true;
      }
    }).join();
    expect(refused, "MPI is called from one thread");
  });
}

TEST_CASE("parts of a message that MPI cannot count are refused", "[comm]") {
  if (!initialised()) {
    return;
  }
  CHECK_THROWS_WITH(
      comm::mpi_communicator(MPI_COMM_WORLD, {.part_bytes = std::size_t{INT_MAX} + 1}),
      ContainsSubstring("MPI counts in int"));
}

TEST_CASE("a rank that kills all ends those that wait", "[.kill]") {
  const comm::MpiSession session;
  const auto world = session.world();
  if (world->rank() == world->size() - 1) {
    session.kill(ExitCode::peer);
  }
  world->barrier();
}

}  // namespace zygos::test_mpi
