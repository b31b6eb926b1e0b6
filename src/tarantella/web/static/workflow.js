// One workflow: the graph of its steps, what happened, and what can be done about it.

import { ask, list, tell } from "./ask.js";
import { h, put } from "./dom.js";
import { graph } from "./graph.js";
import { redraw, repeat } from "./live.js";
import { bar, button, chip, choice, facts, field, figures, form, overlay, table } from "./parts.js";
import { eventRow } from "./run.js";
import { between, duration, moment, number, plain, short } from "./words.js";

export const title = "Workflow";

export async function show(place, signal, id) {
  const live = h("div");
  const history = h("div");
  put(place, live, history);
  const look = async () => ({ ...(await ask(`/workflows/${id}`, signal)), now: null });
  const again = async () => redraw(live, drawn(await look(), again));
  await repeat(1.5, live, look, (workflow) => drawn(workflow, again), signal);
  let seen = []; // what happened; only what is new is asked for
  let cursor = null;
  const hear = async () => {
    for (;;) {
      const found = await list(`/workflows/${id}/events?limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`, signal);
      const known = new Set(seen.map((each) => each.sequence));
      seen = [...seen, ...found.rows.filter((each) => !known.has(each.sequence))];
      if (!found.next) return seen;
      cursor = found.next;
    }
  };
  await repeat(3, history, hear, (events) => h("div", null, h("h2", null, "What happened"), h("div", { class: "scroll" }, h("table", null, h("tbody", null, [...events].reverse().map(eventRow))))), signal);
}

function drawn(workflow, again) {
  const { steps } = workflow;
  const many = (...states) => steps.filter((each) => states.includes(each.status)).length;
  const counts = { total: steps.length, done: many("completed"), failed: many("failed"), skipped: many("skipped", "cancelled") };
  return [
    h("p", { class: "crumbs" }, h("a", { href: "#/workflows" }, "Workflows"), " / ", short(workflow.id)),
    h("h1", null, workflow.name || short(workflow.id), " ", chip(workflow.status)),
    h("div", { class: "row" }, actions(workflow, again)),
    (workflow.error_message || workflow.reason) && h("p", { class: "notice" }, workflow.error_message ?? workflow.reason),
    workflow.waits_for && h("p", { class: "quiet" }, `It waits for ${workflow.waits_for}.`),
    bar(counts),
    figures([
      ["Steps done", number(counts.done), `of ${number(counts.total)}`],
      ["Failed", number(counts.failed)],
      ["Skipped", number(counts.skipped)],
      ["Took", between(workflow.started_at, workflow.completed_at)],
      ["Recovered", number(workflow.recovery_attempts), `of ${workflow.max_recovery_attempts}`],
      workflow.template && ["Template", workflow.template, `version ${workflow.template_version}`],
    ]),
    h("div", { class: "scroll card" }, graph(steps, open)),
    table(
      "Steps",
      ["", "Step", "State", "Does", "Tried again", "Took", "Expected"],
      steps.map((step) => [
        step.step_index,
        h("button", { type: "button", class: "link", onclick: () => open(step) }, step.name),
        chip(step.status, step.error_message ?? step.waits_for),
        step.run_id ? h("a", { href: `#/runs/${step.run_id}` }, "a run of its job") : (step.handler ?? "a run of its job"),
        `${step.retry_count} of ${step.max_retries}`,
        step.actual_duration === null ? "–" : duration(step.actual_duration),
        step.estimated_duration === null ? "–" : duration(step.estimated_duration),
      ]),
    ),
  ];
}

function open(step) {
  overlay(
    step.name,
    facts([
      ["State", chip(step.status)],
      ["Error", step.error_message],
      ["Waits for", step.waits_for],
      ["Kind", step.task_type],
      ["Does", step.handler ?? "a run of its job"],
      ["Job", step.job && h("a", { href: `#/jobs/${step.job}`, onclick: (event) => event.target.closest("dialog").close() }, short(step.job))],
      ["Run", step.run_id && h("a", { href: `#/runs/${step.run_id}`, onclick: (event) => event.target.closest("dialog").close() }, short(step.run_id))],
      ["Behind", step.dependencies.join(", ")],
      ["Tried again", `${step.retry_count} of ${step.max_retries}`],
      ["May take", step.timeout && duration(step.timeout)],
      ["Started", moment(step.started_at)],
      ["Ended", moment(step.completed_at)],
      ["Next try", step.status === "retrying" && moment(step.next_at)],
      ["Celery's id", step.celery_task_id],
    ]),
    h("h3", null, "What it is told"),
    h("pre", null, JSON.stringify(step.params, null, 2)),
    h("h3", null, "What it gave"),
    h("pre", null, JSON.stringify(step.result, null, 2)),
  );
}

function actions(workflow, again) {
  const path = `/workflows/${workflow.id}`;
  const act = (words, verb, options) => button(words, async () => { await tell("POST", `${path}/${verb}`); await again(); }, options);
  const { status } = workflow;
  const gone = async () => { await tell("DELETE", path); location.hash = "#/workflows"; };
  return [
    status === "pending" && act("Start", "start", { kind: "main" }),
    status === "running" && act("Pause", "pause"),
    status === "paused" && act("Resume", "resume", { kind: "main" }),
    workflow.is_recoverable && button("Recover…", () => recover(workflow, again), { kind: "main" }),
    ["pending", "running", "paused", "recovering"].includes(status) && act("Cancel", "cancel", { kind: "bad", sure: "What is done stays done. A cancelled workflow does not go on." }),
    ["pending", "completed", "failed", "cancelled"].includes(status) && button("Delete", gone, { kind: "bad", sure: "The workflow goes for good, with its history." }),
  ];
}

function recover(workflow, again) {
  const first = workflow.steps.find((each) => each.status === "failed")?.step_index ?? 0;
  const sent = async (data) => {
    await tell("POST", `/workflows/${workflow.id}/recover`, { from_step: Number(data.get("from_step")), ...(data.get("reason") ? { reason: data.get("reason") } : {}) });
    dialog.close();
    await again();
  };
  const dialog = overlay(
    "Recover",
    h("p", { class: "quiet" }, "Steps before the chosen one keep what they gave, and are not done again."),
    form(
      [
        field("From", choice("from_step", workflow.steps.map((each) => [String(each.step_index), `${each.step_index} · ${each.name} (${plain(each.status)})`]), String(first))),
        field("Why", h("input", { name: "reason", maxlength: 500 }), "Stands in its history; can be left out"),
      ],
      sent,
      "Recover",
    ),
  );
}
