// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/fed_samples.hpp"

#include "app/run/run_setup.hpp"

namespace zygos::app {

FedSamples::FedSamples(const RunSetup& setup, Looks looks)
    : feed_(setup.training, {.batch = setup.trainer.batch,
                             .shuffle = setup.trainer.shuffle,
                             .drop_last = true,
                             .seed = setup.trainer.seed,
                             .augmentation = setup.trainer.augmentation}),
      batches_(feed_, looks != Looks::no && setup.batch_slots() > 1) {}

}  // namespace zygos::app
