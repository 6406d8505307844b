// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Values over steps: loss, accuracy, samples per second.
"use strict";

// series: {name, colour, dashed, points: [{step, epoch, seconds, value}]}
function series_of(metrics, kind, value_of, name, colour, dashed) {
  const points = metrics.filter((line) => line.kind === kind && is_number(line.step))
    .map((line) => ({ step: line.step, epoch: line.epoch, seconds: line.seconds, value: value_of(line) }))
    .filter((point) => is_number(point.value));
  return { name, colour, dashed, points, by_step: new Map(points.map((point) => [point.step, point])) };
}

class CurveChart {
  // chart: {title, unit text function, from_zero, least and most (what values can be), can_log, series}
  constructor(parent, chart) {
    this.chart = chart;
    this.log = false;
    this.series = chart.series.filter((one) => one.points.length > 0);
    this.steps = [...new Set(this.series.flatMap((one) => one.points.map((point) => point.step)))].sort((a, b) => a - b);
    this.place = html("div", {});
    const head = html("div", { class: "bar" }, html("h3", {}, chart.title));
    if (chart.can_log && this.series.every((one) => one.points.every((point) => point.value > 0))) {
      const box = html("input", { type: "checkbox" });
      box.addEventListener("change", () => { this.log = box.checked; this.draw(); });
      head.append(html("label", { class: "controls" }, box, " logarithmic"));
    }
    parent.append(html("figure", { class: "chart" }, head,
      legend_of(this.series.map((one) => [one.name, one.colour, one.dashed])), this.place,
      as_details("Values as a table", () => this.table())));
    this.draw();
    addEventListener("resize", () => this.draw());
  }

  table() {
    const rows = this.steps.map((step) => [text_of_count(step), ...this.series.map((one) => {
      const point = one.by_step.get(step);
      return point ? this.chart.text(point.value) : "";
    })]);
    return table_of("", [["step", true], ...this.series.map((one) => [one.name, true])], rows);
  }

  limits() {
    const values = this.series.flatMap((one) => one.points.map((point) => point.value));
    let low = this.chart.from_zero && !this.log ? Math.min(0, ...values) : Math.min(...values);
    let high = Math.max(...values);
    if (this.log) [low, high] = [Math.log10(low), Math.log10(high)];
    const margin = (high - low || Math.abs(high) || 1) * 0.05;
    const bottom = this.chart.from_zero && !this.log && low >= 0 ? 0 : low - margin;
    if (this.log) return [bottom, high + margin];
    return [Math.max(bottom, this.chart.least ?? bottom), Math.min(high + margin, this.chart.most ?? high + margin)];
  }

  ticks(low, high) {
    if (!this.log) return ticks_between(low, high, 5).map((value) => [value, (this.chart.tick ?? this.chart.text)(value)]);
    const exponents = [];
    for (let power = Math.floor(low); power <= Math.ceil(high); ++power) {
      for (const factor of high - low > 2 ? [1] : [1, 2, 5]) {
        const value = Math.log10(factor) + power;
        if (value >= low && value <= high) exponents.push([value, this.chart.text(10 ** value)]);
      }
    }
    return exponents;
  }

