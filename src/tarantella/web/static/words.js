// Numbers, times and names as people read them.

const NUMBER = new Intl.NumberFormat("en");

export const number = (value) => (value === null || value === undefined ? "–" : NUMBER.format(value));

export const percent = (share, digits = 0) => (share === null || share === undefined ? "–" : `${(share * 100).toFixed(digits)} %`);

export function bytes(value) {
  if (value === null || value === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

/** Between two times as the API tells them; until now, if the second is missing. */
export function between(from, to) {
  if (!from) return "–";
  return duration(Math.max(0, (to ? Date.parse(to) : Date.now()) - Date.parse(from)) / 1000);
}

/** How long ago, or how long until then. */
export function distance(time) {
  if (!time) return "–";
  const seconds = (Date.now() - Date.parse(time)) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  const words = duration(Math.floor(Math.abs(seconds))).replace(/ \d+ (s|min|h)$/, "");
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

export const clock = (time) => (time ? new Date(time).toLocaleTimeString("en-GB") : "–");

export const moment = (time) => (time ? new Date(time).toLocaleString("sv-SE") : "");

export const short = (id) => id?.slice(-12) ?? "–";

/** An address without what all of them have. */
export const address = (url) => url?.replace(/^https?:\/\//, "").replace(/\/$/, "") ?? "–";

export const plain = (value) =>
  value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
