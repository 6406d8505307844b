// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What the files of this folder share: their registry entries and the pieces most schedules begin
// with.
#pragma once

#include "zygos/policies/policies.hpp"
#include "zygos/schedule/builder.hpp"

#include <string>
#include <vector>

namespace zygos::policies {

train::PolicyEntry single_entry();
train::PolicyEntry coarse_split_entry();

/// Places, batch and model of the problem; no place has a stage yet.
schedule::Outline outline_of(std::string policy, const plan::Problem& problem);

/// load, copy (where the place needs one), forward, loss, backward of a micro-batch.
void add_pass(schedule::ScheduleBuilder& builder, schedule::Place place,
              schedule::MicroBatch micro_batch);

/// The schedule of one place that does everything.
schedule::Schedule whole_batch_on(std::string policy, const plan::Problem& problem,
                                  schedule::Place place);

}  // namespace zygos::policies
