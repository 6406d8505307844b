# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""docs/install.md says how to use it, and what of it was tried."""

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *

# What needs which libraries: src/cmake/ZygosComponents.cmake.
ALONE = ("infer", "insitu")  # with Kokkos
WITH_DECKS = ("insitu_deck", "train", "policies", "load", "c", "all")
WITH_FILES = ("io", "insitu_hdf5", "train", "policies", "load", "c", "all")
WITH_MESSAGES = ("comm", "insitu_ranks", "train", "policies", "load", "c", "all")


class Zygos(CMakePackage, CudaPackage):
    """Trains neural networks on the host and the device at once, inside simulations too: a library on
    Kokkos, and a program that runs input decks."""

    # The clone that this file lies in; a published one has its address here.
    git = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), *[".."] * 6))

    license("Apache-2.0")

    version("main", branch="main")

    variant(
        "components",
        default="all",
        values=tuple(dict.fromkeys(("all", *ALONE, *WITH_DECKS, *WITH_FILES, *WITH_MESSAGES))),
        multi=True,
        description="Modules to build, with those that they use; 'all' is not combined",
    )
    variant("mpi", default=True, description="Ranks over MPI, where a component has them")
    variant("onnx", default=False, description="Models as ONNX, where a component has files")
    variant("fortran", default=False, when="components=all", description="The Fortran module")
    variant("app", default=True, when="components=all", description="The program, zygos")
    variant("shared", default=False, description="Shared libraries")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    conflicts("%gcc@:11", msg="C++20 and OpenMP of gcc 12 are what Zygos is tested with")

    depends_on("kokkos@4.5:4 +openmp +serial +pic cxxstd=20")
    for arch in CudaPackage.cuda_arch_values:
        with when(f"+cuda cuda_arch={arch}"):
            depends_on(f"kokkos +cuda +cuda_lambda +wrapper cuda_arch={arch}")
            depends_on(f"kokkos-kernels +cuda cuda_arch={arch}")
    conflicts("cuda_arch=none", when="+cuda", msg="Say cuda_arch=<number>, such as 90")

    for component in WITH_DECKS:
        depends_on("yaml-cpp", when=f"components={component}")
    for component in WITH_FILES:
        with when(f"components={component}"):
            depends_on("hdf5")
            depends_on("hdf5~mpi", when="~mpi")
            depends_on("fmt")
            depends_on("libzip")
            depends_on("openssl")
            depends_on("xxhash")
            depends_on("zlib-api")
            # Headers of later ones call libraries that they do not bring along.
            depends_on("onnx", when="+onnx")
            depends_on("protobuf@:3.21", when="+onnx")
    for component in dict.fromkeys((*WITH_DECKS, *WITH_FILES)):
        depends_on("nlohmann-json", type="build", when=f"components={component}")
    for component in WITH_MESSAGES:
        depends_on("mpi", when=f"+mpi components={component}")
    depends_on("cli11", type="build", when="+app")
    depends_on("catch2@3:", type="test", when="components=all")

    sanity_check_is_file = [join_path("include", "zygos", "core", "version.hpp")]

    def cmake_args(self):
        complete = self.spec.satisfies("components=all")
        return [
            self.define("ZYGOS_COMPONENTS", list(self.spec.variants["components"].value)),
            self.define("ZYGOS_DEVICE", "cuda" if self.spec.satisfies("+cuda") else "none"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("ZYGOS_ENABLE_MPI", "mpi"),
            self.define_from_variant("ZYGOS_ENABLE_ONNX", "onnx"),
            self.define("ZYGOS_ENABLE_NCCL", False),
            self.define("ZYGOS_ENABLE_CUDNN", False),
            self.define("ZYGOS_ENABLE_FORTRAN", self.spec.satisfies("+fortran")),
            self.define("ZYGOS_ENABLE_APP", self.spec.satisfies("+app")),
            self.define("ZYGOS_ENABLE_TESTS", complete and self.run_tests),
            self.define("ZYGOS_ENABLE_EXAMPLES", False),
        ]
