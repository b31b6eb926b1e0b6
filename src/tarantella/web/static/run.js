// One run: how far it is, what happened, what it collected.

import { ask, download, list, query, request, tell } from "./ask.js";
import { h, put } from "./dom.js";
import { growing, redraw } from "./live.js";
import { bar, button, chip, choice, empty, facts, figures, overlay, table, tabs, told, trouble } from "./parts.js";
import { follow } from "./stream.js";
import { address, between, bytes, clock, duration, moment, number, percent, plain, short } from "./words.js";

export const title = "Run";
const OVER = ["completed", "partial", "failed", "cancelled"];
const FORMATS = ["csv", "json", "jsonl", "db"];
const PAGE_STATES = ["pending", "done", "failed", "skipped"];
// Columns that a table of records has no room for; a row opened shows them.
const TUCKED_AWAY = ["final_url", "text", "links", "depth", "status", "content_type", "fetched_at", "elapsed_ms", "bytes", "from_cache", "language", "fields", "sources", "problems"];
const MOST_COLUMNS = 8;
const MOST_EVENTS = 500; // that are kept on the page

export async function show(place, signal, id) {
  const head = h("div");
  const lost = h("div", { "aria-live": "polite" });
  const state = { run: await ask(`/jobs/runs/${id}`, signal), progress: await ask(`/jobs/runs/${id}/progress`, signal) };
  const drawHead = () => redraw(head, headOf(state, again));
  async function again() {
    [state.run, state.progress] = await Promise.all([ask(`/jobs/runs/${id}`, signal), ask(`/jobs/runs/${id}/progress`, signal)]);
    drawHead();
    if (!OVER.includes(state.run.status)) watch();
  }
  let isWatching = false;
  async function watch() {
    if (isWatching) return;
    isWatching = true;
    const heard = (name, data) => {
      if (name !== "progress") return;
      const changed = data.status !== state.progress.status;
      state.progress = data;
      drawHead();
      if (changed) again().catch(() => {});
    };
    const cut = (error) => put(lost, error && trouble(error));
    try {
      await follow(`/jobs/runs/${id}/progress/stream`, heard, { signal, lost: cut });
      isWatching = false;
      if (!signal.aborted) await again();
    } catch (error) {
      isWatching = false;
      if (error.status === 401) throw error;
      if (!signal.aborted) cut(error); // it is gone
    }
  }
  drawHead();
  const views = [
    ["Records", (into, until) => records(into, state, until)],
    ["Pages", (into, until) => pages(into, id, until)],
    ["Events", (into, until) => events(into, id, until)],
    ["Files", (into, until) => files(into, id, until)],
    ["Details", (into) => put(into, details(state.run))],
  ];
  put(place, head, lost, tabs(views, signal));
  if (!OVER.includes(state.run.status)) watch();
}

function headOf({ run, progress }, again) {
  const { counts } = progress;
  const eta = progress.eta_seconds;
  return [
    h("p", { class: "crumbs" }, h("a", { href: "#/runs" }, "Runs"), " / ", short(run.id)),
    h("h1", null, address(run.target_url), " ", chip(progress.status)),
    h("div", { class: "row" }, actions(run, progress, again)),
    (progress.reason || run.error_message) && h("p", { class: "notice" }, progress.reason ?? run.error_message),
    bar(counts),
    figures([
      ["Done", number(counts.done), `of ${number(counts.total)}`],
      ["Failed", number(counts.failed)],
      ["Skipped", number(counts.skipped)],
      ["Waiting", number(counts.pending)],
      ["Records", number(progress.records)],
      ["Pages a second", progress.pages_per_second === null ? "–" : number(Number(progress.pages_per_second.toPrecision(3)))],
      OVER.includes(progress.status)
        ? ["Took", between(run.started_at, run.finished_at)]
        : ["Left", eta ? (eta.low === eta.high ? duration(eta.low) : `${duration(eta.low)} – ${duration(eta.high)}`) : "–"],
    ]),
  ];
}

