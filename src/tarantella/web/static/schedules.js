// When jobs run by themselves.

import { ask, tell } from "./ask.js";
import { h, put } from "./dom.js";
import { redraw, repeat } from "./live.js";
import { button, chip, empty, table } from "./parts.js";
import { address, distance, number } from "./words.js";

export const title = "Schedules";

export async function show(place, signal) {
  const rows = h("div");
  const look = () => ask("/schedules?limit=200", signal);
  const again = async () => redraw(rows, scheduleTable(await look(), again));
  put(place, h("h1", null, "Schedules"), rows);
  await repeat(5, rows, look, (schedules) => scheduleTable(schedules, again), signal);
}

function scheduleTable(schedules, again) {
  const turn = async (each) => {
    await tell("POST", `/schedules/${each.job_id}/${each.paused ? "resume" : "pause"}`);
    await again();
  };
  return schedules.length
    ? table(
        "Jobs that run by themselves, the next 200 first",
        ["State", "Job", "When", "Next", "Last time", "Runs", "Passed over", ""],
        schedules.map((each) => [
          chip(each.paused ? "paused" : "active"),
          h("a", { href: `#/jobs/${each.job_id}` }, each.name ?? address(each.target_url)),
          h("span", { title: each.frequency }, each.in_words),
          each.paused ? "–" : h("span", { title: each.next_local }, distance(each.next_at)),
          each.last_run_id ? h("a", { href: `#/runs/${each.last_run_id}` }, lastTime(each.last)) : lastTime(each.last),
          number(each.runs),
          number(each.skipped + each.missed + each.refused),
          button(each.paused ? "Resume" : "Pause", () => turn(each)),
        ]),
      )
    : empty("No job runs by itself. Give a job a frequency, as in `every 15 minutes`. ", h("a", { href: "#/jobs/new" }, "Make one"));
}

const lastTime = (last) => (last === null ? "–" : `${distance(last.at)}: ${last.came}`);
