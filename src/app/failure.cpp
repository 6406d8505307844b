// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/failure.hpp"

#include "core/out_of_memory.hpp"

#include "zygos/deck/findings.hpp"

#include <new>
#include <system_error>

namespace zygos::app {

namespace {

/// Of an exception that is none of ours.
Failure failure_of(const std::exception& error) {
  const std::string message = error.what();
  if (tells_of_memory(message)) {
    return {ExitCode::memory, message};
  }
  return {ExitCode::bug, message + "\nThis is a bug in zygos; please report it with the deck."};
}

}  // namespace

Failure current_failure() {
  try {
    throw;
  } catch (const SharedFailure& shared) {
    return shared.failure();
  } catch (const deck::DeckError& findings) {
    return {findings.code(), findings.what(), true};
  } catch (const NumericError& error) {
    // What is not finite on one rank makes the loss, or the snapshot, of all not finite.
    return {error.code(), error.what(), false, true};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::memory,
            "the machine has no memory left for this; use a smaller batch or model, or end other "
            "programs"};
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      return {ExitCode::memory,
              "the system gives this process no further thread: its limit of processes, threads or "
              "memory is reached; use fewer lanes or threads, or raise the limit (ulimit -u, -v)"};
    }
    return failure_of(error);
  } catch (const std::exception& error) {
    return failure_of(error);
  } catch (...) {
    return {ExitCode::bug,
            "unknown failure; this is a bug in zygos, please report it with the deck"};
  }
}

}  // namespace zygos::app
