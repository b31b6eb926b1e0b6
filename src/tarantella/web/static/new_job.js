// A new job, with a look at its page before it is made.

import { ask, query, tell } from "./ask.js";
import { h, put } from "./dom.js";
import { button, choice, empty, field, form, table, trouble } from "./parts.js";
import { plain } from "./words.js";

export const title = "New job";
const STRATEGIES = ["auto", "http", "browser", "api_replay"];

export async function show(place) {
  const fields = []; // as the API wants them: names, or names with their selector
  const chosen = h("ul", { class: "chosen", "aria-label": "Fields" });
  const seen = h("div", { "aria-live": "polite" });
  const url = h("input", { name: "target_url", type: "url", required: true, placeholder: "https://…" });
  const name = h("input", { placeholder: "price", "aria-label": "Name of the field" });
  const css = h("input", { placeholder: ".price (or nothing)", "aria-label": "CSS selector" });
  const find = h("input", { placeholder: "a value that stands on the page", "aria-label": "What to look for" });
  const when = h("span", { "aria-live": "polite" });
  const frequency = h("input", { name: "frequency", placeholder: "on_demand", onchange: () => tellWhen(frequency.value.trim(), when) });

  const drawChosen = () => {
    const drop = (one) => { fields.splice(fields.indexOf(one), 1); drawChosen(); };
    put(chosen, fields.length ? fields.map((one) => h("li", null, h("b", null, one.name ?? one), " ", h("code", null, how(one)), " ", button("×", () => drop(one), { kind: "plain", title: `Leave ${one.name ?? one} out` }))) : h("li", { class: "quiet" }, "None yet. Look at the page, or add them by name."));
  };
  const add = (one) => {
    const at = fields.findIndex((each) => (each.name ?? each) === (one.name ?? one));
    if (at < 0) fields.push(one);
    else fields[at] = one;
    drawChosen();
  };
  const look = async (more) => {
    if (!url.reportValidity()) return;
    put(seen, h("p", { class: "quiet" }, "Looking at the page…"));
    try {
      put(seen, preview(await tell("POST", "/jobs/preview", { url: url.value, ...more }), add, name));
    } catch (error) {
      put(seen, trouble(error));
    }
  };
  const addTyped = () => {
    if (!name.value.trim()) return name.focus();
    add(css.value.trim() ? { name: name.value.trim(), css: css.value.trim() } : name.value.trim());
    name.value = css.value = "";
    name.focus();
  };
  const onEnter = (act) => (event) => { if (event.key === "Enter") { event.preventDefault(); act(); } };
  css.addEventListener("keydown", onEnter(addTyped));
  name.addEventListener("keydown", onEnter(addTyped));
  find.addEventListener("keydown", onEnter(() => look({ find: find.value })));

  const made = async (data) => {
    const said = {
      target_url: data.get("target_url"),
      fields,
      strategy: data.get("strategy"),
      frequency: data.get("frequency").trim() || "on_demand",
      ...(data.get("name").trim() ? { name: data.get("name").trim() } : {}),
      ...(data.get("requires_auth") ? { requires_auth: true } : {}),
      ...Object.fromEntries(["max_depth", "max_pages"].filter((each) => data.get(each)).map((each) => [each, Number(data.get(each))])),
    };
    const job = await tell("POST", "/jobs", said);
    location.hash = `#/jobs/${job.id}`;
  };
  drawChosen();
  put(
    place,
    h("p", { class: "crumbs" }, h("a", { href: "#/jobs" }, "Jobs")),
    h("h1", null, "New job"),
    form(
      [
        field("Target", url, "Where its runs begin"),
        h("div", { class: "row" }, button("Look at the page", () => look({})), find, button("Find it on the page", () => find.value && look({ find: find.value }))),
        seen,
        h("fieldset", null, h("legend", null, "Fields"), chosen, h("div", { class: "row" }, name, css, button("Add", addTyped))),
        h("div", { class: "columns" },
          field("Name", h("input", { name: "name" }), "For people; can be left out"),
          field("Strategy", choice("strategy", STRATEGIES.map((each) => [each, each]), "auto"), "auto finds out what the site takes"),
          field("Runs by itself", frequency, when),
          field("Levels", h("input", { name: "max_depth", type: "number", min: 1, max: 1000, placeholder: "1" }), "1 is the target alone"),
          field("Pages at most", h("input", { name: "max_pages", type: "number", min: 1, max: 1000000, placeholder: "10000" })),
          h("label", { class: "check" }, h("input", { type: "checkbox", name: "requires_auth" }), " The target needs a login"),
        ),
        h("p", { class: "quiet" }, "Everything else that a job can say is told at ", h("a", { href: "/docs" }, "/docs"), "."),
      ],
      made,
      "Make the job",
    ),
  );
  put(when, "A line as for cron, `hourly`, `daily at 06:30`, `every 15 minutes`");
}

const how = (one) => one.css ? `${one.css}${one.attr ? ` @${one.attr}` : ""}` : one.jmespath ? one.jmespath : "by its name";

async function tellWhen(said, place) {
  if (!said || said === "on_demand") return put(place, "When somebody says so");
  try {
    const found = await ask(`/schedules/preview${query({ frequency: said, count: 2 })}`);
    put(place, `${found.in_words}. Next: ${found.times.map((each) => each.local).join(", ")}`);
  } catch (error) {
    put(place, [error.message, error.remedy].filter(Boolean).join(" "));
  }
}

function preview(page, add, name) {
  const found = page.fields.filter((each) => each.value !== null);
  const place = ({ css, attr, jmespath }) => Object.fromEntries(Object.entries({ css, attr, jmespath }).filter(([, value]) => value));
  return [
    h("p", { class: "quiet" }, `${page.url} answered ${page.status ?? "–"} with ${page.content_type || "nothing"}. `, page.items !== null && `It is a list of ${page.items}.`),
    page.found.length > 0 &&
      table("Where that stands", ["Selector", "Value", "Matches", ""], page.found.map((each) => [
        h("code", null, how(each)),
        h("span", { class: "cut", title: each.value }, each.value),
        each.matches,
        button("Use", () => (name.value.trim() ? add({ name: name.value.trim(), ...place(each) }) : name.focus()), { title: "Under the name that is typed below" }),
      ])),
    found.length
      ? table("What is found by its name", ["Field", "Value", "Source", ""], found.map((each) => [
          each.name,
          h("span", { class: "cut", title: plain(each.value) }, plain(each.value)),
          plain(each.source),
          h("span", { class: "row" },
            button("Add", () => add(each.name)),
            page.suggestions[each.name]?.[0] && button("With selector", () => add({ name: each.name, ...place(page.suggestions[each.name][0]) }), { kind: "plain", title: how(page.suggestions[each.name][0]) })),
        ]))
      : empty("Nothing is found by its name here. Say what stands on the page, and look for its selector."),
  ];
}
