// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/failure.hpp"

#include "core/out_of_memory.hpp"

#include "zygos/deck/findings.hpp"

#include <new>

namespace zygos::app {

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
  } catch (const std::exception& error) {
    const std::string message = error.what();
    if (tells_of_memory(message)) {
      return {ExitCode::memory, message};
    }
    return {ExitCode::bug, message + "\nThis is a bug in zygos; please report it with the deck."};
  } catch (...) {
    return {ExitCode::bug,
            "unknown failure; this is a bug in zygos, please report it with the deck"};
  }
}

}  // namespace zygos::app
