// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes per category: over one step where the trace has them, else the peaks of the whole run.
"use strict";

const category_colours = {
  inputs: "--c-sky", weights: "--c-blue", activations: "--c-green", gradients: "--c-orange",
  optimizer_state: "--c-purple", stash: "--c-yellow", workspace: "--c-grey", communication: "--c-vermillion",
};
const category_fill = (name) => `var(${category_colours[name] ?? "--c-grey"})`;

function draw_memory(data) {
  const parent = by_id("memory-body");
  const peaks = in_order(data, Object.keys(data.summary?.peak_bytes ?? {})).map((place) => [place, data.summary.peak_bytes[place]])
    .filter(([, bytes]) => bytes.total > 0);
  const memory = data.timeline?.memory;
  const categories = in_known_order(memory?.categories ?? peaks.flatMap(([, bytes]) => Object.keys(bytes)));
  if (memory) sort_samples(memory, categories);
  if (categories.length === 0) {
    parent.append(html("p", { class: "quiet" }, "No figures: the run wrote no summary."));
    return;
  }
  const used = categories.filter((name, i) => peaks.some(([, bytes]) => bytes[name] > 0) ||
    Object.values(memory?.places ?? {}).some((samples) => samples.some((sample) => sample[i + 1] > 0)));
  parent.append(legend_of(used.map((name) => [plain_words(name), category_fill(name)])));
  if (memory) {
    parent.append(html("p", { class: "quiet small" }, `${memory.step === null ? "Over one step" : `Over step ${text_of_count(memory.step)}`}, one chart for each memory in use: of a lane, of the host beside it (/staging), of a file (/file).` +
      (Object.keys(memory.predicted ?? {}).length ? " Dashed: the total of the predicted step." : "")));
    const charts = html("div", { class: "charts" });
    parent.append(charts);
    for (const place of in_order(data, Object.keys(memory.places))) {
      if (!memory.places[place].some((sample) => total_of(sample) > 0)) continue;
      const samples = memory.places[place], predicted = memory.predicted?.[place] ?? [];
      const top = Math.max(1, ...samples.map(total_of), ...predicted.map(([, bytes]) => bytes));
      new MemoryChart(charts, place, samples, predicted, categories, top);
    }
  }
  if (peaks.length) {
    parent.append(html("h3", {}, memory ? "Peaks of the whole run" : "Peaks of the whole run, which are reserved from start to end"));
    draw_peaks(parent, peaks, used);
    parent.append(peak_table(peaks, used));
  }
}

const total_of = (sample) => sample.slice(1).reduce((sum, bytes) => sum + bytes, 0);

// Samples are [time, bytes of each category]; after this in the order of `categories`.
function sort_samples(memory, categories) {
  const from = categories.map((name) => memory.categories.indexOf(name) + 1);
  for (const place of Object.keys(memory.places)) {
    memory.places[place] = memory.places[place].map((sample) => [sample[0], ...from.map((at) => sample[at])]);
  }
}

function in_known_order(all) {
  const names = new Set(all);
  names.delete("total");
  const known = Object.keys(category_colours);
  return [...known.filter((name) => names.has(name)), ...[...names].filter((name) => !known.includes(name))];
}

function peak_table(peaks, categories) {
  return table_of("", [["lane"], ...categories.map((name) => [plain_words(name), true]), ["total", true]],
    peaks.map(([place, bytes]) => [place, ...categories.map((name) => text_of_bytes(bytes[name] ?? 0)), text_of_bytes(bytes.total)]));
}

// One bar per lane, its categories side by side.
function draw_peaks(parent, peaks, categories) {
  const place = html("div", {});
  parent.append(place);
  const top = Math.max(1, ...peaks.map(([, bytes]) => bytes.total ?? 0));
  const draw = () => {
    const width = width_of(place), left = width < 560 ? 92 : 128, bar = 24, height = peaks.length * (bar + 8) + 6;
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Peak bytes per lane and category; the table below has the numbers" });
    peaks.forEach(([name, bytes], i) => {
      const y = i * (bar + 8) + 4;
      let x = left;
      root.append(svg("text", { x: 0, y: y + bar / 2 + 4 }, svg("title", {}, name), shortened(name, left - 8)));
      for (const category of categories) {
        const length = (bytes[category] ?? 0) / top * (width - left - 74);
        if (!(length > 0)) continue;
        const box = svg("rect", { x, y, width: length, height: bar, fill: category_fill(category), class: "peak" });
        box.addEventListener("pointermove", (event) => show_tip(plain_words(category),
          [["lane", name], ["bytes", text_of_bytes(bytes[category])]], event.clientX, event.clientY));
        box.addEventListener("pointerleave", hide_tip);
        root.append(box);
        x += length;
      }
      root.append(svg("text", { x: x + 6, y: y + bar / 2 + 4, class: "quiet" }, text_of_bytes(bytes.total)));
    });
    place.replaceChildren(root);
  };
  draw();
  addEventListener("resize", draw);
}

// Stacked areas of one memory and the predicted total as a dashed line; each sample holds until the next.
class MemoryChart {
  constructor(parent, name, samples, predicted, categories, top) {
    Object.assign(this, { name, samples, predicted, categories, top });
    this.place = html("div", {});
    parent.append(html("figure", { class: "chart" }, html("h3", {}, name), this.place,
      as_details("Values as a table", () => this.table())));
    this.draw();
    addEventListener("resize", () => this.draw());
  }

