// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the steps of the timeline lie beside each other. Nothing here draws.
"use strict";

// An event is [track, task, start, duration], in microseconds from its step's start.
const event_end = (event) => event[2] + event[3];

// Steps in a row keep their distance; longer waits (an evaluation, a checkpoint) and steps that the page leaves out
// become a short break. Adds `at` (position of the start) and `broken` (a break lies before it) to every step.
function lay_out_steps(steps) {
  const spans = steps.map((step) => step.span_us).sort((a, b) => a - b);
  const usual = spans[Math.floor(spans.length / 2)] || 1;
  let at = 0;
  steps.forEach((step, i) => {
    step.broken = false;
    if (i > 0) {
      const before = steps[i - 1];
      const wait = step.start_us - before.start_us - before.span_us;
      step.broken = step.step !== before.step + 1 || wait > usual || wait < 0;
      at += before.span_us + (step.broken ? usual * 0.15 : wait);
    }
    step.at = at;
  });
  return steps;
}

// What is left of [from, to] on each computing track: [track, start, duration, next task or null]. Gaps too short to
// be seen beside the whole, which lie between any two tasks, are left out.
function gaps_of(events, tracks, from, to) {
  const gaps = [], shortest = (to - from) * 0.002;
  tracks.forEach((track, index) => {
    if (track.queue !== 0) return;
    const own = events.filter((event) => event[0] === index).sort((a, b) => a[2] - b[2]);
    if (own.length === 0) return;
    let free = from;
    for (const event of own) {
      if (event[2] - free > shortest) gaps.push([index, free, event[2] - free, event[1]]);
      free = Math.max(free, event_end(event));
    }
    if (to - free > shortest) gaps.push([index, free, to - free, null]);
  });
  return gaps;
}

// The rows of the figure from top to bottom: {group, track (index), name}.
function rows_of(timeline) {
  const used = (events) => new Set(events.map((event) => event[0]));
  const measured = used(timeline.steps.flatMap((step) => step.events));
  const predicted = used(timeline.predicted ? timeline.predicted.events : []);
  const rows = [];
  for (const [group, tracks] of [["measured", measured], ["predicted", predicted]]) {
    timeline.tracks.forEach((track, index) => {
      if (tracks.has(index)) rows.push({ group, track: index, name: track.name });
    });
  }
  return rows;
}

const kind_colours = {
  load: ["--c-grey", "dark"], copy: ["--c-sky", "dark"], forward: ["--c-blue", "blue"], loss: ["--c-yellow", "dark"],
  backward: ["--c-green", "green"], send: ["--c-orange", "dark"], receive: ["--c-amber", "dark"],
  statistics: ["--c-sky", "dark"], all_gather: ["--c-vermillion", "vermillion"], all_reduce: ["--c-vermillion", "vermillion"],
  squares: ["--c-purple", "dark"], norm: ["--c-vermillion", "vermillion"], update: ["--c-purple", "dark"],
  speculate: ["--c-purple", "dark"], confirm: ["--c-purple", "dark"],
};
const kind_fill = (kind) => `var(${(kind_colours[kind] ?? ["--c-grey"])[0]})`;
const kind_ink = (kind) => `var(--ink-${(kind_colours[kind] ?? ["", "dark"])[1]})`;
