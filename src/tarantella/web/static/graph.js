// Steps and what they wait for, drawn from left to right.

import { s } from "./dom.js";

const [WIDE, HIGH, ACROSS, DOWN, EDGE] = [168, 46, 64, 22, 8];

/** A picture of steps. A step stands one column behind the last of those that it needs. */
export function graph(steps, choose) {
  const columns = [];
  const places = new Map();
  for (const step of steps) {
    const column = Math.max(-1, ...step.dependencies.map((number) => places.get(number).column)) + 1;
    columns[column] = (columns[column] ?? 0) + 1;
    places.set(step.step_index, { column, row: columns[column] - 1 });
  }
  const most = Math.max(...columns);
  const at = (number) => {
    const { column, row } = places.get(number);
    const above = ((most - columns[column]) * (HIGH + DOWN)) / 2; // columns stand in the middle
    return { x: EDGE + column * (WIDE + ACROSS), y: EDGE + above + row * (HIGH + DOWN) };
  };
  const width = 2 * EDGE + columns.length * WIDE + (columns.length - 1) * ACROSS;
  const height = 2 * EDGE + most * HIGH + (most - 1) * DOWN;
  return s(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width, height, class: "graph", role: "group", "aria-label": "Steps and what they wait for" },
    steps.flatMap((step) => step.dependencies.map((number) => edge(at(number), at(step.step_index), steps[number].status))),
    steps.map((step) => node(step, at(step.step_index), choose)),
  );
}

function edge(from, to, status) {
  const [x1, y1, x2, y2] = [from.x + WIDE, from.y + HIGH / 2, to.x, to.y + HIGH / 2];
  const bend = (x2 - x1) / 2;
  return s("path", { class: `edge ${status}`, d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}` });
}

function node(step, { x, y }, choose) {
  const name = step.name.length > 20 ? `${step.name.slice(0, 19)}…` : step.name;
  return s(
    "g",
    {
      class: `node ${step.status}`,
      transform: `translate(${x},${y})`,
      tabindex: 0,
      role: "button",
      "aria-label": `${step.name}: ${step.status}`,
      onclick: () => choose(step),
      onkeydown: (event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose(step)),
    },
    s("title", null, `${step.name}: ${step.status}${step.waits_for ? `, waits for ${step.waits_for}` : ""}`),
    s("rect", { width: WIDE, height: HIGH, rx: 6 }),
    s("text", { x: 12, y: 20, class: "name" }, name),
    s("text", { x: 12, y: 37, class: "state" }, step.retry_count > 0 ? `${step.status} · ${step.retry_count} tried again` : step.status),
  );
}
