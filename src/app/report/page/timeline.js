// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The figure of measured and predicted tasks over time, with idle time hatched.
"use strict";

const row_height = 26, row_gap = 4, group_gap = 20, head_height = 22;

// Of the steps behind the first, the last one that takes about as long as most of the run's do, or else the one that is
// nearest to that: the end of a stopped run, or a step in which the machine did something else, tells little.
function typical_step(steps, usual_us) {
  const away = (i) => Math.abs(steps[i].span_us - usual_us);
  const at = steps.findLastIndex((step, i) => i > 0 && away(i) <= 0.1 * usual_us);
  if (at >= 0 || steps.length < 2) return Math.max(at, 0);
  return steps.reduce((best, _, i) => (i > 1 && away(i) < away(best) ? i : best), 1);
}

class Timeline {
  constructor(parent, timeline) {
    this.data = timeline;
    this.steps = lay_out_steps(timeline.steps);
    this.rows = rows_of(timeline);
    this.chosen_step = typical_step(timeline.steps, timeline.median_span_us);
    this.numbered = new Set(timeline.tasks.filter((task) => task.micro_batch > 0).map((task) => task.kind));
    for (const step of this.steps) step.gaps = gaps_of(step.events, timeline.tracks, 0, step.span_us);
    if (timeline.predicted) {
      const predicted = timeline.predicted;
      predicted.gaps = gaps_of(predicted.events, timeline.tracks, 0, predicted.span_us);
    }
    this.place = html("div", {});
    parent.append(this.place);
    this.on_view = () => {};
    this.fit_step(this.chosen_step);
    addEventListener("resize", () => this.draw());
    listen_to_timeline(this);
  }

  get step() { return this.steps[this.chosen_step]; }
  get whole() {
    const last = this.steps[this.steps.length - 1];
    return [0, Math.max(last.at + last.span_us, last.at + (this.data.predicted?.span_us ?? 0))];
  }

  // ---- the view: [from, to] in the positions of lay_out_steps

  show(from, to) {
    const [low, high] = this.whole;
    const length = Math.min(Math.max(to - from, (high - low) * 1e-5, 0.01), (high - low) * 1.04);
    const margin = (high - low) * 0.02;
    from = Math.max(low - margin, Math.min(from, high + margin - length));
    this.view = [from, from + length];
    this.follow();
    this.draw();
    this.on_view();
  }
  zoom(factor, around) {
    const [from, to] = this.view;
    const at = around ?? (from + to) / 2;
    this.show(at - (at - from) * factor, at + (to - at) * factor);
  }
  pan(share) {
    const [from, to] = this.view;
    this.show(from + (to - from) * share, to + (to - from) * share);
  }
  fit_step(index) {
    this.chosen_step = Math.max(0, Math.min(index, this.steps.length - 1));
    const length = Math.max(this.step.span_us, this.data.predicted?.span_us ?? 0) || 1;
    this.show(this.step.at - length * 0.01, this.step.at + length * 1.01);
  }
  fit_all() { this.show(...this.whole); }

  // The prediction stays beside a step that can be seen.
  follow() {
    const seen = (step) => step.at < this.view[1] && step.at + step.span_us > this.view[0];
    if (seen(this.step)) return;
    const middle = (this.view[0] + this.view[1]) / 2;
    const distance = (step) => Math.abs(step.at + step.span_us / 2 - middle);
    this.chosen_step = this.steps.reduce((best, step, i) => (distance(step) < distance(this.steps[best]) ? i : best), 0);
  }

  // ---- drawing

