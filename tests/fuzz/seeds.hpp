// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::fuzz {

/// Good inputs of a target, made by what writes such files, and the inputs in tests/fuzz/corpus on
/// which its reader has failed once. The working directory has to be the project's folder.
std::vector<std::string> seeds_of(std::string_view target);

/// The files of `folder`/`target`, in the order of their names; none if there is no such folder.
std::vector<std::string> corpus_of(const std::filesystem::path& folder, const std::string& target);

}  // namespace zygos::fuzz
