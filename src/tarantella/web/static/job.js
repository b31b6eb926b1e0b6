// One job: what it collects, when, and its runs.

import { ask, tell } from "./ask.js";
import { h, put } from "./dom.js";
import { repeat } from "./live.js";
import { button, chip, facts } from "./parts.js";
import { fieldNames } from "./jobs.js";
import { runTable } from "./runs.js";
import { address, moment, plain } from "./words.js";

export const title = "Job";
const SHOWN_ABOVE = ["id", "name", "target_url", "fields", "strategy", "frequency", "timezone", "status", "version", "warnings", "created_at", "updated_at"];

export async function show(place, signal, id) {
  const head = h("div");
  const runs = h("div");
  const job = await ask(`/jobs/${id}`, signal);
  const drawHead = async () => {
    const schedule = job.frequency === "on_demand" ? null : await ask(`/schedules/${id}`, signal);
    put(head, headOf(job, schedule, drawHead));
  };
  await drawHead();
  put(place, head, h("h2", null, "Runs"), runs);
  await repeat(3, runs, () => ask(`/jobs/${id}/runs?limit=50`, signal), runTable, signal);
}

function headOf(job, schedule, again) {
  const run = async () => {
    const made = await tell("POST", `/jobs/${job.id}/runs`);
    location.hash = `#/runs/${made.id}`;
  };
  const turn = async () => {
    await tell("POST", `/schedules/${job.id}/${schedule.paused ? "resume" : "pause"}`);
    await again();
  };
  const gone = async () => {
    await tell("DELETE", `/jobs/${job.id}`);
    location.hash = "#/jobs";
  };
  return [
    h("p", { class: "crumbs" }, h("a", { href: "#/jobs" }, "Jobs")),
    h("h1", null, job.name ?? address(job.target_url)),
    h(
      "div",
      { class: "row" },
      button("Run now", run, { kind: "main" }),
      schedule && button(schedule.paused ? "Resume the schedule" : "Pause the schedule", turn),
      button("Delete", gone, { kind: "bad", sure: "The job goes for good, with its runs and all that they collected." }),
    ),
    job.warnings.map((warning) => h("p", { class: "notice" }, plain(warning))),
    facts([
      ["Target", h("a", { href: job.target_url, rel: "noreferrer noopener", target: "_blank" }, job.target_url)],
      ["Fields", fieldNames(job.fields)],
      ["Strategy", chip(job.strategy)],
      ["Runs", schedule ? `${schedule.in_words} (${schedule.timezone})` : "when somebody says so"],
      ["Next", schedule && (schedule.paused ? "paused" : (schedule.next_local ?? "never"))],
      ["Version", job.version],
      ["Workflow", job.workflow_id && [h("a", { href: `#/workflows/${job.workflow_id}` }, "its newest"), " ", chip(job.workflow_status)]],
      ["Changed", moment(job.updated_at)],
      ["Id", h("code", null, job.id)],
    ]),
    rest(job),
  ];
}

function rest(job) {
  const rows = Object.entries(job).filter(([name, value]) => !SHOWN_ABOVE.includes(name) && !name.startsWith("workflow_") && value !== null && value !== false);
  const selectors = job.fields.filter((each) => each.name);
  if (!rows.length && !selectors.length) return null;
  return h(
    "details",
    null,
    h("summary", null, "All that it says"),
    facts([...selectors.map((each) => [each.name, h("code", null, plain(Object.fromEntries(Object.entries(each).filter(([name, value]) => name !== "name" && value !== null && value !== false))))]), ...rows.map(([name, value]) => [name, h("code", null, plain(value))])]),
  );
}
