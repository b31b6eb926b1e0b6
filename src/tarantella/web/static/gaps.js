// What is missing, and what came of the scrapers that were to fetch it.

import { ask, query, tell } from "./ask.js";
import { h, put } from "./dom.js";
import { growing, repeat } from "./live.js";
import { button, chip, choice, empty, facts, figures, overlay, table, told } from "./parts.js";
import { distance, duration, moment, number, plain, short } from "./words.js";

export const title = "Gaps";
const STATES = ["pending", "running", "completed", "failed", "resolved"];
const PRIORITIES = ["CRITICAL", "HIGH", "MEDIUM", "LOW"];

export async function show(place, signal, wanted) {
  const counts = h("div");
  const rows = h("div");
  const filter = h(
    "form",
    { class: "filter", onchange: () => { location.hash = `#/gaps${query(Object.fromEntries(new FormData(filter)))}`; } },
    h("label", null, "State", choice("status", [["", "any"], ...STATES.map((each) => [each, each])], wanted.get("status"))),
    h("label", null, "Priority", choice("priority", [["", "any"], ...PRIORITIES.map((each) => [each, each])], wanted.get("priority"))),
  );
  put(place, h("h1", null, "Gaps"), counts, filter, rows);
  await repeat(5, counts, () => ask("/gaps/queues", signal), queueTable, signal);
  await growing(rows, `/gaps${query({ ...Object.fromEntries(wanted), limit: 100 })}`, gapTable, signal);
}

function queueTable(queues) {
  const again = async (queue) => {
    const { taken_back } = await tell("POST", "/gaps/retry", { queue });
    overlay("Taken back", h("p", null, `${number(taken_back)} will be done again with the next \`tarantella queue run\`.`));
  };
  return queues.map((each) => [
    h("h2", null, each.queue),
    figures(STATES.map((state) => [state[0].toUpperCase() + state.slice(1), number(each[state])])),
    each.failed > 0 && button("Have the failed ones done again", () => again(each.queue)),
  ]);
}

const gapTable = (gaps) =>
  gaps.length
    ? table(
        "Gaps, in the order in which they are filled",
        ["State", "Gap", "Priority", "Source", "Scraper", "Records", "Took", "Why"],
        gaps.map((gap) => [
          chip(gap.status),
          h("button", { type: "button", class: "link", onclick: () => open(gap.id) }, gap.name),
          gap.priority,
          gap.source,
          gap.scraper,
          number(gap.records),
          gap.seconds === null ? "–" : duration(gap.seconds),
          h("span", { class: "cut" }, [gap.failure, gap.detail].filter(Boolean).join(": ") || gap.reason),
        ]),
      )
    : empty("There is no such gap. `tarantella gaps scan` finds what is missing, and `tarantella queue run` fills it with your scripts.");

async function open(id) {
  try {
    const gap = await ask(`/gaps/${id}`);
    overlay(
      gap.name,
      facts([
        ["State", chip(gap.status)],
        ["Failure", [gap.failure, gap.detail].filter(Boolean).join(": ")],
        ["What follows", gap.policy && `${gap.policy.retry ? "tried again, as often as its scraper says" : "not tried again"}: ${gap.policy.words}`],
        ["Why it is a gap", gap.reason],
        ["Executed", number(gap.executions)],
        ["Exit code", gap.exit_code],
        ["Next try", gap.next_at && distance(gap.next_at)],
        ["Started", moment(gap.started_at)],
        ["Ended", moment(gap.finished_at)],
        ["Id", short(gap.id)],
      ]),
      h("h3", null, "What its script is told"),
      h("pre", null, JSON.stringify(gap.params, null, 2)),
      [["stdout", gap.stdout], ["stderr", gap.stderr]].filter(([, text]) => plain(text).trim()).map(([name, text]) => [h("h3", null, `The end of its ${name}`), h("pre", null, text)]),
    );
  } catch (error) {
    told(error);
  }
}
