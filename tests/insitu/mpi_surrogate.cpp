// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A simulation that owns MPI: ranks train on their own samples as often as they like, one of them
// never, and become one network when they all ask for it. Run by mpirun; exits with 0 if it works.
#include "simulation.hpp"

#include "zygos/comm/mpi.hpp"
#include "zygos/insitu/ranks.hpp"

#include <Kokkos_Core.hpp>

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

using namespace zygos;
using namespace zygos::test;

namespace {

/// Sum of the bits of all weights: equal only if all weights are.
std::int64_t fingerprint(const insitu::Surrogate& net) {
  std::uint64_t sum = 0;
  for (const insitu::StoredTensor& tensor : net.state().tensors) {
    for (const std::byte byte :
         tensor.name.starts_with("weights/") ? tensor.bytes : std::vector<std::byte>()) {
      sum = sum * 1099511628211ULL + static_cast<std::uint64_t>(byte);
    }
  }
  return static_cast<std::int64_t>(sum >> 1U);
}

bool run() {
  const auto ranks = comm::mpi_communicator(MPI_COMM_WORLD);
  const Kokkos::OpenMP exec(1);
  auto net = small_net(exec);
  auto reservoir = net.reservoir({.capacity = 300});
  const Particles<double> particles(300, static_cast<std::uint64_t>(ranks->rank()) + 1);
  reservoir.add(exec, particles.inputs(), particles.f);
  insitu::share_standards(net, reservoir, *ranks);
  if (ranks->rank() != 1) {
    // No rank receives anything here, and none takes as many steps as another.
    net.train(reservoir, {.max_steps = 10 + 5 * ranks->rank()});
  }
  std::array<std::int64_t, 2> before{fingerprint(net), -fingerprint(net)};
  ranks->max(before);
  insitu::average(net, *ranks, static_cast<double>(net.steps()));
  std::array<std::int64_t, 2> after{fingerprint(net), -fingerprint(net)};
  ranks->max(after);
  return before[0] != -before[1] && after[0] == -after[1];
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  bool works = false;
  {
    const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_num_threads(1));
    works = run();
  }
  MPI_Finalize();
  std::printf("%s\n", works ? "ranks agree" : "ranks do not agree");
  return works ? 0 : 1;
}
