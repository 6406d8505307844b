// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Head, timeline section, comparison, deck and versions.
"use strict";

function draw_head(data) {
  const summary = data.summary;
  const state = !summary ? "no summary: killed, or still at work"
    : summary.finished ? "finished" : "stopped before its end";
  by_id("state").textContent = state;
  if (summary?.finished) by_id("state").classList.add("good");
  const parts = [];
  if (summary?.policy) parts.push(`policy ${summary.policy}${summary.chosen ? ", chosen by the planner" : ""}`);
  const samples = in_order(data, Object.keys(summary?.samples ?? {})).map((place) => [place, summary.samples[place]])
    .filter(([, count]) => count > 0);
  if (samples.length) parts.push(samples.map(([place, count]) => `${place} ${text_of_count(count)}`).join(" + ") + " samples a step");
  if (is_number(summary?.parameters)) parts.push(text_of_count(summary.parameters) + " parameters");
  if (is_number(summary?.trained_parameters) && summary.trained_parameters < summary.parameters) {
    parts.push(text_of_count(summary.trained_parameters) + " trained");
  }
  if (data.written) parts.push("run folder last written " + data.written);
  by_id("subtitle").textContent = parts.join(" · ");
  for (const title of document.querySelectorAll("section h2")) {
    by_id("contents").append(html("a", { href: "#" + title.parentNode.id }, title.textContent));
  }
  if (data.problems.length) {
    by_id("problems").append(html("div", { class: "notice", role: "note" }, "What this page lacks:",
      html("ul", {}, data.problems.map((problem) => html("li", {}, problem)))));
  }
}

// The set that a run was evaluated on, which older runs do not name.
const held_out = (summary, metrics) => summary?.evaluated_on ?? metrics?.findLast((line) => line.kind === "test" && line.set)?.set ?? "test";

// Times of a step are medians over the run everywhere, and rates follow from them.
const median_rate = (summary) => (summary?.median_step_s > 0 && is_number(summary.batch) ? summary.batch / summary.median_step_s : undefined);

// What every run reached; without other runs there is no such section.
function draw_runs(data) {
  if (!data.others.length) {
    by_id("runs").remove();
    return;
  }
  const columns = [
    ["policy", (summary) => summary.policy, (policy) => policy],
    ["steps", (summary) => summary.steps, text_of_count],
    ["training loss", (summary) => summary.loss, text_of_number],
    ["evaluated on", (summary) => (is_number(summary.test_loss) ? held_out(summary) : undefined), (set) => set],
    ["its loss", (summary) => summary.test_loss, text_of_number],
    ["its accuracy", (summary) => summary.test_accuracy, text_of_percent],
    ["its Dice score", (summary) => summary.test_dice, text_of_percent],
    ["step, median", (summary) => summary.median_step_s, text_of_seconds],
    ["samples a second at that", median_rate, text_of_rate],
    ["total memory", (summary) => Object.values(summary.peak_bytes ?? {}).reduce((sum, lane) => sum + (lane.total ?? 0), 0) || undefined, text_of_bytes],
    ["time", (summary) => summary.seconds, text_of_seconds],
  ];
  const runs = [{ name: data.folder, summary: data.summary }, ...data.others];
  const known = (value) => value !== undefined && value !== null;
  const shown = columns.filter(([, value_of]) => runs.some((run) => known(value_of(run.summary ?? {}))));
  by_id("runs-body").append(table_of("", [["run"], ...shown.map(([name], i) => [name, i > 0])],
    runs.map((run) => [run.name, ...shown.map(([, value_of, text]) => {
      const value = value_of(run.summary ?? {});
      return known(value) ? text(value) : "–";
    })])));
}

