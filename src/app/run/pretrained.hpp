// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/console.hpp"
#include "app/run/run_setup.hpp"

#include "zygos/load/deck_file.hpp"

namespace zygos::app {

/// Reads the weights that a new run of the deck begins with, where it names a file, into
/// setup.pretrained. Throws as load::load_pretrained() does.
void load_pretrained_weights(const load::CheckedDeck& checked, RunSetup& setup, Console& console);

}  // namespace zygos::app
