// A new workflow, written down as the API takes it.

import { ask, tell } from "./ask.js";
import { h, put } from "./dom.js";
import { graph } from "./graph.js";
import { button, form, overlay, trouble } from "./parts.js";

export const title = "New workflow";

export async function show(place, signal) {
  const jobs = await ask("/jobs?limit=1", signal);
  const example = {
    name: "Nightly",
    steps: [
      { name: "Collect", job: jobs[0]?.id ?? "the id of a job" },
      { name: "Export", handler: "export", params: { format: "csv" }, dependencies: ["Collect"] },
      { name: "Clean up", handler: "clean_up", dependencies: ["Export"] },
    ],
  };
  const text = h("textarea", { name: "definition", rows: 18, spellcheck: "false", "aria-label": "Definition" });
  text.value = JSON.stringify(example, null, 2);
  const seen = h("div", { "aria-live": "polite" });
  const check = async () => {
    try {
      const found = await tell("POST", "/workflows/check", read(text.value));
      const steps = found.steps.map((each, number) => ({ ...each, step_index: number, status: "pending", retry_count: 0 }));
      const look = (step) => overlay(step.name, h("pre", null, JSON.stringify(found.steps[step.step_index], null, 2)));
      put(seen, h("p", null, "That can be done:"), h("div", { class: "scroll card" }, graph(steps, look)));
    } catch (error) {
      put(seen, trouble(error));
    }
  };
  const made = async () => {
    const workflow = await tell("POST", "/workflows", { ...read(text.value), start: true });
    location.hash = `#/workflows/${workflow.id}`;
  };
  put(
    place,
    h("p", { class: "crumbs" }, h("a", { href: "#/workflows" }, "Workflows")),
    h("h1", null, "New workflow"),
    h("p", { class: "quiet" }, "Steps are done one behind the other, or beside one another where they do not need each other. ", h("a", { href: "/docs" }, "/docs"), " tells all that a step can say."),
    form([text, h("div", { class: "row" }, button("Check it", check)), seen], made, "Start it"),
  );
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw Object.assign(new Error(`This is not JSON: ${error.message}`), { remedy: "Strings stand in double quotes, and nothing stands behind the last comma." });
  }
}
