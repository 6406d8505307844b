// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The simulation's own HDF5 file, which it opens and closes itself.
#include "simulation.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/insitu/hdf5.hpp"

#include <catch2/catch_test_macros.hpp>
#include <hdf5.h>

#include <string>

namespace zygos::test_hdf5 {
using namespace zygos::test;

namespace {

/// A restart file of a simulation, with data of its own.
struct RestartFile {
  explicit RestartFile(const std::string& name)
      : file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)),
        group(H5Gcreate2(file, "zygos", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)) {
    const hsize_t cells = 4;
    const double density[4] = {1.0, 2.0, 3.0, 4.0};
    const hid_t space = H5Screate_simple(1, &cells, nullptr);
    const hid_t data = H5Dcreate2(file, "density", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                  H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, density);
    H5Dclose(data);
    H5Sclose(space);
  }
  ~RestartFile() {
    H5Gclose(group);
    H5Fclose(file);
  }

  hid_t file;
  hid_t group;
};

struct Trained {
  explicit Trained(int threads = 1)
      : exec(threads), net(small_net(exec)), reservoir(net.reservoir({.capacity = 120})) {}
  void advance(std::uint64_t seed) {
    const Particles<double> particles(100, seed);
    reservoir.add(exec, particles.inputs(), particles.f);
    net.train(reservoir, {.max_steps = 10});
  }
  insitu::State state() const {
    insitu::State all = net.state();
    all += reservoir.state();
    return all;
  }

  Kokkos::OpenMP exec;
  insitu::Surrogate net;
  insitu::Reservoir reservoir;
};

}  // namespace

TEST_CASE("A restart from the simulation's file goes on with the bits of an undisturbed run",
          "[insitu][hdf5]") {
  const TemporaryFolder folder("insitu");
  const std::string name = (folder.path() / "restart.h5").string();
  Trained undisturbed;
  undisturbed.advance(1);
  {
    const RestartFile restart(name);
    insitu::save(undisturbed.state(), restart.group);
    insitu::save(undisturbed.state(), restart.group);  // the next dump, into the same group
  }
  undisturbed.advance(2);
  Trained restarted;

  const hid_t file = H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t group = H5Gopen2(file, "zygos", H5P_DEFAULT);
  const insitu::State read = insitu::load(group);
  restarted.net.restore(read);
  restarted.reservoir.restore(read);
  restarted.advance(2);

  CHECK(H5Lexists(file, "density", H5P_DEFAULT) > 0);
  CHECK(H5Lexists(group, "weights", H5P_DEFAULT) > 0);
  H5Gclose(group);
  H5Fclose(file);
  CHECK(same(restarted.state(), undisturbed.state()));
}

TEST_CASE("What HDF5 refuses is an error with its reason, and its printer stays the caller's",
          "[insitu][hdf5]") {
  const TemporaryFolder folder("insitu");
  const std::string name = (folder.path() / "restart.h5").string();
  Trained trained;
  { const RestartFile restart(name); }
  const hid_t file = H5Fopen(name.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  H5E_auto2_t before = nullptr;
  H5E_auto2_t after = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);

  CHECK_THROWS_AS(insitu::save(trained.state(), file), IoError);
  CHECK_THROWS_AS(insitu::load(-1), IoError);

  H5Eget_auto2(H5E_DEFAULT, &after, &data);
  CHECK(before == after);
  H5Fclose(file);
}

}  // namespace zygos::test_hdf5
