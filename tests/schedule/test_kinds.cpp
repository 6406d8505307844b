// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of kinds, as a text that was reviewed: builder and validator both read the table, so
// that it is right must be seen elsewhere. After a change that is meant, put the text that the
// failed check shows into tests/schedule/kinds.txt.
#include "zygos/schedule/kinds.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace zygos::schedule::test_kinds {
namespace {

/// "activations slot kept", "gradients if accumulates", with the numbers of extent and condition.
std::string text_of(const Operand& operand) {
  std::string text(name_of(operand.kind));
  text += operand.slot == slot_of_task        ? " slot of task"
          : operand.slot == slot_kept         ? " slot kept"
          : operand.slot == slot_of_direction ? " slot of direction"
          : operand.slot == slot_at_rest      ? " slot at rest"
          : operand.slot > 0                  ? " slot " + std::to_string(operand.slot)
                                              : std::string();
  text += " extent " + std::to_string(static_cast<int>(operand.extent));
  return text + (operand.when == 0 ? "" : " when " + std::to_string(operand.when));
}

template <class List, class Text>
std::string joined(const List& list, Text text) {
  std::string out;
  for (const auto& item : list) {
    out += (out.empty() ? "" : ", ") + std::string(text(item));
  }
  return out.empty() ? "-" : out;
}

std::string table_text() {
  const auto operand = [](const Operand& one) { return text_of(one); };
  const auto payload = [](Payload one) { return name_of(one); };
  const auto kind = [](TaskKind one) { return name_of(one); };
  std::string out;
  for (const TaskTraits& row : all_task_kinds()) {
    out += "task " + std::string(row.name) + ": queue " + std::string(name_of(row.queue)) +
           ", cost " + std::to_string(static_cast<int>(row.cost)) +
           (row.computes ? ", computes" : "") + ", messages " +
           std::to_string(static_cast<int>(row.messages)) + (row.sends ? ", sends" : "") +
           (row.names_peer ? ", names a peer" : "") + ", evaluation " +
           std::to_string(static_cast<int>(row.evaluation)) + "\n  carries " +
           joined(row.payloads, payload) + "; priced as " + joined(row.priced_as, kind) +
           "\n  reads " + joined(row.reads, operand) + "\n  writes " + joined(row.writes, operand) +
           "\n";
  }
  for (const BufferTraits& row : all_buffer_kinds()) {
    out += "buffer " + std::string(row.name) + ": lifetime " +
           std::to_string(static_cast<int>(row.lifetime)) + ", tier " +
           std::to_string(static_cast<int>(row.tier)) + ", " +
           std::string(memory::name_of(row.category)) + "\n";
  }
  return out;
}

TEST_CASE("The table of kinds is the one that was reviewed") {
  std::ifstream file("tests/schedule/kinds.txt");
  const std::string reviewed{std::istreambuf_iterator<char>(file), {}};

  CHECK(table_text() == reviewed);
}

TEST_CASE("Names of kinds are unique, and no kind stands in for itself first") {
  std::set<std::string_view> names;
  for (const TaskTraits& row : all_task_kinds()) {
    CHECK(names.insert(row.name).second);
    CHECK((row.priced_as.empty() || row.priced_as.front() != row.kind));
  }
  names.clear();
  for (const BufferTraits& row : all_buffer_kinds()) {
    CHECK(names.insert(row.name).second);
  }
}

TEST_CASE("Whoever sends or reads messages says what they may carry, and nobody else carries") {
  for (const TaskTraits& row : all_task_kinds()) {
    CAPTURE(row.name);
    CHECK(row.payloads.empty() == !(row.sends || row.messages != Reads::no_message));
    CHECK((!row.names_peer || row.sends || row.messages == Reads::one_message));
  }
}

TEST_CASE("What a task computes with lies on its lane; only copies and messages leave it") {
  const auto rests_elsewhere = [](const Operand& operand) {
    return traits_of(operand.kind).tier != Tier::lane;
  };
  for (const TaskTraits& row : all_task_kinds()) {
    CAPTURE(row.name);
    const bool elsewhere = std::ranges::any_of(row.reads, rests_elsewhere) ||
                           std::ranges::any_of(row.writes, rests_elsewhere);
    CHECK_FALSE((row.computes && elsewhere));
  }
}

}  // namespace
}  // namespace zygos::schedule::test_kinds
