// Server-sent events, read with fetch: the browser's own reader can't send a token.

import { request } from "./ask.js";

const PAUSES = [500, 1_000, 2_000, 5_000]; // milliseconds before it is tried again

/** Follow a stream until it ends. `tell` gets (name, data); what was cut off goes on behind the last number seen. */
export async function follow(path, tell, { signal, lost = () => {} } = {}) {
  let last = null;
  for (let tries = 0; !signal.aborted; tries += 1) {
    try {
      const answer = await request("GET", path, { signal, headers: last === null ? {} : { "Last-Event-ID": last } });
      if (answer.status === 204) return;
      for await (const message of messages(answer.body)) {
        tries = 0;
        lost(null);
        if (message.id !== null) last = message.id;
        tell(message.name, message.data);
        if (message.name === "end") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error.status >= 400 && error.status < 500) throw error;
      lost(error);
    }
    await new Promise((go) => setTimeout(go, PAUSES[Math.min(tries, PAUSES.length - 1)]));
  }
}

async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const message = understood(part);
        if (message !== null) yield message;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function understood(text) {
  const lines = Object.fromEntries(
    text.split("\n").filter((line) => line && !line.startsWith(":")).map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  if (lines.data === undefined) return null;
  return { id: lines.id ?? null, name: lines.event ?? "message", data: JSON.parse(lines.data) };
}