function draw_tiles(data) {
  const summary = data.summary ?? {}, gain = summary.gain ?? {};
  const last = data.metrics.filter((line) => line.kind === "train").pop() ?? {};
  const peak = Object.values(summary.peak_bytes ?? {}).reduce((sum, lane) => sum + (lane.total ?? 0), 0);
  const speedup = is_number(gain.measured) ? gain.measured : gain.predicted;
  const set = held_out(data.summary, data.metrics);
  const evaluated = data.metrics.filter((line) => line.kind === "test").pop() ?? {};
  const tiles = [
    [`${set} accuracy`, summary.test_accuracy ?? evaluated.test_accuracy, text_of_percent],
    [`${set} Dice score`, summary.test_dice ?? evaluated.test_dice, text_of_percent],
    [`${set} loss`, summary.test_loss ?? evaluated.test_loss, text_of_number],
    ["training loss", summary.loss ?? last.loss, text_of_number],
    ["steps", summary.steps ?? last.step, text_of_count],
    ["a step, median of the run", summary.median_step_s ?? last.median_step_s, text_of_seconds],
    ["samples a second at the median step", median_rate(summary), (rate) => significant(rate, 3)],
    ["samples a second per GiB of the fullest lane", summary.memory_efficiency?.samples_per_s_per_gib, (rate) => significant(rate, 3)],
    [is_number(gain.measured) ? "speed-up, measured" : "speed-up, predicted", speedup,
      (value) => value.toFixed(2) + " ×"],
    ["total memory", peak || null, text_of_bytes],
    ["stood still for checkpoints", summary.checkpoints?.committed ? summary.checkpoints.stopped_s : null, text_of_seconds],
    ["writing checkpoints", summary.checkpoints?.committed ? summary.checkpoints.writing_s : null, text_of_seconds],
  ];
  by_id("tiles").append(...tiles.filter(([, value]) => is_number(value)).map(([name, value, text]) =>
    html("div", { class: "tile" }, html("b", {}, text(value)), html("span", {}, name))));
}

function draw_timeline(data) {
  const parent = by_id("timeline-body"), timeline = data.timeline;
  if (!timeline || timeline.steps.length === 0) {
    parent.append(html("p", { class: "quiet" }, "No timeline: it is written when a run ends or stops."));
    return null;
  }
  const holder = html("div", {});
  const drawn = new Timeline(holder, timeline);
  const kinds = [...new Set(timeline.tasks.map((task) => task.kind))];
  const kept = timeline.steps.length, numbers = timeline.steps.map((step) => step.step);
  const row = numbers.every((number, i) => i === 0 || number === numbers[i - 1] + 1);
  const which = row ? `steps ${text_of_count(numbers[0])} to ${text_of_count(numbers[kept - 1])}`
    : `step ${text_of_count(numbers[0])} and steps ${text_of_count(numbers[1])} to ${text_of_count(numbers[kept - 1])}`;
  const all = timeline.steps_in_trace > kept;
  parent.append(
    html("p", { class: "quiet small" }, `This page holds ${kept === 1 ? "step " + text_of_count(numbers[0]) : which}` +
      (all ? `; all ${text_of_count(timeline.steps_in_trace)} traced ones are in trace.json, which Perfetto opens.` : ".") +
      " The times above single steps are those from the first task's start to the last one's end; the median of the run also has what lies between steps."),
    timeline_buttons(drawn),
    legend_of([...kinds.map((kind) => [plain_words(kind), kind_fill(kind)]), ["idle", null]]), holder,
    html("p", { class: "quiet small controls", id: "timeline-keys" }, "Drag over a stretch of time to zoom in, with Shift to move; " +
      "Ctrl and wheel zoom, and the wheel alone once the figure was clicked; double click fits a step. Keys: arrows go from task to " +
      "task, Shift and arrows move, + and − zoom, 0 fits the step, Page Up and Page Down change it."),
    as_details("Tasks of the shown step as a table", () => task_table(drawn)));
  holder.after(...idle_table(data));
  drawn.draw();
  return drawn;
}

function task_table(drawn) {
  const { tracks, tasks, predicted } = drawn.data;
  const rows = drawn.step.events.map((event) => {
    const task = tasks[event[1]];
    const other = predicted?.events.find((one) => one[1] === event[1]);
    return [tracks[event[0]].name, task.text, text_of_time(event[2]), text_of_time(event[3]), other ? text_of_time(other[3]) : "",
      task.bytes ? text_of_bytes(task.bytes) : "", task.reads.join(", "), task.writes.join(", ")];
  });
  return table_of(`Step ${text_of_count(drawn.step.step)}`, [["lane"], ["task"], ["start", true], ["takes", true],
    ["predicted", true], ["bytes", true], ["reads"], ["writes"]], rows);
}

