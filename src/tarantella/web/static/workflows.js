// Workflows, and the templates that they are made of.

import { query, tell } from "./ask.js";
import { h, put } from "./dom.js";
import { growing } from "./live.js";
import { button, chip, choice, empty, table } from "./parts.js";
import { between, distance, moment, short } from "./words.js";

export const title = "Workflows";
const GROUPS = [["", "all"], ["active", "active"], ["failed", "failed"], ["recoverable", "can be recovered"]];

export async function show(place, signal, wanted) {
  const rows = h("div");
  const templates = h("div");
  const filter = h(
    "label",
    { class: "filter", onchange: (event) => { location.hash = `#/workflows${query({ group: event.target.value })}`; } },
    "Show",
    choice("group", GROUPS, wanted.get("group")),
  );
  put(place, h("h1", null, "Workflows"), h("div", { class: "row" }, h("a", { class: "button main", href: "#/workflows/new" }, "New workflow"), filter), rows, h("h2", null, "Templates"), templates);
  await growing(rows, `/workflows${query({ group: wanted.get("group"), limit: 50 })}`, workflowTable, signal);
  await growing(templates, "/workflows/templates?limit=50", templateTable, signal, 10);
}

const workflowTable = (workflows) =>
  workflows.length
    ? table(
        "Workflows, the newest first",
        ["State", "Workflow", "Steps done", "Took", "Made"],
        workflows.map((each) => [
          chip(each.status, each.error_message ?? each.reason),
          h("a", { href: `#/workflows/${each.id}` }, each.name || short(each.id)),
          `${each.progress} % of ${each.total_steps}`,
          between(each.started_at, each.completed_at),
          h("time", { datetime: each.created_at, title: moment(each.created_at) }, distance(each.created_at)),
        ]),
      )
    : empty("There is no such workflow. A workflow does one step after another, and goes on after a failure where it stopped.");

function templateTable(templates) {
  const start = async (name) => {
    const made = await tell("POST", "/workflows", { template: name, start: true });
    location.hash = `#/workflows/${made.id}`;
  };
  return templates.length
    ? table("Templates", ["Name", "Version", "Steps", "Changed", ""], templates.map((each) => [each.name, each.version, each.definition.steps.map((step) => step.name).join(", "), distance(each.updated_at), button("Start", () => start(each.name))]))
    : empty("No definition is kept as a template. `tarantella workflows templates --help` tells how to keep one.");
}
