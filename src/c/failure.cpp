// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/failure.hpp"

#include "core/out_of_memory.hpp"

#include <cstring>
#include <exception>
#include <new>
#include <string_view>

namespace zygos::c {
namespace {

constexpr bool is(zygos_code code, ExitCode same) {
  return static_cast<int>(code) == static_cast<int>(same);
}
static_assert(is(ZYGOS_OK, ExitCode::done) && is(ZYGOS_ERROR_BUG, ExitCode::bug) &&
              is(ZYGOS_ERROR_USAGE, ExitCode::usage) && is(ZYGOS_ERROR_DATA, ExitCode::data) &&
              is(ZYGOS_ERROR_CHECKPOINT, ExitCode::checkpoint) &&
              is(ZYGOS_ERROR_IO, ExitCode::io) && is(ZYGOS_ERROR_MEMORY, ExitCode::memory) &&
              is(ZYGOS_ERROR_NUMERIC, ExitCode::numeric));

/// Where to end a text of at most `room` bytes: not within a character of UTF-8.
std::size_t whole_characters(std::string_view text, std::size_t room) {
  while (room > 0 && (static_cast<unsigned char>(text[room]) & 0xC0U) == 0x80U) {
    --room;
  }
  return room;
}

int report(zygos_error* error, int code, std::string_view message) noexcept {
  if (error == nullptr) {
    return code;
  }
  constexpr std::string_view cut = "...";
  constexpr std::size_t room = ZYGOS_MESSAGE_LENGTH - 1;
  error->code = code;
  std::size_t length = message.size();
  if (length > room) {
    length = whole_characters(message, room - cut.size());
    std::memcpy(error->message + length, cut.data(), cut.size());
    error->message[length + cut.size()] = '\0';
  } else {
    error->message[length] = '\0';
  }
  std::memcpy(error->message, message.data(), length);
  return code;
}

}  // namespace

int report_current_exception(zygos_error* error) noexcept {
  try {
    throw;
  } catch (const Error& failure) {
    return report(error, static_cast<int>(failure.code()), failure.what());
  } catch (const std::bad_alloc&) {
    return report(error, ZYGOS_ERROR_MEMORY, "the machine has no memory left for this");
  } catch (const std::exception& failure) {
    return report(error, tells_of_memory(failure.what()) ? ZYGOS_ERROR_MEMORY : ZYGOS_ERROR_BUG,
                  failure.what());
  } catch (...) {
    return report(error, ZYGOS_ERROR_BUG, "unknown failure");
  }
}

}  // namespace zygos::c
