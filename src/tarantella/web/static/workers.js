// Who does the work.

import { ask } from "./ask.js";
import { h, put } from "./dom.js";
import { repeat } from "./live.js";
import { chip, empty, facts, table } from "./parts.js";
import { bytes, distance, duration, number } from "./words.js";

export const title = "Workers";

export async function show(place, signal) {
  const live = h("div");
  put(place, h("h1", null, "Workers"), live);
  await repeat(2, live, () => ask("/system", signal), drawn, signal);
}

const drawn = ({ workers, engines, broker, database, version, uptime_seconds }) => [
  workers.length
    ? table(
        "Workers, on all machines",
        ["State", "Machine", "Process", "Does", "In flight", "Hosts", "Pages a second", "Memory", "Last heard of", "Trouble"],
        workers.map((each) => [
          chip(each.condition),
          each.node ?? each.host,
          each.pid,
          each.strategies.join(", "),
          number(each.in_flight),
          number(each.lanes),
          each.pages_per_second === null ? "–" : each.pages_per_second.toFixed(1),
          bytes(each.memory_bytes),
          distance(each.beat_at),
          each.trouble ?? "",
        ]),
      )
    : empty("Nobody works. `tarantella serve` starts engines of its own; `tarantella worker` works on any machine."),
  engines.length > 0 && [
    h("h2", null, "Engines of this server"),
    table("Engines", ["", "State", "Condition", "Process", "Started again", "Last end"], engines.map((each) => [each.number, chip(each.state), chip(each.condition), each.pid ?? "–", number(each.restarts), each.last_end ?? "–"])),
  ],
  h("h2", null, "This server"),
  facts([
    ["Version", version],
    ["Up for", duration(Math.floor(uptime_seconds))],
    ["Database", database],
    ["Broker", broker && [broker.url, " ", chip(broker.answers ? "ok" : "away"), broker.trouble && ` ${broker.trouble}`]],
  ]),
];
