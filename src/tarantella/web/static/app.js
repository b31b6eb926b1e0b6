// Which page is shown, and who may see it.

import { ask, hasToken, useToken } from "./ask.js";
import { h, put } from "./dom.js";
import { closeDialogs, field, form, trouble } from "./parts.js";
import * as gaps from "./gaps.js";
import * as job from "./job.js";
import * as jobs from "./jobs.js";
import * as newJob from "./new_job.js";
import * as newWorkflow from "./new_workflow.js";
import * as overview from "./overview.js";
import * as run from "./run.js";
import * as runs from "./runs.js";
import * as schedules from "./schedules.js";
import * as sites from "./sites.js";
import * as workers from "./workers.js";
import * as workflow from "./workflow.js";
import * as workflows from "./workflows.js";

// The first that fits; what stands in brackets is handed to the page.
const PAGES = [
  [/^$/, overview],
  [/^runs$/, runs],
  [/^runs\/([\w-]+)$/, run],
  [/^jobs$/, jobs],
  [/^jobs\/new$/, newJob],
  [/^jobs\/([\w-]+)$/, job],
  [/^workflows$/, workflows],
  [/^workflows\/new$/, newWorkflow],
  [/^workflows\/([\w-]+)$/, workflow],
  [/^schedules$/, schedules],
  [/^gaps$/, gaps],
  [/^sites$/, sites],
  [/^workers$/, workers],
];
const NAV = [
  ["", "Overview"],
  ["runs", "Runs"],
  ["jobs", "Jobs"],
  ["workflows", "Workflows"],
  ["schedules", "Schedules"],
  ["gaps", "Gaps"],
  ["sites", "Sites"],
  ["workers", "Workers"],
];

const main = document.getElementById("main");
const nav = document.getElementById("nav");
let life = new AbortController(); // of the page that is shown

async function show() {
  closeDialogs(); // what was said of another page
  life.abort();
  life = new AbortController();
  const { signal } = life;
  const [path, rest = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const found = PAGES.map(([pattern, page]) => [pattern.exec(path), page]).find(([match]) => match);
  draw(path);
  if (!found) {
    document.title = "Tarantella";
    put(main, h("h1", null, "There is no such page"), h("p", null, h("a", { href: "#/" }, "To the overview")));
    return;
  }
  const [[, ...names], page] = found;
  document.title = `${page.title} · Tarantella`;
  // A page draws into a place of its own: one that is late draws where nobody sees it.
  const place = h("div");
  put(main, place);
  try {
    await page.show(place, signal, ...names, new URLSearchParams(rest));
  } catch (error) {
    if (signal.aborted) return;
    if (error.status === 401) signIn(error);
    else put(place, trouble(error));
  }
}

function draw(path) {
  const links = NAV.map(([to, words]) =>
    h("a", { href: `#/${to}`, "aria-current": (to === "" ? path === "" : path.split("/")[0] === to) && "page" }, words),
  );
  const out = hasToken() && h("button", { type: "button", class: "plain", onclick: () => (useToken(null), show()) }, "Sign out");
  put(nav, links, h("a", { href: "/docs" }, "API"), out);
}

function signIn(error) {
  const wasKnown = hasToken();
  useToken(null);
  closeDialogs();
  life.abort();
  draw("sign-in");
  document.title = "Sign in · Tarantella";
  const input = h("input", { name: "token", type: "password", required: true, autocomplete: "off", spellcheck: "false" });
  const entered = async (data) => {
    useToken(data.get("token").trim());
    try {
      await ask("/system");
    } catch (refused) {
      useToken(null);
      throw refused;
    }
    await show();
  };
  put(
    main,
    h("h1", null, "Sign in"),
    wasKnown && trouble(error),
    form([field("Token", input, "`tarantella tokens create` makes one. It stays in this tab, and is forgotten with it.")], entered, "Sign in"),
  );
  input.focus();
}

async function pulse() {
  const place = document.getElementById("pulse");
  try {
    const answer = await fetch("/readyz", { credentials: "omit", signal: AbortSignal.timeout(10_000) });
    const told = await answer.json();
    place.className = `pulse ${answer.ok ? "ok" : "bad"}`;
    place.textContent = answer.ok ? "at work" : "not ready";
    place.title = told.detail ?? told.remedy ?? "";
  } catch {
    place.className = "pulse bad";
    place.textContent = "can't be reached";
  }
  setTimeout(pulse, 10_000);
}

// A 401 that comes while a page asks again is nobody's to catch.
addEventListener("unhandledrejection", (event) => {
  if (event.reason?.status === 401) {
    event.preventDefault();
    signIn(event.reason);
  }
});
addEventListener("hashchange", async () => {
  await show();
  main.focus({ preventScroll: true });
  scrollTo(0, 0);
});
// Where it leads is a place on the page, not a page.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
show();
pulse();
