// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/fed_samples.hpp"

#include "app/run/run_setup.hpp"

namespace zygos::app {

FedSamples::FedSamples(const RunSetup& setup)
    : feed_(setup.training, {.batch = setup.trainer.batch,
                             .shuffle = setup.trainer.shuffle,
                             .drop_last = true,
                             .seed = setup.trainer.seed}) {}

train::Batch FedSamples::next() {
  const io::FedBatch fed = feed_.next();
  return {fed.inputs, fed.targets, fed.ids, fed.rows};
}

}  // namespace zygos::app