  draw() {
    const width = width_of(this.place);
    this.left = width < 560 ? 84 : 128;
    this.width = width;
    this.scale = (width - this.left - 4) / (this.view[1] - this.view[0]);
    this.tops = [];
    let y = head_height;
    this.rows.forEach((row, i) => {
      if (i === 0 || this.rows[i - 1].group !== row.group) y += group_gap;
      this.tops.push(y);
      y += row_height + row_gap;
    });
    this.bottom = y;
    const height = y + 36;
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": this.description() });
    root.append(svg("defs", {}, this.hatching(), svg("clipPath", { id: "tasks-area" },
      svg("rect", { x: this.left, y: 0, width: width - this.left - 4, height: this.bottom }))));
    root.append(...this.axis(height), ...this.row_heads());
    this.tasks = svg("g", { "clip-path": "url(#tasks-area)" });
    root.append(this.tasks);
    this.draw_steps();
    this.drag = svg("rect", { class: "drag", y: head_height, height: this.bottom - head_height, visibility: "hidden" });
    root.append(this.drag);
    this.root = root;
    this.place.replaceChildren(root);
  }

  description() {
    const step = this.step;
    return `Tasks of step ${step.step} and its surroundings on ${this.data.places.join(", ")}: measured ` +
      `${text_of_time(step.span_us)}` + (this.data.predicted ? `, predicted ${text_of_time(this.data.predicted.span_us)}` : "");
  }

