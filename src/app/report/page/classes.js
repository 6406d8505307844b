// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Precision, recall and F1 of every class and the confusion matrix, as the run wrote them.
"use strict";

const list_of = (value) => (Array.isArray(value) ? value : []);
const has_classes = (evaluation) => list_of(evaluation.test_per_class).length > 0 || list_of(evaluation.test_confusion?.counts).length > 0;

// The last evaluation and the best one that tell of classes: [what it is, its line of the metrics].
function evaluations_of(data) {
  const tests = data.metrics.filter((line) => line.kind === "test");
  const last = tests[tests.length - 1] ?? data.summary ?? {};
  const best = tests.findLast((line) => line.best === true);
  const found = best && best !== last ? [["Last evaluation", last], ["Best evaluation", best]]
    : [[best ? "Last evaluation, the best one" : "Last evaluation", last]];
  return found.filter(([, evaluation]) => has_classes(evaluation));
}

function title_of(data, what, evaluation) {
  const step = evaluation.step ?? evaluation.steps;
  const restored = is_number(evaluation.restored_step) ? `, with the weights of step ${text_of_count(evaluation.restored_step)}` : "";
  return `${what}, of the ${held_out(data.summary, data.metrics)} set` + (is_number(step) ? `: step ${text_of_count(step)}${restored}` : "");
}

function figures_table(classes) {
  return table_of("", [["class"], ["samples", true], ["precision", true], ["recall", true], ["F1", true]],
    classes.map((one) => [one?.name ?? "–", text_of_count(one?.labels), ...["precision", "recall", "f1"].map((figure) => text_of_percent(one?.[figure]))]));
}

// Roots, so that rare mistakes are seen; at most half a colour, so that numbers are read in light and in dark.
function shade(cell, count, most, is_hit) {
  if (count > 0 && most > 0) {
    const share = Math.round(50 * Math.sqrt(count / most));
    cell.style.backgroundColor = `color-mix(in srgb, var(${is_hit ? "--c-blue" : "--c-vermillion"}) ${share}%, var(--card))`;
  }
  return cell;
}

function confusion_table(confusion) {
  const rows = list_of(confusion.counts).map(list_of), names = list_of(confusion.classes);
  const name_of = (i) => String(names[i] ?? i);
  const row_of = (row, label) => {
    const most = row.filter(is_number).reduce((sum, count) => sum + count, 0);
    return html("tr", {}, html("th", { scope: "row" }, name_of(label)),
      row.map((count, guess) => shade(html("td", { class: "number" }, text_of_count(count)), count, most, guess === label)));
  };
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Confusion matrix" }, html("table", {},
    html("caption", {}, "Confusion matrix: rows are true classes, columns what was predicted. The stronger its colour, the larger a cell's share of the row."),
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "true \\ predicted"),
      rows.map((row, guess) => html("th", { scope: "col", class: "number" }, name_of(guess))))),
    html("tbody", {}, rows.map(row_of))));
}

// Without such figures there is no such section.
function draw_classes(data) {
  const found = evaluations_of(data);
  if (!found.length) {
    by_id("classes").remove();
    return;
  }
  for (const [what, evaluation] of found) {
    const part = html("div", { class: "evaluation" }, html("h3", {}, title_of(data, what, evaluation)));
    const classes = list_of(evaluation.test_per_class);
    if (classes.length) part.append(fill(figures_table(classes), { class: "scroll figures", tabindex: 0 }, []));
    if (list_of(evaluation.test_confusion?.counts).length) {
      part.append(fill(confusion_table(evaluation.test_confusion), { class: "scroll confusion" }, []));
    }
    by_id("classes-body").append(part);
  }
}