function actions(run, progress, again) {
  const path = `/jobs/runs/${run.id}`;
  const act = (words, verb, options) => button(words, async () => { await tell("POST", `${path}/${verb}`); await again(); }, options);
  const shown = [];
  if (["queued", "running"].includes(progress.status)) shown.push(act("Pause", "pause"));
  if (progress.status === "paused" || run.wanted === "pause") shown.push(act("Resume", "resume", { kind: "main" }));
  if (!OVER.includes(progress.status)) {
    shown.push(act("Cancel", "cancel", { kind: "bad", sure: "What was collected is kept, and its other pages are given up." }));
    return shown;
  }
  if (progress.counts.failed > 0) shown.push(act("Try failed pages again", "retry-failed", { kind: "main" }));
  for (const format of FORMATS) shown.push(button(format.toUpperCase(), () => download(`${path}/export?format=${format}`, `run-${short(run.id)}.${format}`), { title: `Save the records as ${format}` }));
  const gone = async () => { await tell("DELETE", path); location.hash = "#/runs"; };
  shown.push(button("Delete", gone, { kind: "bad", sure: "The run goes for good, with all that it collected." }));
  return shown;
}

const records = (into, state, signal) =>
  growing(
    into,
    `/jobs/runs/${state.run.id}/records?limit=50`,
    (rows) => {
      if (!rows.length) return empty(OVER.includes(state.run.status) ? "It collected nothing." : "Nothing yet.");
      const flat = rows.map((row) => ({ ...row.fields, ...row }));
      const names = [...new Set(flat.flatMap(Object.keys))].filter((name) => name !== "url" && !TUCKED_AWAY.includes(name)).slice(0, MOST_COLUMNS);
      return [
        h("p", { class: "quiet" }, `The first ${number(rows.length)}, in their order.`),
        table(
          "What was collected",
          ["Address", ...names],
          flat.map((row, at) => [
            h("button", { type: "button", class: "link", onclick: () => overlay(address(row.url), h("pre", null, JSON.stringify(rows[at], null, 2))) }, address(row.url)),
            ...names.map((name) => h("span", { class: "cut", title: plain(row[name]) }, plain(row[name]))),
          ]),
        ),
      ];
    },
    signal,
  );

function pages(into, id, signal) {
  let life = null; // of the rows that are shown
  const rows = h("div");
  const filter = h("label", { class: "filter", onchange: (event) => show(event.target.value) }, "State", choice("status", [["", "any"], ...PAGE_STATES.map((each) => [each, each])]));
  put(into, filter, rows);
  signal.addEventListener("abort", () => life.abort());
  const explain = async (url) => {
    try {
      overlay(address(url), story(await ask(`/jobs/runs/${id}/explain${query({ url })}`)));
    } catch (error) {
      told(error);
    }
  };
  const drawn = (found) =>
    found.length
      ? table(
          "Pages, in the order in which they were found",
          ["State", "Address", "Reason", "HTTP", "Tries", "How", "Level"],
          found.map((page) => [
            chip(page.status),
            h("button", { type: "button", class: "link", title: "Tell its story", onclick: () => explain(page.url) }, address(page.url)),
            [page.reason, page.detail].filter(Boolean).join(": "),
            page.http_status ?? "–",
            number(page.attempts),
            page.strategy,
            page.depth,
          ]),
        )
      : empty("There is no such page.");
  function show(status) {
    life?.abort();
    life = new AbortController();
    return growing(rows, `/jobs/runs/${id}/pages${query({ status, limit: 100 })}`, drawn, life.signal);
  }
  return show("");
}

function story({ page, found_on, waits, attempts, fields }) {
  return [
    facts([
      ["State", [chip(page.status), " ", [page.reason, page.detail].filter(Boolean).join(": ")]],
      ["Found on", found_on && plain(found_on.url ?? found_on)],
      ["Leads to", page.final_url !== page.url && page.final_url],
      ["Waits for", waits],
      ["Next try", page.next_at && moment(page.next_at)],
    ]),
    attempts.length
      ? table(
          "What was tried",
          ["", "When", "How", "HTTP", "Took", "Size", "Came of it"],
          attempts.map((each) => [each.n, clock(each.started_at), each.strategy, each.http_status ?? "–", duration(each.elapsed_ms / 1000), bytes(each.bytes), [each.decision, each.failure, each.detail].filter(Boolean).join(": ")]),
        )
      : empty("It was not tried."),
    fields.length > 0 && table("Its fields", ["Field", "Value", "Source"], fields.map((each) => [each.name, plain(each.value), plain(each.source)])),
  ];
}

