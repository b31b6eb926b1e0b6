// Everything at a glance, and the quickest way to a scrape.

import { ask, tell } from "./ask.js";
import { h } from "./dom.js";
import { repeat } from "./live.js";
import { bar, chip, empty, field, figures, form, table } from "./parts.js";
import { address, bytes, distance, duration, number, short } from "./words.js";

export const title = "Overview";

export async function show(place, signal) {
  const live = h("div");
  place.append(h("h1", null, "Overview"), start(), live);
  const look = async () => {
    const [system, runs, sites] = await Promise.all([
      ask("/system", signal),
      ask("/jobs/runs?limit=8", signal),
      ask("/sites?limit=200", signal),
    ]);
    return { system, runs, sites };
  };
  await repeat(2, live, look, drawn, signal);
}

function start() {
  const fields = [
    field("Address", h("input", { name: "url", type: "url", required: true, placeholder: "https://…" })),
    field("Levels", h("input", { name: "max_depth", type: "number", min: 1, max: 5, value: 2 }), "1 is the page alone, 2 also what it links to"),
  ];
  const sent = async (data) => {
    const task = await tell("POST", "/scraping/async-scrape", { url: data.get("url"), max_depth: Number(data.get("max_depth")) });
    location.hash = `#/runs/${task.task_id}`;
  };
  return h("section", { class: "card quick" }, h("h2", null, "Scrape a site now"), form(fields, sent, "Start"));
}

function drawn({ system, runs, sites }) {
  const { capacity } = system;
  const speed = system.workers.reduce((sum, each) => sum + (each.pages_per_second ?? 0), 0);
  const memory = system.workers.reduce((sum, each) => sum + (each.memory_bytes ?? 0), 0);
  return [
    figures([
      ["Running", `${number(capacity.running)} of ${number(capacity.max_concurrent_tasks)}`],
      ["Queued", number(capacity.queued)],
      ["Paused", number(capacity.paused)],
      ["Pages waiting", number(system.queue.pending_pages)],
      ["Pages a second", speed < 10 ? speed.toFixed(1) : number(Math.round(speed))],
      ["Workers", number(system.workers.length), bytes(memory)],
      ["Up for", duration(system.uptime_seconds)],
    ]),
    system.waiting.length > 0 && [
      h("h2", null, "Waiting"),
      table(
        "Runs that wait, those that are next first",
        ["State", "Run", "Why", "For", "Pages waiting"],
        system.waiting.slice(0, 20).map((each) => [
          chip(each.status),
          h("a", { href: `#/runs/${each.run_id}` }, short(each.run_id)),
          each.reason ?? "–",
          duration(Math.floor(each.waiting_seconds)),
          number(each.pending_pages),
        ]),
      ),
    ],
    h("h2", null, "Latest runs"),
    runs.length
      ? table(
          "The latest runs",
          ["State", "Target", "Progress", "Records", "Began"],
          runs.map((run) => [
            chip(run.status),
            h("a", { href: `#/runs/${run.id}` }, address(run.target_url)),
            bar(run.counts),
            number(run.records),
            distance(run.started_at ?? run.created_at),
          ]),
        )
      : empty("Nothing has run yet. Give an address above."),
    h("h2", null, "Sites"),
    sites.length ? siteTable(sites) : empty("No site has been asked for anything yet."),
  ];
}

function siteTable(sites) {
  const worst = { blocked: 0, failing: 1, degraded: 2 };
  const sorted = [...sites].sort((a, b) => (worst[a.health] ?? 3) - (worst[b.health] ?? 3) || b.errors.requests - a.errors.requests);
  return table(
    "Sites, those in trouble first",
    ["Health", "Host", "Requests", "Failed", "Lately", "Waiting runs"],
    sorted.slice(0, 20).map((site) => [
      chip(site.health),
      h("a", { href: `#/sites?host=${encodeURIComponent(site.host)}` }, site.host),
      number(site.errors.requests),
      number(site.errors.failures),
      site.errors.recent_rate === null ? "–" : `${(site.errors.recent_rate * 100).toFixed(0)} % failed`,
      number(site.waiting_runs),
    ]),
  );
}
