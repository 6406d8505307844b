// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Add this source to a Catch2 test that needs Kokkos: it is initialised before the first test case
// and finalised after the last one.
#include "zygos/lane/lane_set.hpp"

#include <Kokkos_Core.hpp>

#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <cstdint>

namespace {

/// More threads than most machines that run the tests have cores: results must not depend on them.
constexpr int threads = 4;

/// By default Kokkos fences all instances before it calls a tool: lanes would stop each other, and
/// two kernels that wait for one another would never end. It asks only while it is initialised.
void ask_for_no_fences(const std::uint32_t, Kokkos::Tools::Experimental::ToolSettings* settings) {
  settings->requires_global_fencing = false;
}

class KokkosSession : public Catch::EventListenerBase {
 public:
  using Catch::EventListenerBase::EventListenerBase;

  void testRunStarting(const Catch::TestRunInfo&) override {
    Kokkos::Tools::Experimental::set_request_tool_settings_callback(ask_for_no_fences);
    zygos::lane::allow_absent_device();
    Kokkos::initialize(
        Kokkos::InitializationSettings().set_num_threads(threads).set_disable_warnings(true));
    Kokkos::Tools::Experimental::set_request_tool_settings_callback(nullptr);
  }

  void testRunEnded(const Catch::TestRunStats&) override { Kokkos::finalize(); }
};

}  // namespace

CATCH_REGISTER_LISTENER(KokkosSession)