function idle_table(data) {
  const { measured, predicted } = data.timeline.idle;
  const names = in_order(data, Object.keys(measured));
  const rows = names.map((name) => [name, text_of_percent(measured[name]), predicted ? text_of_percent(predicted[name]) : "–"]);
  const gap = data.timeline.gap_us;
  return [html("p", { class: "small" }, "Idle is a lane that computes nothing; its share of a step, the median of " +
      `${text_of_count(data.timeline.steps_in_trace)} traced steps` +
      (is_number(gap) ? `, between which ${text_of_time(gap)} pass (median):` : ":")),
    table_of("", [["lane"], ["idle, measured", true], ["idle, predicted", true]], rows)];
}

// rows: [what, predicted, measured, text function]
function draw_comparison(data) {
  const parent = by_id("comparison-body"), summary = data.summary, gain = summary?.gain;
  const rows = [];
  if (gain) {
    rows.push(["time of a step, median of the run", gain.step_s?.predicted, summary.median_step_s, text_of_seconds],
      ["speed-up over the fastest single lane" + (is_number(gain.measured) ? ", each in turn after the run" : ""),
        gain.predicted, gain.measured, (value) => value.toFixed(2) + " ×"]);
  }
  const idle = data.timeline?.idle;
  for (const place of in_order(data, Object.keys(idle?.predicted ?? {}))) {
    rows.push([`idle time of lane ${place}`, idle.predicted[place], idle.measured[place], text_of_percent]);
  }
  const planned = summary?.planned_bytes ?? {};
  for (const place of in_order(data, Object.keys(planned))) {
    if (!(planned[place].total > 0) && !(summary.peak_bytes?.[place]?.total > 0)) continue;
    rows.push([`peak memory of ${place}`, planned[place].total, summary.peak_bytes?.[place]?.total, text_of_bytes]);
  }
  if (rows.length === 0) {
    parent.append(html("p", { class: "quiet" }, summary ? "Nothing was predicted: the run kept to a policy that needs no plan."
      : "Nothing to compare: the run wrote no summary."));
    return;
  }
  const text = (value, to_text) => (is_number(value) ? to_text(value) : "–");
  parent.append(table_of("", [["quantity"], ["predicted", true], ["measured", true], ["measured / predicted", true]],
    rows.map(([name, predicted, measured, to_text]) => [name, text(predicted, to_text), text(measured, to_text),
      is_number(predicted) && is_number(measured) && to_text(predicted) !== to_text(0) ? (measured / predicted).toFixed(2) : "–"])));
  if (is_number(gain?.upper_bound)) {
    parent.append(html("p", { class: "quiet small" }, `No split of this run can gain more than ${gain.upper_bound.toFixed(2)} ×.`));
  }
  if (gain?.reason) parent.append(html("p", { class: "small" }, "The planner: " + gain.reason));
}

function draw_deck(data) {
  const parent = by_id("deck-body");
  if (typeof data.deck !== "string") {
    parent.append(html("p", { class: "quiet" }, "The run folder holds no deck.yaml."));
    return;
  }
  const lines = data.deck.replace(/\n$/, "").split("\n").map((line) => {
    const at = line.lastIndexOf("  # ");
    return at < 0 ? [line + "\n"] : [line.slice(0, at), html("span", { class: "origin" }, line.slice(at)), "\n"];
  });
  parent.append(html("pre", { tabindex: 0, "aria-label": "Resolved deck" }, lines.flat()));
}

function draw_versions(data) {
  const facts = (object) => Object.entries(object ?? {}).map(([name, value]) => [name, String(value)]);
  const summary = data.summary ?? {};
  const run = [...facts(summary.versions ?? (summary.zygos ? { zygos: summary.zygos } : {})), ...facts(summary.machine)];
  if (summary.weights_xxh64) run.push(["weights (XXH64)", summary.weights_xxh64]);
  const parent = by_id("versions-body");
  if (run.length) parent.append(table_of("", [["what"], ["of the run"]], run));
  else parent.append(html("p", { class: "quiet" }, "The run wrote no summary, which would say what it was made with."));
  by_id("footer").textContent = `Written by zygos ${data.zygos} from ${data.folder}. This page fetches nothing and works offline.`;
}
