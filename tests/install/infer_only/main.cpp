// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A model from memory, a surrogate that learns, and proof that no library for files or messages
// came with it.
#include "zygos/infer/model.hpp"
#include "zygos/insitu/surrogate.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace {

bool is_loaded(const char* library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) {
      std::printf("%s\n", line.c_str());
      return true;
    }
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace zygos;
  const Kokkos::ScopeGuard kokkos(argc, argv);
  graph::Graph graph(Shape{2}, nn::mean_squared_error());
  graph.add("sum", nn::dense({.units = 1}));
  const std::vector<float> kernel{1.0F, 1.0F}, bias{0.5F};
  const std::vector<infer::Weight> weights{{"sum/kernel", DType::f32, Shape{2, 1}, kernel.data()},
                                           {"sum/bias", DType::f32, Shape{1}, bias.data()}};
  infer::Model model(graph, weights);
  const Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> x("x", 1000, 2);
  const Kokkos::View<double*, Kokkos::HostSpace> y("y", 1000);
  for (int i = 0; i < 1000; ++i) {
    x(i, 0) = i;
    x(i, 1) = 1.0;
  }
  model.predict(Kokkos::DefaultHostExecutionSpace(), x, y);
  for (int i = 0; i < 1000; ++i) {
    if (y(i) != i + 1.5) {
      return 1;
    }
  }
  auto net = insitu::Surrogate::mlp({.in = 2, .out = 1}, Kokkos::DefaultHostExecutionSpace());
  auto samples = net.reservoir({.capacity = 1000});
  samples.add(Kokkos::DefaultHostExecutionSpace(), x, y);
  if (net.train(samples, {.max_steps = 10}).steps != 10) {
    return 1;
  }
  for (const char* library : {"hdf5", "yaml", "libmpi", "crypto", "xxhash", "libz", "fmt"}) {
    if (is_loaded(library)) {
      return 1;
    }
  }
  return 0;
}
