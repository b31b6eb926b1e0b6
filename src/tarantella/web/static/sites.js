// Hosts: how they fare, and what they may be asked.

import { ask, tell } from "./ask.js";
import { h, put } from "./dom.js";
import { redraw, repeat } from "./live.js";
import { button, chip, empty, facts, field, form, overlay, table } from "./parts.js";
import { distance, moment, number, percent, plain } from "./words.js";

export const title = "Sites";

export async function show(place, signal, wanted) {
  const rows = h("div");
  put(place, h("h1", null, "Sites"), rows);
  const look = () => ask("/sites?limit=1000", signal);
  const again = async () => redraw(rows, siteTable(await look(), again));
  await repeat(2, rows, look, (sites) => siteTable(sites, again), signal);
  if (wanted.get("host")) open(await ask(`/sites/${encodeURIComponent(wanted.get("host"))}`, signal), again);
}

function siteTable(sites, again) {
  const turn = async (site) => {
    await tell("PATCH", `/sites/${encodeURIComponent(site.host)}`, { paused: !site.policy.paused });
    await again();
  };
  const reset = async (site) => {
    await tell("POST", `/sites/${encodeURIComponent(site.host)}/reset-breaker`);
    await again();
  };
  return sites.length
    ? table(
        "Hosts that were asked, and those that have a policy",
        ["Health", "Host", "Requests", "Failed lately", "At once", "Usual answer", "How", "Breaker", ""],
        sites.map((site) => [
          chip(site.health),
          h("button", { type: "button", class: "link", onclick: () => open(site, again) }, site.host),
          number(site.errors.requests),
          site.errors.requests ? percent(site.errors.recent_rate) : "–",
          `${Math.floor(site.throttle.slots)} of ${site.throttle.limit}`,
          site.throttle.usual_ms === null ? "–" : `${Math.round(site.throttle.usual_ms)} ms`,
          site.strategy ?? "–",
          [chip(site.breaker.state), site.breaker.open_until && ` for ${distance(site.breaker.open_until).replace(/^in /, "")}`],
          h("span", { class: "row" }, button(site.policy.paused ? "Resume" : "Pause", () => turn(site)), site.breaker.state !== "closed" && button("Reset", () => reset(site))),
        ]),
      )
    : empty("No site has been asked for anything yet.");
}

function open(site, again) {
  const { policy, errors, learned } = site;
  const numberOf = (text) => (text.trim() === "" ? null : Number(text));
  const input = (name, step) => h("input", { name, type: "number", min: 0, step, value: policy[name] ?? "", placeholder: "as the runs say" });
  const sent = async (data) => {
    await tell("PATCH", `/sites/${encodeURIComponent(site.host)}`, { per_host: numberOf(data.get("per_host")), delay: numberOf(data.get("delay")), max_rate: numberOf(data.get("max_rate")), obey_robots: Boolean(data.get("obey_robots")) });
    dialog.close();
    await again();
  };
  const dialog = overlay(
    site.host,
    facts([
      ["Health", chip(site.health)],
      ["Requests", `${number(errors.requests)}, ${number(errors.failures)} failed`],
      ["Failed with", Object.entries(errors.by_code).map(([code, count]) => `${code} ${count}`).join(", ")],
      ["Last answer", moment(errors.last_ok_at)],
      ["Last failure", moment(errors.last_failed_at)],
      ["Waits until", moment(site.throttle.waits_until)],
      ["Learned", learned && `${learned.strategy}: ${plain(learned.why)}`],
      ["Waiting runs", number(site.waiting_runs)],
    ]),
    h("h3", null, "Policy"),
    h("p", { class: "quiet" }, "It can only be stricter than the runs are: of several limits the strictest counts."),
    form(
      [
        h("div", { class: "columns" }, field("Requests at once", input("per_host", 1)), field("Seconds between two", input("delay", "any")), field("Requests a second", input("max_rate", "any"))),
        h("label", { class: "check" }, h("input", { type: "checkbox", name: "obey_robots", checked: policy.obey_robots }), " robots.txt is obeyed, whatever a run says"),
      ],
      sent,
      "Save",
    ),
  );
}
