// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "support/bad_data.hpp"

#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/io/idx.hpp"

#include <fstream>
#include <map>
#include <stdexcept>

namespace zygos::test {
namespace {

constexpr std::string_view free_text = "HDF5: ";

/// Lines "name: message".
std::map<std::string, std::string> read_messages() {
  const std::string file = "tests/support/bad_data.txt";
  std::ifstream in(file);
  if (!in) {
    throw std::runtime_error("cannot read " + file + "; run from the project's folder");
  }
  std::map<std::string, std::string> messages;
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) {
      messages[line.substr(0, colon)] = line.substr(colon + 2);
    }
  }
  return messages;
}

}  // namespace

std::vector<BadData> write_bad_data(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<BadData> all = detail::write_bad_idx(folder);
  for (BadData& bad : detail::write_bad_hdf5(folder)) {
    all.push_back(std::move(bad));
  }
  const auto messages = read_messages();
  for (BadData& bad : all) {
    const auto found = messages.find(bad.name);
    bad.message = found == messages.end() ? "(none in bad_data.txt)" : found->second;
  }
  return all;
}

io::Dataset load(const BadData& bad, const std::filesystem::path& folder) {
  const io::LoadOptions options{.classes = bad.classes, .input_scale = {}, .input_offset = 0.0};
  if (bad.format == BadFormat::idx) {
    return io::load_idx(folder / bad.inputs, folder / bad.targets, options);
  }
  return io::load_hdf5_dataset({folder / bad.inputs, bad.inputs_dataset},
                               {folder / bad.targets, bad.targets_dataset}, options);
}

bool matches(const BadData& bad, const std::filesystem::path& folder, const std::string& message) {
  std::string expected = bad.message;
  for (std::size_t at = expected.find("{}"); at != std::string::npos; at = expected.find("{}")) {
    expected.replace(at, 2, folder.string());
  }
  if (expected.ends_with(free_text)) {
    return message.starts_with(expected) && message.size() > expected.size();
  }
  return message == expected;
}

}  // namespace zygos::test