  draw() {
    const width = width_of(this.place), height = 230;
    const area = { left: 58, right: width - 14, top: 8, bottom: height - 38 };
    const [low, high] = this.limits();
    const first = this.steps[0], last = this.steps[this.steps.length - 1];
    const x = (step) => area.left + (last > first ? (step - first) / (last - first) : 0.5) * (area.right - area.left);
    const y = (value) => area.bottom - ((this.log ? Math.log10(value) : value) - low) / (high - low) * (area.bottom - area.top);
    this.scale = { x, area };
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "focusable", tabindex: 0, role: "img",
      "aria-label": `${this.chart.title} over steps; arrow keys read single values, a table follows` });
    for (const [value, text] of this.ticks(low, high)) {
      const at = area.bottom - (value - low) / (high - low) * (area.bottom - area.top);
      root.append(svg("line", { x1: area.left, x2: area.right, y1: at, y2: at, class: "grid" }),
        svg("text", { x: area.left - 6, y: at + 4, "text-anchor": "end", class: "quiet" }, text));
    }
    for (const step of last > first ? ticks_between(first, last, width / 110) : this.steps) {
      root.append(svg("text", { x: Math.min(x(step), width), y: area.bottom + 16,
        "text-anchor": anchor_at(x(step), width, 22), class: "quiet" }, text_of_count(step)));
    }
    root.append(svg("line", { x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom, class: "axis" }),
      svg("text", { x: (area.left + area.right) / 2, y: height - 4, "text-anchor": "middle", class: "quiet" }, "step"));
    for (const one of this.series) root.append(...this.marks(one, x, y));
    this.cursor = svg("line", { y1: area.top, y2: area.bottom, class: "cursor", visibility: "hidden" });
    root.append(this.cursor);
    this.listen(root, width);
    this.place.replaceChildren(root);
  }

  marks(one, x, y) {
    const path = one.points.map((point, i) => (i ? "L" : "M") + x(point.step).toFixed(1) + " " + y(point.value).toFixed(1)).join("");
    const few = one.points.length <= 60;
    const dots = (few ? one.points : one.points.slice(-1)).map((point) => svg("circle",
      { cx: x(point.step), cy: y(point.value), r: few ? 2.5 : 3, fill: one.colour }));
    const last = one.points[one.points.length - 1];
    fill(dots[dots.length - 1], { "data-series": one.name, "data-step": last.step, "data-value": last.value }, []);
    return [svg("path", { d: path, class: "curve", stroke: one.colour, "stroke-dasharray": one.dashed ? "6 4" : null }), ...dots];
  }

  listen(root, width) {
    root.addEventListener("pointermove", (event) => {
      const box = root.getBoundingClientRect();
      const at = (event.clientX - box.left) * width / (box.width || width);
      let best = 0;
      this.steps.forEach((step, i) => {
        if (Math.abs(this.scale.x(step) - at) < Math.abs(this.scale.x(this.steps[best]) - at)) best = i;
      });
      this.point_at(best, event.clientX, event.clientY);
    });
    root.addEventListener("pointerleave", () => this.leave());
    root.addEventListener("blur", () => this.leave());
    root.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (move === undefined) return;
      event.preventDefault();
      const to = Math.max(0, Math.min(this.steps.length - 1, (this.chosen ?? 0) + move));
      const box = root.getBoundingClientRect();
      this.point_at(to, box.left + this.scale.x(this.steps[to]) * box.width / width, box.top + box.height / 3);
      say(by_id("tip").textContent);
    });
  }

  point_at(index, x, y) {
    this.chosen = index;
    const step = this.steps[index];
    const rows = [];
    for (const one of this.series) {
      const point = one.by_step.get(step);
      if (!point) continue;
      if (rows.length === 0) rows.push(["epoch", text_of_count(point.epoch)], ["after", text_of_seconds(point.seconds)]);
      rows.push([one.name, this.chart.text(point.value)]);
    }
    this.cursor.setAttribute("visibility", "visible");
    this.cursor.setAttribute("x1", this.scale.x(step));
    this.cursor.setAttribute("x2", this.scale.x(step));
    show_tip("step " + text_of_count(step), rows, x, y);
  }

  leave() {
    this.cursor.setAttribute("visibility", "hidden");
    hide_tip();
  }
}

// Every run of the page, this one first: {name, metrics, solid, dashed}, with the colours of its two kinds of curves.
function runs_of(data) {
  const colours = ["--c-green", "--c-orange", "--c-purple", "--c-sky", "--c-yellow"];
  return [{ name: "", metrics: data.metrics, summary: data.summary, solid: "var(--c-blue)", dashed: "var(--c-vermillion)" },
    ...data.others.map((other, i) => {
      const colour = `var(${colours[i % colours.length]})`;
      return { name: ", " + other.name, metrics: other.metrics, summary: other.summary, solid: colour, dashed: colour };
    })];
}

// A curve of training and one of the test or validation data for each run.
function pairs_of(data, what, of_training, of_test) {
  return runs_of(data).flatMap((run) => [
    series_of(run.metrics, "train", of_training, `training ${what}${run.name}`, run.solid, false),
    series_of(run.metrics, "test", of_test, `${held_out(run.summary, run.metrics)} ${what}${run.name}`, run.dashed, true)]);
}

function draw_curves(data) {
  const parent = by_id("curves");
  const charts = [
    { title: "Loss", text: text_of_number, from_zero: true, can_log: true, 
      series: pairs_of(data, "loss", (line) => line.loss, (line) => line.test_loss) },
    ...["accuracy", "dice"].map((score) => (
      { title: score === "dice" ? "Dice score" : "Accuracy", text: text_of_percent, tick: (share) => significant(share * 100, 3) + " %", least: 0, most: 1,
        series: pairs_of(data, score, (line) => line[score], (line) => line[`test_${score}`]) })),
    { title: "Samples per second", text: text_of_rate, tick: short_rate, from_zero: true, series: throughput_series(data) },
  ].filter((chart) => chart.series.some((one) => one.points.length > 0));
  if (charts.length === 0) {
    parent.append(html("p", { class: "quiet" }, "No values: metrics.jsonl holds none."));
  }
  return charts.map((chart) => new CurveChart(parent, chart));
}

function throughput_series(data) {
  const metrics = data.metrics;
  const at_work = (line) => Object.entries(line.samples_per_s?.lanes ?? {}).filter(([, rate]) => rate > 0).map(([lane]) => lane);
  const lanes = in_order(data, [...new Set(metrics.flatMap(at_work))]);
  const colours = ["--c-blue", "--c-orange", "--c-green", "--c-purple", "--c-sky", "--c-vermillion", "--c-yellow"];
  const total = (run, name, colour) => series_of(run.metrics, "train", (line) => line.samples_per_s?.total, name, colour, false);
  const [own, ...others] = runs_of(data);
  const all = total(own, "all lanes", "var(--text)");
  // The lanes of one run alone: with those of several nobody finds a line.
  if (others.length) return [all, ...others.map((run) => total(run, "all lanes" + run.name, run.solid))];
  return lanes.length < 2 ? [all] : [all, ...lanes.map((lane, i) => series_of(metrics, "train",
    (line) => line.samples_per_s?.lanes?.[lane], lane, `var(${colours[i % colours.length]})`, true))];
}
