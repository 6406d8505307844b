// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "lane/device/absent_space.hpp"

#include <Kokkos_Core.hpp>
// Kokkos has no public way to leave out a space, and asks whoever includes this to say so.
#define KOKKOS_IMPL_PUBLIC_INCLUDE
#include <impl/Kokkos_ExecSpaceManager.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE

#include <memory>
#include <ostream>
#include <utility>

namespace zygos::lane::device {
namespace {

class AbsentSpace final : public Kokkos::Impl::ExecSpaceBase {
 public:
  explicit AbsentSpace(std::string name) : name_(std::move(name)) {}

  void initialize(const Kokkos::InitializationSettings&) override {}
  void finalize() override {}
  void static_fence(const std::string&) override {}
  void print_configuration(std::ostream& out, bool) override {
    out << name_ << ": no device on this machine\n";
  }

 private:
  std::string name_;
};

/// Kokkos' key: the name of a space behind its place in the order of initialisation.
std::string key_of(const std::string& name) { return (name == "SYCL" ? "170_" : "150_") + name; }

}  // namespace

void leave_space_uninitialised(const std::string& name) {
  Kokkos::Impl::ExecSpaceManager::get_instance().register_space_factory(
      key_of(name), std::make_unique<AbsentSpace>(name));
}

}  // namespace zygos::lane::device
