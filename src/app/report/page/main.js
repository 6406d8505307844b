// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The address may say, after #: "theme=dark" or "theme=light", "only=" and the id of a section, and "selfcheck".
"use strict";

// For pictures: one section, and how many pixels it is high.
function show_only(section) {
  for (const part of document.querySelectorAll("header, footer, main > *")) part.hidden = part !== section;
  for (const part of section.querySelectorAll("details, .controls")) part.hidden = true;
  document.documentElement.dataset.height = Math.ceil(section.getBoundingClientRect().bottom + 18);
}

function draw_page() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (["dark", "light"].includes(asked.get("theme"))) document.documentElement.dataset.theme = asked.get("theme");
  const data = JSON.parse(by_id("data").textContent);
  draw_runs(data);
  draw_classes(data);
  draw_head(data);
  draw_tiles(data);
  const curves = draw_curves(data);
  const timeline = draw_timeline(data);
  draw_comparison(data);
  draw_memory(data);
  draw_deck(data);
  draw_versions(data);
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide_tip(); });
  addEventListener("scroll", hide_tip, { passive: true });
  if (by_id(asked.get("only"))) show_only(by_id(asked.get("only")));
  if (asked.has("selfcheck")) check_page(data, curves, timeline);
}

draw_page();
