// Jobs: what is collected again and again.

import { h, put } from "./dom.js";
import { growing } from "./live.js";
import { chip, empty, table } from "./parts.js";
import { address, distance, moment } from "./words.js";

export const title = "Jobs";

/** What a field is called; some say where it stands, too. */
export const fieldNames = (fields) => fields.map((each) => each.name ?? each).join(", ");

export async function show(place, signal) {
  const rows = h("div");
  put(place, h("h1", null, "Jobs"), h("p", { class: "row" }, h("a", { class: "button main", href: "#/jobs/new" }, "New job")), rows);
  await growing(rows, "/jobs?limit=50", jobTable, signal);
}

const jobTable = (jobs) =>
  jobs.length
    ? table(
        "Jobs, the newest first",
        ["Job", "Target", "Fields", "How", "Runs", "Changed"],
        jobs.map((job) => [
          h("a", { href: `#/jobs/${job.id}` }, job.name ?? address(job.target_url)),
          h("span", { class: "cut", title: job.target_url }, address(job.target_url)),
          h("span", { class: "cut", title: fieldNames(job.fields) }, fieldNames(job.fields)),
          chip(job.strategy),
          job.frequency === "on_demand" ? "on demand" : job.frequency,
          h("time", { datetime: job.updated_at, title: moment(job.updated_at) }, distance(job.updated_at)),
        ]),
      )
    : empty("There is no job yet. A job says what is collected from where, so that it can be collected again. ", h("a", { href: "#/jobs/new" }, "Make one"));
