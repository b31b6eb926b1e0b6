// The HTTP API: questions, the token they are asked with, and what it answers when it refuses.

const KEPT = "tarantella.token";
// Kept for this tab alone. A cookie would be sent to every other server of this machine, whatever its port.
let token = sessionStorage.getItem(KEPT);

export function useToken(text) {
  token = text;
  if (text) sessionStorage.setItem(KEPT, text);
  else sessionStorage.removeItem(KEPT);
}

export const hasToken = () => Boolean(token);

/** What the server said instead of an answer. */
export class Problem extends Error {
  constructor(status, told) {
    super(told.detail ?? told.title ?? `The server answered ${status}.`);
    this.status = status;
    this.code = told.code ?? null;
    this.field = told.field ?? null;
    this.remedy = told.remedy ?? null;
  }
}

/** The answer to a request, or a Problem. */
export async function request(method, path, { body, headers, signal } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      signal,
      credentials: "omit",
      headers: {
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: "The server can't be reached.", remedy: "Is `tarantella serve` still running?" });
  }
  if (answer.ok) return answer;
  throw new Problem(answer.status, await answer.json().catch(() => ({})));
}

export async function ask(path, signal) {
  return (await request("GET", path, { signal })).json();
}

/** One page of a list, and the cursor of the next. */
export async function list(path, signal) {
  const answer = await request("GET", path, { signal });
  return { rows: await answer.json(), next: answer.headers.get("X-Next-Cursor") };
}

/** Ask for something to be done. */
export async function tell(method, path, body) {
  const answer = await request(method, path, { body });
  return answer.status === 204 ? null : answer.json();
}

/** Save an answer as a file. */
export async function download(path, name) {
  const answer = await request("GET", path);
  const address = URL.createObjectURL(await answer.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** `?a=1&b=2` of what is given; what is empty is left away. */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}
