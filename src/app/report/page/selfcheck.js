// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// With "#selfcheck" the page works itself as a reader would and writes down what it found, as JSON in <pre
// id="selfcheck">. It asserts nothing: what must hold is up to the test that reads it.
"use strict";

function check_page(data, curves, timeline) {
  const found = {};
  const attempt = (name, look) => {
    try {
      found[name] = look();
    } catch (problem) {
      page_errors.push(`${name}: ${problem}`);
    }
  };
  attempt("curves", () => last_points());
  if (timeline) {
    attempt("opens_on", () => timeline.step.step);
    attempt("timeline", () => timeline_counts(timeline));
    attempt("tips", () => timeline_tips(timeline));
    attempt("zoom", () => timeline_zoom(timeline));
    attempt("keys", () => timeline_keys(timeline));
    timeline.fit_step(timeline.steps.length - 1);
  }
  attempt("axes", () => Object.fromEntries(curves.map((curve) => [curve.chart.title, curve.limits()])));
  attempt("curve_tips", () => curves.map((curve) => tip_under(curve.place.querySelector("svg"))));
  attempt("memory", () => ({ areas: document.querySelectorAll("#memory .area").length,
    predicted: document.querySelectorAll("#memory .predicted-memory").length,
    peaks: document.querySelectorAll("#memory .peak").length }));
  attempt("classes", () => shown_classes());
  attempt("runs", () => document.querySelectorAll("#runs tbody tr").length);
  attempt("tables", () => open_tables());
  attempt("colours", () => ({ page: getComputedStyle(document.body).backgroundColor, text: getComputedStyle(document.body).color }));
  attempt("wide", () => document.documentElement.scrollWidth > innerWidth);
  attempt("clipped", () => clipped_tables());
  attempt("tiles", () => Object.fromEntries([...document.querySelectorAll(".tile")]
    .map((tile) => [tile.lastChild.textContent, tile.firstChild.textContent])));
  attempt("comparison", () => Object.fromEntries([...document.querySelectorAll("#comparison tbody tr")]
    .map((row) => [row.firstChild.textContent, [...row.querySelectorAll("td")].map((cell) => cell.textContent)])));
  attempt("idle_places", () => Object.keys(data.timeline?.idle?.measured ?? {}));
  attempt("outside", () => outside_references());
  attempt("fetched", () => performance.getEntriesByType("resource").map((entry) => entry.name));
  attempt("problems", () => data.problems);
  hide_tip();
  found.errors = page_errors;
  document.body.append(html("pre", { id: "selfcheck", hidden: "" }, JSON.stringify(found)));
}

function last_points() {
  const points = {};
  for (const dot of document.querySelectorAll("#curves [data-series]")) {
    points[dot.dataset.series] = { step: Number(dot.dataset.step), value: Number(dot.dataset.value) };
  }
  return points;
}

// Texts of the rows below a node's headings, and how many cells of counts are shaded.
function shown_classes() {
  const rows = (table) => [...table?.querySelectorAll("tbody tr") ?? []].map((row) => [...row.children].map((cell) => cell.textContent));
  return [...document.querySelectorAll("#classes .evaluation")].map((part) => ({
    title: part.querySelector("h3").textContent, figures: rows(part.querySelector(".figures")),
    confusion: rows(part.querySelector(".confusion")),
    shades: [...part.querySelectorAll(".confusion td")].map((cell) => getComputedStyle(cell).backgroundColor),
    // What is wider or higher than its box scrolls within it.
    inside: [...part.querySelectorAll(".scroll")].every((box) => box.getBoundingClientRect().right <= innerWidth && getComputedStyle(box).overflowX === "auto"),
  }));
}

