// All runs, whoever asked for them.

import { query } from "./ask.js";
import { h, put } from "./dom.js";
import { growing } from "./live.js";
import { bar, chip, choice, empty, table } from "./parts.js";
import { address, between, distance, moment, number } from "./words.js";

export const title = "Runs";
const STATES = ["queued", "running", "paused", "completed", "partial", "failed", "cancelled"];
const SOURCES = [["", "anybody"], ["job", "a job"], ["scraping", "a task"], ["cli", "the command line"]];

export async function show(place, signal, wanted) {
  const rows = h("div");
  const filter = h(
    "form",
    { class: "filter", onchange: () => { location.hash = `#/runs${query(Object.fromEntries(new FormData(filter)))}`; } },
    h("label", null, "State", choice("status", [["", "any"], ...STATES.map((each) => [each, each])], wanted.get("status"))),
    h("label", null, "Asked for by", choice("source", SOURCES, wanted.get("source"))),
  );
  put(place, h("h1", null, "Runs"), filter, rows);
  await growing(rows, `/jobs/runs${query({ ...Object.fromEntries(wanted), limit: 50 })}`, runTable, signal);
}

/** Runs as rows; also what a job shows of its own. */
export function runTable(runs) {
  if (!runs.length) return empty("There is no such run.");
  return table(
    "Runs, the newest first",
    ["State", "Target", "Progress", "Done", "Failed", "Records", "Took", "Asked for"],
    runs.map((run) => [
      chip(run.status, run.reason ?? run.error_message),
      h("a", { href: `#/runs/${run.id}` }, address(run.target_url)),
      bar(run.counts),
      number(run.counts.done),
      number(run.counts.failed),
      number(run.records),
      between(run.started_at, run.finished_at),
      h("time", { datetime: run.created_at, title: moment(run.created_at) }, distance(run.created_at)),
    ]),
  );
}