  hatching() {
    return svg("pattern", { id: "hatching", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
      svg("rect", { width: 6, height: 6, class: "idle-back" }),
      svg("path", { d: "M0 6L6 0M-1.5 1.5L1.5 -1.5M4.5 7.5L7.5 4.5", class: "idle-line" }));
  }

  x(position) { return this.left + (position - this.view[0]) * this.scale; }

  axis(height) {
    const origin = this.step.at;
    const marks = [];
    for (const time of ticks_between(this.view[0] - origin, this.view[1] - origin, this.width / 120)) {
      const x = this.x(origin + time);
      if (x < this.left - 0.5) continue;
      marks.push(svg("line", { x1: x, x2: x, y1: head_height, y2: this.bottom, class: "grid" }),
        svg("text", { x, y: this.bottom + 14, "text-anchor": anchor_at(x, this.width, 30), class: "quiet" },
          text_of_time(Math.abs(time) < 1e-9 ? 0 : time)));
    }
    marks.push(svg("text", { x: (this.left + this.width) / 2, y: height - 4, "text-anchor": "middle", class: "quiet" },
      `time from the start of step ${text_of_count(this.step.step)}`));
    return marks;
  }

  row_heads() {
    const heads = [];
    this.rows.forEach((row, i) => {
      const y = this.tops[i];
      if (i === 0 || this.rows[i - 1].group !== row.group) {
        heads.push(svg("text", { x: 0, y: y - 6, class: "quiet" }, row.group));
      }
      heads.push(this.row_name(row, y + row_height / 2 + 4),
        svg("rect", { x: this.left, y, width: this.width - this.left - 4, height: row_height, class: "row" }));
    });
    return heads;
  }

  // A place's further tracks lie below its first and need not say its name again.
  row_name(row, y) {
    const place = this.data.places[this.data.tracks[row.track].place] ?? "";
    const below = this.data.tracks[row.track].queue !== 0 && row.name.startsWith(place + " ");
    const text = below ? row.name.slice(place.length + 1) : row.name;
    return svg("text", { x: below ? 12 : 0, y, class: below ? "quiet" : null }, svg("title", {}, row.name),
      shortened(text, this.left - 8));
  }

  draw_steps() {
    this.steps.forEach((step, i) => {
      const x = this.x(step.at), end = this.x(step.at + step.span_us);
      if (end < this.left || x > this.width) return;
      this.draw_step_head(step, x, end, i);
      this.draw_group(step, step, "measured");
    });
    if (this.data.predicted) this.draw_group(this.data.predicted, this.step, "predicted");
  }

  draw_step_head(step, x, end, index) {
    if (step.broken) {
      this.tasks.append(svg("text", { x: x - 4, y: head_height - 6, "text-anchor": "end", class: "quiet" }, "⋯"));
    }
    this.tasks.append(svg("line", { x1: x, x2: x, y1: 6, y2: this.bottom, class: "axis" }));
    const name = text_of_count(step.step);
    const from = Math.max(x, this.left), room = Math.min(end, this.width) - from;
    const text = room > 100 + 8 * name.length ? `step ${name}, ${text_of_time(step.span_us)}` : room > 14 + 8 * name.length ? name : "";
    this.tasks.append(svg("text", { x: from + 4, y: head_height - 6,
      class: index === this.chosen_step ? null : "quiet" }, text));
  }

  // `source` has events and gaps; they are drawn from the start of `step`.
  draw_group(source, step, group) {
    const top = new Map();
    this.rows.forEach((row, i) => { if (row.group === group) top.set(row.track, this.tops[i]); });
    const seen = (start, length) => step.at + start + length >= this.view[0] && step.at + start <= this.view[1];
    for (const gap of source.gaps) {
      if (seen(gap[1], gap[2])) this.tasks.append(this.box(gap[1], gap[2], step, top.get(gap[0]),
        { class: "idle", fill: "url(#hatching)" }, { gap, step, group }));
    }
    for (const event of source.events) {
      if (!seen(event[2], event[3])) continue;
      const task = this.data.tasks[event[1]], kind = task.kind;
      const y = top.get(event[0]);
      const box = this.box(event[2], event[3], step, y, { class: "task", fill: kind_fill(kind) }, { event, step, group });
      this.tasks.append(box);
      this.label(task, this.x(step.at + event[2]), event[3] * this.scale, y);
    }
  }

  box(start, length, step, y, look, meaning) {
    const box = svg("rect", { x: this.x(step.at + start).toFixed(2), y, height: row_height,
      width: Math.max(length * this.scale, 0.6).toFixed(2), ...look });
    box.meaning = meaning;
    // A frame around what is hardly wider than itself would leave nothing of its colour.
    if (length * this.scale < 4) box.classList.add("thin");
    if (this.chosen && same_meaning(this.chosen, meaning)) box.classList.add("chosen");
    return box;
  }

  // The kind, or the number of the micro-batch where a kind has several, with the kind where there is plenty of room.
  label(task, x, width, y) {
    const from = Math.max(x, this.left), room = Math.min(x + width, this.width) - from;
    const word = plain_words(task.kind), number = this.numbered.has(task.kind) ? String(task.micro_batch) : "";
    const text = !number ? word : room > 140 ? `${word} ${number}` : number;
    if (room < text.length * 6.2 + 6) return;
    const node = svg("text", { x: from + room / 2, y: y + row_height / 2 + 4, "text-anchor": "middle", class: "inside" }, text);
    node.style.fill = kind_ink(task.kind);
    this.tasks.append(node);
  }

  // ---- what a box says

  tip_of({ event, gap, step, group }) {
    const track = this.data.tracks[(event ?? gap)[0]];
    const where = [["step", group === "measured" ? text_of_count(step.step) : "predicted"], ["lane", track.name]];
    if (gap) {
      const rows = [...where, ["for", text_of_time(gap[2])], ["from", text_of_time(gap[1]) + " after the step's start"]];
      if (gap[3] !== null) rows.push(["until", this.data.tasks[gap[3]].text]);
      return ["idle", rows];
    }
    const task = this.data.tasks[event[1]];
    const rows = [...where, ["starts", text_of_time(event[2]) + " after the step's start"], ["takes", text_of_time(event[3])]];
    const other = group === "measured" ? this.data.predicted?.events.find((one) => one[1] === event[1]) : null;
    if (other) rows.push(["predicted", text_of_time(other[3])]);
    if (task.samples) rows.push(["samples", `${task.samples[0]} to ${task.samples[1]}`]);
    if (this.numbered.has(task.kind)) rows.push(["micro-batch", String(task.micro_batch)]);
    if (task.bytes) rows.push(["moves", text_of_bytes(task.bytes)]);
    if (task.reads.length) rows.push(["reads", task.reads.join(", ")]);
    if (task.writes.length) rows.push(["writes", task.writes.join(", ")]);
    return [task.text, rows];
  }
}

const same_meaning = (a, b) => (a.event ?? a.gap) === (b.event ?? b.gap) && a.step === b.step && a.group === b.group;
