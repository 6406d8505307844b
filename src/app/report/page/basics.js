// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What every figure uses. Text from the run enters the page as text nodes and attributes only, never as markup.
"use strict";

const page_errors = [];
document.addEventListener("securitypolicyviolation", (event) => page_errors.push("refused: " + event.violatedDirective));
window.addEventListener("error", (event) => page_errors.push(String(event.message)));

const svg_namespace = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}
const html = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes, ...children) => fill(document.createElementNS(svg_namespace, name), attributes, children);
const by_id = (id) => document.getElementById(id);
const is_number = (value) => typeof value === "number" && Number.isFinite(value);

// ---- numbers as people read them

const significant = (value, digits) => Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 12 });

function text_of_number(value) {
  if (!is_number(value)) return "–";
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e9) ? value.toExponential(2) : significant(value, size >= 1e4 ? 9 : 4);
}
const text_of_count = (value) => (is_number(value) ? Math.round(value).toLocaleString("en-US") : "–");
const text_of_percent = (share) => (is_number(share) ? (share * 100).toFixed(Math.abs(share) < 0.0995 ? 2 : 1) + " %" : "–");

function text_of_time(microseconds) {
  if (!is_number(microseconds)) return "–";
  const size = Math.abs(microseconds);
  if (size < 1000) return significant(microseconds, 3) + " µs";
  if (size < 1e6) return significant(microseconds / 1e3, 3) + " ms";
  return size < 120e6 ? significant(microseconds / 1e6, 3) + " s" : significant(microseconds / 60e6, 3) + " min";
}
const text_of_seconds = (seconds) => (is_number(seconds) ? text_of_time(seconds * 1e6) : "–");

function text_of_bytes(bytes) {
  if (!is_number(bytes)) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (Math.abs(bytes) >= 1024 && unit + 1 < units.length) {
    bytes /= 1024;
    ++unit;
  }
  return significant(bytes, bytes >= 1000 ? 4 : 3) + " " + units[unit];
}
const text_of_rate = (rate) => (is_number(rate) ? significant(rate, 3) : "–");
// The same for the side of a chart: "2.5 M".
function short_rate(rate) {
  const [unit, name] = rate >= 1e6 ? [1e6, " M"] : rate >= 1e4 ? [1e3, " k"] : [1, ""];
  return significant(rate / unit, 3) + name;
}
const plain_words = (name) => name.replaceAll("_", " ");

// Names of places in the order the deck has them, with what belongs to one ("device/staging") beside it.
function in_order(data, names) {
  const places = data.timeline?.places ?? [];
  const rank = (name) => places.findIndex((place) => name === place || name.startsWith(place + "/"));
  return [...names].sort((a, b) => rank(a) - rank(b));
}

// ---- axes

// Round numbers from low to high, about `count` of them.
function ticks_between(low, high, count) {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) ticks.push(i * step);
  return ticks;
}

// As much of a name as fits into so many pixels.
const shortened = (name, room) => (name.length > room / 7 ? name.slice(0, Math.floor(room / 7) - 1) + "…" : name);

// Where a text at x must be anchored to stay left of `right`.
const anchor_at = (x, right, room) => (x > right - room ? "end" : "middle");

// Width in pixels to draw for; 0 while hidden, and 1000 where nothing has been laid out.
const width_of = (node) => Math.max(280, Math.round(node.clientWidth || 1000));

// ---- the one tooltip

function show_tip(title, rows, x, y) {
  const tip = by_id("tip");
  const list = html("dl");
  for (const [name, text] of rows) list.append(html("dt", {}, name), html("dd", {}, text));
  tip.replaceChildren(html("b", {}, title), list);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width > innerWidth ? x - 16 - box.width : x + 16;
  const top = y + 16 + box.height > innerHeight ? y - 16 - box.height : y + 16;
  tip.style.left = Math.max(4, Math.min(left, innerWidth - box.width - 4)) + "px";
  tip.style.top = Math.max(4, top) + "px";
}
function hide_tip() { by_id("tip").hidden = true; }
function say(text) { by_id("said").textContent = text; }
const tip_text = (title, rows) => title + ": " + rows.map(([name, text]) => name + " " + text).join(", ");

// ---- tables and legends

// A name that may be broken behind its slashes.
const breakable = (name) => name.split("/").flatMap((part, i) => (i ? ["/", html("wbr"), part] : [part]));

// columns: [heading, is_number]; rows: arrays of texts, the first of which heads the row.
function table_of(caption, columns, rows) {
  const cells = (row) => row.map((text, i) => html(i ? "td" : "th",
    { class: columns[i][1] ? "number" : null, scope: i ? null : "row" }, ...breakable(String(text))));
  return html("div", { class: "scroll" }, html("table", {},
    caption ? html("caption", {}, caption) : null,
    html("thead", {}, html("tr", {},
      columns.map(([text, number]) => html("th", { scope: "col", class: number ? "number" : null }, text)))),
    html("tbody", {}, rows.map((row) => html("tr", {}, cells(row))))));
}
// A table that is made when it is first opened: long ones take time.
function as_details(title, make) {
  const details = html("details", {}, html("summary", {}, title));
  details.addEventListener("toggle", () => { if (details.children.length === 1) details.append(make()); });
  return details;
}

// entries: [text, colour, whether it is that of a dashed curve]; no colour: the hatching of idle time.
function legend_of(entries) {
  return html("ul", { class: "legend" }, entries.map(([text, colour, dashed]) => {
    const swatch = svg("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
    if (dashed) {
      swatch.append(svg("path", { d: "M0 7H5M9 7H14", stroke: colour, "stroke-width": 4 }));
    } else if (colour) {
      swatch.append(svg("rect", { width: 14, height: 14, rx: 2, fill: colour }));
    } else {
      swatch.append(svg("rect", { width: 14, height: 14, class: "idle-back" }),
        svg("path", { d: "M0 14L14 0M-4 4L4 -4M10 18L18 10", class: "idle-line" }));
    }
    return html("li", {}, swatch, text);
  }));
}