  // Categories that are never used have no column.
  table() {
    const used = this.categories.map((name, i) => [name, i + 1]).filter(([, at]) => this.samples.some((sample) => sample[at] > 0));
    return table_of("", [["time", true], ...used.map(([name]) => [plain_words(name), true]), ["total", true]],
      this.samples.map((sample) => [text_of_time(sample[0]), ...used.map(([, at]) => text_of_bytes(sample[at])), text_of_bytes(total_of(sample))]));
  }

  draw() {
    const width = width_of(this.place), height = 200, area = { left: 66, right: width - 24, top: 10, bottom: height - 26 };
    const first = this.samples[0][0], last = Math.max(this.samples.at(-1)[0], this.predicted.at(-1)?.[0] ?? 0);
    const x = (time) => area.left + (time - first) / (last - first || 1) * (area.right - area.left);
    const y = (bytes) => area.bottom - bytes / this.top * (area.bottom - area.top);
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "focusable", tabindex: 0, role: "img",
      "aria-label": `Bytes of ${this.name} per category over one step; arrow keys read single moments` });
    for (const bytes of byte_ticks(this.top)) {
      root.append(svg("line", { x1: area.left, x2: area.right, y1: y(bytes), y2: y(bytes), class: "grid" }),
        svg("text", { x: area.left - 6, y: y(bytes) + 4, "text-anchor": "end", class: "quiet" }, text_of_bytes(bytes)));
    }
    for (const time of ticks_between(first, last, width / 90)) {
      root.append(svg("text", { x: x(time), y: area.bottom + 16,
        "text-anchor": anchor_at(x(time), width, 24), class: "quiet" }, text_of_time(time)));
    }
    const below = this.samples.map(() => 0);
    this.categories.forEach((category, i) => {
      const above = this.samples.map((sample, at) => below[at] + sample[i + 1]);
      if (above.some((bytes, at) => bytes > below[at])) {
        root.append(svg("path", { d: this.outline(below, above, x, y), fill: category_fill(category), class: "area" }));
      }
      above.forEach((bytes, at) => { below[at] = bytes; });
    });
    if (this.predicted.length) {
      const steps = this.predicted.flatMap(([time, bytes], at) =>
        [...(at ? [`${x(time).toFixed(1)} ${y(this.predicted[at - 1][1]).toFixed(1)}`] : []), `${x(time).toFixed(1)} ${y(bytes).toFixed(1)}`]);
      root.append(svg("path", { d: "M" + steps.join("L"), class: "predicted-memory" }));
    }
    this.cursor = svg("line", { y1: area.top, y2: area.bottom, class: "cursor", visibility: "hidden" });
    root.append(this.cursor, svg("line", { x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom, class: "axis" }));
    this.x = x;
    this.listen(root, width, first, last, area);
    this.place.replaceChildren(root);
  }

  outline(below, above, x, y) {
    const point = (at, bytes) => `${x(this.samples[at][0]).toFixed(1)} ${y(bytes).toFixed(1)}`;
    const there = [], back = [];
    this.samples.forEach((_, at) => {
      if (at > 0) {
        there.push(point(at, above[at - 1]));
        back.push(point(at, below[at - 1]));
      }
      there.push(point(at, above[at]));
      back.push(point(at, below[at]));
    });
    return "M" + there.join("L") + "L" + back.reverse().join("L") + "Z";
  }

  listen(root, width, first, last, area) {
    root.addEventListener("pointermove", (event) => {
      const box = root.getBoundingClientRect();
      const time = first + ((event.clientX - box.left) * width / (box.width || width) - area.left) / (area.right - area.left) * (last - first);
      this.point_at(Math.max(0, this.samples.findLastIndex((sample) => sample[0] <= time)), event.clientX, event.clientY);
    });
    const leave = () => { this.cursor.setAttribute("visibility", "hidden"); hide_tip(); };
    root.addEventListener("pointerleave", leave);
    root.addEventListener("blur", leave);
    root.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!move) return;
      event.preventDefault();
      const box = root.getBoundingClientRect();
      const at = Math.max(0, Math.min(this.samples.length - 1, (this.chosen ?? -1) + move));
      this.point_at(at, box.left + this.x(this.samples[at][0]) * box.width / width, box.top + 30);
      say(by_id("tip").textContent);
    });
  }

  point_at(at, client_x, client_y) {
    const sample = this.samples[at];
    this.chosen = at;
    fill(this.cursor, { x1: this.x(sample[0]), x2: this.x(sample[0]), visibility: "visible" }, []);
    const rows = this.categories.map((name, i) => [plain_words(name), sample[i + 1]]).filter(([, bytes]) => bytes > 0)
      .map(([name, bytes]) => [name, text_of_bytes(bytes)]);
    show_tip(`${this.name}, from ${text_of_time(sample[0])}`, [...rows, ["total", text_of_bytes(total_of(sample))]], client_x, client_y);
  }
}

// Round in binary units, as they are printed.
function byte_ticks(top) {
  const unit = 1024 ** Math.floor(Math.log(Math.max(top, 1)) / Math.log(1024));
  return ticks_between(0, top / unit, 5).map((value) => value * unit);
}
