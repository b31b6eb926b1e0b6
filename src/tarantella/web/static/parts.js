// What pages are made of.

import { h, put } from "./dom.js";
import { number } from "./words.js";

/** A state, as a word with a colour. */
export const chip = (state, title) => h("span", { class: `chip ${state}`, title }, String(state).replaceAll("_", " "));

/** What went wrong, and what to do. */
export const trouble = (error) =>
  h("div", { class: "notice bad", role: "alert" }, h("p", null, error.message), error.remedy && h("p", { class: "quiet" }, error.remedy));

/** What to do where there is nothing yet. */
export const empty = (...children) => h("div", { class: "empty" }, children);

/** Figures side by side: `[name, value, note]`. */
export const figures = (rows) =>
  h(
    "dl",
    { class: "figures" },
    rows.filter(Boolean).map(([name, value, note]) => h("div", null, h("dt", null, name), h("dd", null, value, note && h("small", null, " ", note)))),
  );

/** Names and what they stand for. */
export const facts = (rows) =>
  h(
    "dl",
    { class: "facts" },
    rows.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
  );

/** How far it is: the parts that are done, failed and skipped, of a whole. */
export function bar(counts) {
  const whole = Math.max(1, counts.total);
  const line = h("div", {
    class: "progress",
    role: "img",
    "aria-label": `${number(counts.done)} of ${number(counts.total)} done, ${number(counts.failed)} failed, ${number(counts.skipped ?? 0)} skipped`,
  });
  for (const kind of ["done", "skipped", "failed"]) {
    const part = h("span", { class: kind });
    part.style.width = `${(100 * (counts[kind] ?? 0)) / whole}%`;
    line.append(part);
  }
  return line;
}

/** Rows of cells below their names. */
export const table = (caption, names, rows) =>
  h(
    "div",
    { class: "scroll" },
    h(
      "table",
      null,
      h("caption", null, caption),
      h("thead", null, h("tr", null, names.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", null, rows.map((cells) => h("tr", null, cells.map((cell) => h("td", null, cell))))),
    ),
  );

/** A button that does something, once at a time, and says where it went wrong. */
export function button(words, act, { kind = "", title, sure } = {}) {
  const element = h(
    "button",
    {
      type: "button",
      class: kind,
      title,
      onclick: async () => {
        if (sure && !(await confirmed(sure, words))) return;
        element.disabled = true;
        try {
          await act();
        } catch (error) {
          told(error);
        } finally {
          element.disabled = false;
        }
      },
    },
    words,
  );
  return element;
}

/** A form that is sent by Enter, too. What is refused is said below it, and its field is given back. */
export function form(fields, act, words) {
  const said = h("div", { "aria-live": "polite" });
  const send = h("button", { type: "submit", class: "main" }, words);
  const element = h(
    "form",
    {
      onsubmit: async (event) => {
        event.preventDefault();
        put(said);
        send.disabled = true;
        try {
          await act(new FormData(element));
        } catch (error) {
          put(said, trouble(error));
          element.elements[error.field?.split(".")[0]]?.focus?.();
        } finally {
          send.disabled = false;
        }
      },
    },
    fields,
    h("div", { class: "row" }, send),
    said,
  );
  return element;
}

/** A field with its name, and a hint. */
export const field = (words, input, hint) => h("label", null, h("span", null, words), input, hint && h("small", null, hint));

export const choice = (name, options, chosen) =>
  h("select", { name }, options.map(([value, words]) => h("option", { value, selected: value === (chosen ?? "") }, words)));

/** Views to choose from. One is drawn when it is chosen, and lives until another is, or its page ends. */
export function tabs(views, signal) {
  let life = new AbortController();
  signal.addEventListener("abort", () => life.abort());
  const place = h("section", { class: "tab" });
  const buttons = views.map(([words, draw]) =>
    h("button", { type: "button", role: "tab", "aria-selected": "false", onclick: (event) => open(event.currentTarget, draw) }, words),
  );
  function open(pressed, draw) {
    life.abort();
    life = new AbortController();
    for (const each of buttons) each.setAttribute("aria-selected", String(each === pressed));
    draw(place, life.signal);
  }
  open(buttons[0], views[0][1]);
  return h("div", null, h("div", { class: "tabs", role: "tablist" }, buttons), place);
}

/** Something laid over the page until it is closed. */
export function overlay(title, ...children) {
  const dialog = h(
    "dialog",
    { "aria-label": title, onclose: () => dialog.remove(), onclick: (event) => event.target === dialog && dialog.close() },
    h("div", { class: "sheet" }, h("header", null, h("h2", null, title), h("button", { type: "button", onclick: () => dialog.close() }, "Close")), children),
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Close all that is laid over the page. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
}

/** Say that something went wrong, over the page. */
export const told = (error) => overlay("That did not work", trouble(error));

function confirmed(question, words) {
  return new Promise((answer) => {
    const dialog = overlay(
      "Are you sure?",
      h("p", null, question),
      h(
        "div",
        { class: "row" },
        h("button", { type: "button", class: "bad", onclick: () => (answer(true), dialog.close()) }, words),
        h("button", { type: "button", onclick: () => dialog.close() }, "No"),
      ),
    );
    dialog.addEventListener("close", () => answer(false));
  });
}