function events(into, id, signal) {
  const rows = h("tbody");
  const note = h("p", { class: "quiet" });
  put(into, note, h("div", { class: "scroll" }, h("table", null, h("caption", null, "What happened, the newest first"), rows)));
  const heard = (name, data) => {
    if (name === "end" || name === "progress") return;
    for (const event of [data].flat()) rows.prepend(eventRow(event));
    while (rows.childElementCount > MOST_EVENTS) rows.lastElementChild.remove();
    if (rows.childElementCount === MOST_EVENTS) put(note, `The newest ${MOST_EVENTS} are shown.`);
  };
  follow(`/jobs/runs/${id}/events/stream`, heard, { signal, lost: (error) => put(note, error?.message) }).catch((error) => put(note, trouble(error)));
}

/** An event as a row of a table; workflows have the same. */
export const eventRow = (event) =>
  h(
    "tr",
    { class: event.level },
    h("td", null, event.sequence),
    h("td", null, h("time", { datetime: event.created_at, title: moment(event.created_at) }, clock(event.created_at))),
    h("td", null, chip(event.level)),
    h("td", null, event.message),
    h("td", { class: "meta" }, Object.entries(event.meta).map(([name, value]) => h("span", null, `${name}: ${plain(value)}`))),
  );

async function files(into, id, signal) {
  try {
    const { rows } = await list(`/jobs/runs/${id}/artifacts`, signal);
    const path = (file) => `/jobs/runs/${id}/artifacts/${encodeURIComponent(file.id)}`;
    const look = async (file) => {
      const answer = await request("GET", path(file));
      if (file.kind !== "screenshot") return overlay(address(file.url), h("pre", null, await answer.text()));
      const source = URL.createObjectURL(await answer.blob());
      overlay(address(file.url), h("img", { src: source, alt: `Picture of ${address(file.url)}` })).addEventListener("close", () => URL.revokeObjectURL(source));
    };
    put(
      into,
      rows.length
        ? table("Pictures and HTML that were kept", ["Kind", "Page", "Size", "Kept", ""], rows.map((file) => [file.kind, address(file.url), bytes(file.bytes), moment(file.created_at), button("Look", () => look(file))]))
        : empty("No pictures and no HTML were kept. A job keeps them where its `browser` says so."),
    );
  } catch (error) {
    put(into, trouble(error));
  }
}

function details(run) {
  const { cost } = run;
  const coverage = Object.entries(run.coverage ?? {});
  return [
    facts([
      ["Run", run.id],
      ["Job", run.job_id && h("a", { href: `#/jobs/${run.job_id}` }, run.job?.name ?? short(run.job_id))],
      ["Asked for by", run.source],
      ["Priority", run.priority],
      ["Strategy", run.requested_strategy === run.resolved_strategy ? run.resolved_strategy : `${run.requested_strategy} → ${run.resolved_strategy}`],
      ["Asked for", moment(run.created_at)],
      ["Started", moment(run.started_at)],
      ["Ended", moment(run.finished_at)],
      ["Failure", [run.failure_code, run.failure_detail, run.error_message].filter(Boolean).join(": ")],
      ["Requests", number(cost.requests)],
      ["Received", bytes(cost.bytes)],
      ["Browser", cost.browser_seconds > 0 && duration(cost.browser_seconds)],
      ["Done by", Object.entries(cost.pages_by_strategy).map(([name, count]) => `${name} ${number(count)}`).join(", ")],
    ]),
    coverage.length > 0 && table("How many records have each field", ["Field", "Share", "Missing", "Did not fit"], coverage.map(([name, each]) => [name, percent(each.share), number(each.missing), number(each.unfit)])),
  ];
}
