// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/ranks.hpp"

#include "zygos/comm/mpi_session.hpp"

#include <catch2/catch_session.hpp>

namespace zygos::testing {
namespace {

const comm::MpiSession* session_of_main = nullptr;

}  // namespace

void on_every_rank(const OnRank& body, const comm::Options& options) {
  const auto communicator = session_of_main->world(options);
  try {
    body(*communicator);
  } catch (const std::exception& error) {
    communicator->abort(error.what());
    throw;
  }
}

}  // namespace zygos::testing

int main(int argc, char** argv) {
  const zygos::comm::MpiSession session;
  zygos::testing::session_of_main = &session;
  return Catch::Session().run(argc, argv);
}
