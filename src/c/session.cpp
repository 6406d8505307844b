// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/session.hpp"

#include "c/failure.hpp"

#include "zygos/core/version.hpp"
#include "zygos/lane/lane_set.hpp"

#include <Kokkos_Core.hpp>

#include <memory>
#include <string>

namespace zygos::c {

int threads_of(const zygos_session& session, int threads, const char* what) {
  if (threads < 0) {
    throw UsageError(std::string(what) + " of " + std::to_string(threads) +
                     " threads; it must be 1 or more, or 0 for those of the session");
  }
  return threads > 0 ? threads : session.threads;
}

namespace {

void initialise_kokkos(int threads) {
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  if (threads > 0) {
    settings.set_num_threads(threads);
  }
  lane::allow_absent_device();
  Kokkos::initialize(settings);
}

std::unique_ptr<zygos_session> session_of(int threads) {
  if (threads < 0) {
    throw UsageError("a session of " + std::to_string(threads) +
                     " threads; it must be 1 or more, or 0 for those of Kokkos");
  }
  if (Kokkos::is_finalized()) {
    throw UsageError(
        "Kokkos was finalised and can't be initialised again; keep the session that initialised it "
        "to the end of the program");
  }
  auto session = std::make_unique<zygos_session>();
  if (!Kokkos::is_initialized()) {
    initialise_kokkos(threads);
    session->owns_kokkos = true;
  }
  session->threads = threads > 0 ? threads : Kokkos::OpenMP().concurrency();
  return session;
}

void finalise(zygos_session* session) {
  const std::int64_t models = session->models.load();
  if (models > 0) {
    throw UsageError("the session has " + std::to_string(models) +
                     " models; free them first with zygos_free(), "
                     "surrogates with zygos_surrogate_free()");
  }
  if (session->owns_kokkos && Kokkos::is_initialized() && !Kokkos::is_finalized()) {
    Kokkos::finalize();
  }
  delete session;
}

}  // namespace
}  // namespace zygos::c

using namespace zygos::c;

int zygos_initialize(int32_t threads, zygos_session** session, zygos_error* error) {
  return guarded(error, [&] {
    zygos_session*& made = required(session, "session");  // before anything is initialised
    made = session_of(threads).release();
  });
}

int zygos_finalize(zygos_session* session, zygos_error* error) {
  return guarded(error, [&] {
    if (session != nullptr) {
      finalise(session);
    }
  });
}

int32_t zygos_threads(const zygos_session* session) {
  return session == nullptr ? 0 : session->threads;
}

const char* zygos_version(void) { return zygos::version().data(); }