function timeline_counts(timeline) {
  timeline.fit_all();
  const boxes = [...timeline.root.querySelectorAll("rect.task")];
  const count = (group) => boxes.filter((box) => box.meaning.group === group).length;
  return { steps: timeline.steps.length, measured: count("measured"), predicted: count("predicted"),
    idle: timeline.root.querySelectorAll("rect.idle").length, rows: timeline.rows.map((row) => `${row.group} ${row.name}`),
    // Nothing sticks out of the step it belongs to.
    outside: boxes.filter((box) => box.meaning.group === "measured" && (box.meaning.event[2] < -1e-6 ||
      event_end(box.meaning.event) > box.meaning.step.span_us + 1e-6)).length };
}

function tip_under(node) {
  const box = node.getBoundingClientRect();
  node.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }));
  const tip = by_id("tip");
  const text = tip.hidden ? null : tip.querySelector("b").textContent + " | " +
    [...tip.querySelectorAll("dt")].map((name) => `${name.textContent}: ${name.nextSibling.textContent}`).join(" | ");
  hide_tip();
  return text;
}

function timeline_tips(timeline) {
  timeline.fit_step(timeline.steps.length - 1);
  const first = (query, group) => [...timeline.root.querySelectorAll(query)]
    .find((box) => box.meaning.group === group && box.meaning.step === timeline.step);
  const tip = (box) => (box ? tip_under(box) : null);
  return { task: tip(first("rect.task", "measured")), idle: tip(first("rect.idle", "measured")),
    predicted: tip(first("rect.task", "predicted")) };
}

function timeline_zoom(timeline) {
  const length = () => timeline.view[1] - timeline.view[0];
  const result = { start: length() };
  const press = (text) => [...document.querySelectorAll("#timeline button")].find((button) => button.textContent === text).click();
  press("+");
  result.button = length();
  const box = timeline.root.getBoundingClientRect();
  const at = (share, more) => ({ bubbles: true, cancelable: true, clientX: box.left + box.width * share, clientY: box.top + 40, ...more });
  timeline.place.dispatchEvent(new WheelEvent("wheel", at(0.5, { deltaY: -50, ctrlKey: true })));
  result.wheel = length();
  // Not over the figure's own pointer capture, which synthetic events have no pointer for.
  timeline.place.setPointerCapture = () => {};
  timeline.place.dispatchEvent(new PointerEvent("pointerdown", at(0.4)));
  timeline.place.dispatchEvent(new PointerEvent("pointermove", at(0.6)));
  timeline.place.dispatchEvent(new PointerEvent("pointerup", at(0.6)));
  result.drag = length();
  press("All steps");
  result.all = length();
  press("Fit step");
  result.fit = length();
  return result;
}

function timeline_keys(timeline) {
  const press = (key) => timeline.place.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  press("PageUp");
  const step = timeline.step.step;
  press("ArrowRight");
  const first = by_id("said").textContent;
  press("ArrowRight");
  const second = by_id("said").textContent;
  press("ArrowDown");
  const below = by_id("said").textContent;
  press("Escape");
  return { step, first, second, below };
}

function open_tables() {
  const closed = [...document.querySelectorAll("details")];
  for (const details of closed) {
    details.open = true;
    details.dispatchEvent(new Event("toggle"));
  }
  const rows = closed.map((details) => details.querySelectorAll("tbody tr").length);
  for (const details of closed) details.open = false;
  return rows;
}

// Headings of tables that are wider than their place, those in details included.
function clipped_tables() {
  const closed = [...document.querySelectorAll("details")];
  for (const details of closed) details.open = true;
  const clipped = [...document.querySelectorAll(".scroll")].filter((place) => place.scrollWidth > place.clientWidth + 1)
    .map((place) => [...place.querySelectorAll("thead th")].map((head) => head.textContent).join(", "));
  for (const details of closed) details.open = false;
  return clipped;
}

function outside_references() {
  const nodes = [...document.querySelectorAll("[src], [href], [data], link, iframe, img, object, embed")];
  return nodes.filter((node) => !(node.getAttribute("href") ?? "").startsWith("#")).map((node) => node.outerHTML);
}
