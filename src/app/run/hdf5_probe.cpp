// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/hdf5_probe.hpp"

#include "app/child_process.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <string>
#include <string_view>

namespace zygos::app {
namespace {

/// The word in the place of a command.
constexpr std::string_view probe_word = "probe-hdf5";
/// Of processor time: headers are kilobytes.
constexpr rlim_t max_seconds = 20;
/// Of address space.
constexpr rlim_t max_bytes = rlim_t{8} << 30U;

void limit(decltype(RLIMIT_CPU) resource, rlim_t most) {
  const rlimit limits{most, most};
  static_cast<void>(::setrlimit(resource, &limits));
}

void limit_this_process() {
  limit(RLIMIT_CPU, max_seconds);
  limit(RLIMIT_CORE, 0);
#ifndef __SANITIZE_ADDRESS__  // which takes terabytes of addresses for itself
  limit(RLIMIT_AS, max_bytes);
#endif
}

}  // namespace

void probe_hdf5(const io::Hdf5Location& location) {
  int code = 0;
  try {
    const OutputFile output;
    const OutputFile errors;
    ChildProcess child({std::string(probe_word), location.file.string(), location.dataset}, output,
                       errors);
    child.wait();
    code = child.code();
  } catch (const IoError&) {
    return;
  }
  if (code <= 128) {
    return;
  }
  const int signal = code - 128;
  throw DataError(fmt::format(
      "{}: found a damaged HDF5 file: opening '{}' {} (tried in a process of its own); fetch the "
      "file again, or write it anew",
      location.file.string(), location.dataset,
      signal == SIGXCPU || signal == SIGKILL
          ? fmt::format("takes the HDF5 library more than {} s of processor time", max_seconds)
          : fmt::format("ends the HDF5 library by signal {} ({})", signal, ::strsignal(signal))));
}

void probe_hdf5(const deck::DataSpec& data) {
  if (data.format == deck::DataFormat::graph) {
    probe_hdf5({data.graph.file, "features"});
  }
  if (data.format != deck::DataFormat::hdf5) {
    return;
  }
  const auto probe = [](const deck::DataFiles& files) {
    probe_hdf5({files.inputs, files.inputs_dataset});
    if (!files.targets_dataset.empty()) {
      probe_hdf5({files.targets, files.targets_dataset});
    }
  };
  probe(data.train);
  if (data.test) {
    probe(*data.test);
  }
}

std::optional<int> run_as_probe(int argc, const char* const* argv) {
  if (argc != 4 || argv[1] != probe_word) {
    return std::nullopt;
  }
  limit_this_process();
  try {
    static_cast<void>(io::hdf5_bytes({argv[2], argv[3]}));
  } catch (const std::exception&) {
    return static_cast<int>(ExitCode::data);  // this process's parent finds it, too, and says it
  }
  return 0;
}

}  // namespace zygos::app
