// What is asked again and again while somebody looks.

import { list } from "./ask.js";
import { h, put } from "./dom.js";
import { button, trouble } from "./parts.js";

const CAN_HAVE_FOCUS = "a, button, input, select, textarea";
const late = new Map(); // what could not be drawn yet, by its place
let isPressed = false;

/** Put something newer in its place, but never between the two halves of a click, and keep the focus where it was.
    Behind a dialog everything stays as it was, so that the focus can go back to what opened it. */
export function redraw(place, ...children) {
  if (isPressed || document.querySelector("dialog[open]")) {
    late.set(place, children);
    return;
  }
  const focused = place.contains(document.activeElement) ? [...place.querySelectorAll(CAN_HAVE_FOCUS)].indexOf(document.activeElement) : -1;
  put(place, ...children);
  if (focused >= 0) place.querySelectorAll(CAN_HAVE_FOCUS)[focused]?.focus({ preventScroll: true });
}

function drawLate() {
  const waiting = [...late];
  late.clear();
  for (const [place, children] of waiting) redraw(place, ...children);
}

function released() {
  isPressed = false;
  drawLate();
}

addEventListener("pointerdown", () => { isPressed = true; }, true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => setTimeout(released), true);

addEventListener("close", () => setTimeout(drawLate), true); // of a dialog; it does not bubble

/** Ask and draw now, and every so many seconds while the page is seen. What has not changed is drawn again
    once a minute, because it says how long ago things were. */
export function repeat(seconds, place, look, draw, signal) {
  let seen = null;
  let timer = null;
  async function again() {
    clearTimeout(timer);
    if (signal.aborted) return;
    if (!document.hidden) {
      try {
        const found = await look(signal);
        const now = `${Math.floor(Date.now() / 60_000)} ${JSON.stringify(found)}`;
        if (now !== seen && !signal.aborted) redraw(place, draw(found));
        seen = now;
      } catch (error) {
        if (signal.aborted) return;
        if (error.status === 401) throw error;
        redraw(place, trouble(error));
        seen = null;
        if (error.status === 404) return;
      }
    }
    clearTimeout(timer);
    timer = setTimeout(again, seconds * 1000);
  }
  const shown = () => !document.hidden && again();
  document.addEventListener("visibilitychange", shown, { signal });
  signal.addEventListener("abort", () => clearTimeout(timer));
  return again();
}

/** A list that grows when it is asked to, and follows what changes until then. `draw` makes what is shown of all rows that are there. */
export function growing(place, path, draw, signal, seconds = 5) {
  let seen = null; // rows, and the cursor behind them
  let isLonger = false;
  const look = async () => {
    const found = isLonger ? null : await list(path, signal);
    if (!isLonger) seen = found; // it may have grown meanwhile
    return seen;
  };
  const more = async () => {
    const found = await list(`${path}${path.includes("?") ? "&" : "?"}cursor=${encodeURIComponent(seen.next)}`, signal);
    isLonger = true;
    seen = { rows: [...seen.rows, ...found.rows], next: found.next };
    redraw(place, drawn(seen));
  };
  const drawn = ({ rows, next }) => [draw(rows), next && h("p", null, button("More", more))];
  return repeat(seconds, place, look, drawn, signal);
}
