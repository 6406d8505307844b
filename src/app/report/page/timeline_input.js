// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Mouse, touch and keyboard of the timeline, and its buttons.
"use strict";

function listen_to_timeline(timeline) {
  const place = timeline.place;
  fill(place, { tabindex: 0, class: "focusable", role: "group", "aria-describedby": "timeline-keys",
    "aria-label": "Timeline" }, []);
  listen_to_pointer(timeline, place);
  place.addEventListener("wheel", (event) => {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    // A page must scroll past the figure: it takes the wheel only when it is asked to.
    if (!sideways && !event.ctrlKey && !event.metaKey && document.activeElement !== place) return;
    event.preventDefault();
    if (sideways) timeline.pan(event.deltaX / timeline.width);
    else timeline.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 150), position_at(timeline, event.clientX));
  }, { passive: false });
  place.addEventListener("keydown", (event) => {
    const action = event.altKey || event.ctrlKey || event.metaKey ? null : key_action(timeline, event.key, event.shiftKey);
    if (!action) return;
    event.preventDefault();
    action();
  });
  place.addEventListener("blur", hide_tip);
}

function position_at(timeline, client_x) {
  const box = timeline.root.getBoundingClientRect();
  const x = (client_x - box.left) * timeline.width / (box.width || timeline.width);
  return timeline.view[0] + (x - timeline.left) / timeline.scale;
}

function listen_to_pointer(timeline, place) {
  let drag = null;
  place.addEventListener("pointermove", (event) => {
    if (drag) return move_drag(timeline, drag, event);
    const meaning = event.target.meaning;
    if (meaning) show_tip(...timeline.tip_of(meaning), event.clientX, event.clientY);
    else hide_tip();
  });
  place.addEventListener("pointerleave", hide_tip);
  place.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    drag = { from: position_at(timeline, event.clientX), to: null, pan: event.shiftKey, view: [...timeline.view], x: event.clientX };
    place.setPointerCapture?.(event.pointerId);
  });
  place.addEventListener("pointerup", () => {
    const done = drag;
    drag = null;
    if (!done) return;
    timeline.drag.setAttribute("visibility", "hidden");
    if (done.to !== null && !done.pan) timeline.show(Math.min(done.from, done.to), Math.max(done.from, done.to));
  });
  place.addEventListener("pointercancel", () => { drag = null; });
  place.addEventListener("dblclick", (event) => {
    const at = position_at(timeline, event.clientX);
    const index = timeline.steps.findIndex((step) => at >= step.at && at <= step.at + step.span_us);
    if (index >= 0) timeline.fit_step(index);
  });
}

function move_drag(timeline, drag, event) {
  if (Math.abs(event.clientX - drag.x) < 4 && drag.to === null) return;
  hide_tip();
  if (drag.pan) {
    const shift = (drag.x - event.clientX) / timeline.scale;
    drag.to = shift;
    timeline.show(drag.view[0] + shift, drag.view[1] + shift);
    return;
  }
  drag.to = position_at(timeline, event.clientX);
  const x = [drag.from, drag.to].map((at) => Math.max(timeline.left, timeline.x(at)));
  fill(timeline.drag, { x: Math.min(...x), width: Math.abs(x[1] - x[0]), visibility: "visible" }, []);
}

function key_action(timeline, key, shift) {
  switch (key) {
    case "+": case "=": return () => timeline.zoom(0.6);
    case "-": return () => timeline.zoom(1 / 0.6);
    case "0": return () => timeline.fit_step(timeline.chosen_step);
    case "PageUp": return () => timeline.fit_step(timeline.chosen_step - 1);
    case "PageDown": return () => timeline.fit_step(timeline.chosen_step + 1);
    case "Escape": return () => { timeline.chosen = null; hide_tip(); timeline.draw(); };
    case "ArrowLeft": return () => (shift ? timeline.pan(-0.2) : choose_along(timeline, -1));
    case "ArrowRight": return () => (shift ? timeline.pan(0.2) : choose_along(timeline, 1));
    case "ArrowUp": return () => choose_across(timeline, -1);
    case "ArrowDown": return () => choose_across(timeline, 1);
    default: return null;
  }
}

// ---- the box that the arrow keys move

// Boxes of a row in the chosen step, tasks and idle time, by their start.
function boxes_of(timeline, row) {
  const source = row.group === "measured" ? timeline.step : timeline.data.predicted;
  const step = timeline.step, group = row.group;
  const events = source.events.filter((event) => event[0] === row.track).map((event) => ({ event, step, group, start: event[2] }));
  const gaps = source.gaps.filter((gap) => gap[0] === row.track).map((gap) => ({ gap, step, group, start: gap[1] }));
  return [...events, ...gaps].sort((a, b) => a.start - b.start);
}

function choose_along(timeline, move) {
  const boxes = boxes_of(timeline, timeline.rows[timeline.chosen_row ?? 0]);
  const now = timeline.chosen ? boxes.findIndex((box) => same_meaning(box, timeline.chosen)) : -1;
  const next = now < 0 ? (move > 0 ? 0 : boxes.length - 1) : Math.max(0, Math.min(boxes.length - 1, now + move));
  choose(timeline, boxes[next]);
}

function choose_across(timeline, move) {
  const row = Math.max(0, Math.min(timeline.rows.length - 1, (timeline.chosen_row ?? -move) + move));
  const start = timeline.chosen?.start ?? 0;
  timeline.chosen_row = row;
  choose(timeline, boxes_of(timeline, timeline.rows[row])
    .reduce((best, box) => (Math.abs(box.start - start) < Math.abs(best.start - start) ? box : best)));
}

function choose(timeline, box) {
  timeline.chosen = box;
  timeline.chosen_row = timeline.chosen_row ?? 0;
  const at = box.step.at + box.start, length = (box.event ?? box.gap)[box.event ? 3 : 2];
  const [from, to] = timeline.view;
  if (at < from || at + length > to) timeline.show(at - (to - from) * 0.1, at + (to - from) * 0.9);
  else timeline.draw();
  const area = timeline.root.getBoundingClientRect(), shrink = (area.width || timeline.width) / timeline.width;
  const [title, rows] = timeline.tip_of(box);
  show_tip(title, rows, area.left + Math.max(timeline.x(at), timeline.left) * shrink,
    area.top + (timeline.tops[timeline.chosen_row] + row_height) * shrink);
  say(tip_text(title, rows));
}

// ---- buttons

function timeline_buttons(timeline) {
  const button = (text, title, action) => {
    const made = html("button", { type: "button", title, "aria-label": title }, text);
    made.addEventListener("click", action);
    return made;
  };
  const select = html("select", { "aria-label": "Step to show" }, timeline.steps.map((step, i) =>
    html("option", { value: i }, `step ${text_of_count(step.step)}`)));
  select.addEventListener("change", () => timeline.fit_step(Number(select.value)));
  timeline.on_view = () => { select.value = timeline.chosen_step; };
  timeline.on_view();
  return html("div", { class: "bar controls", role: "toolbar", "aria-label": "Timeline" },
    button("◀", "Previous step", () => timeline.fit_step(timeline.chosen_step - 1)), select,
    button("▶", "Next step", () => timeline.fit_step(timeline.chosen_step + 1)),
    button("−", "Zoom out", () => timeline.zoom(1 / 0.6)), button("+", "Zoom in", () => timeline.zoom(0.6)),
    button("Fit step", "Show the whole step", () => timeline.fit_step(timeline.chosen_step)),
    button("All steps", "Show all steps of this page", () => timeline.fit_all()));
}
