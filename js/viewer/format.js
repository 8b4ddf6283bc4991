// @ts-check
/** How the page writes numbers, times and names. */

import { nowMs } from "../wasm/clock.js";
import { showHidden } from "./hidden.js";

const LOCALE = "en";
const DIGIT_GROUPS = new Intl.NumberFormat(LOCALE);

/** 12,490. @param {number} count */
export const formatCount = (count) => DIGIT_GROUPS.format(count);

/** 112 k, 2.56 M: three digits. @param {number} count */
export function formatShort(count) {
  if (count < 1_000) return String(count);
  const [value, unit] = count < 999_500 ? [count / 1_000, "k"] : [count / 1_000_000, "M"];
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${Number(value.toFixed(digits))} ${unit}`;
}

/** $1.24, $0.0045: two digits at least. @param {number} dollars */
export function formatCost(dollars) {
  if (dollars >= 0.995 || dollars === 0) return `$${dollars.toFixed(2)}`;
  return `$${dollars.toFixed(Math.min(6, 1 - Math.floor(Math.log10(dollars))))}`;
}

/** 0.5 s, 21 s, 3 min, 2 h 5 min. @param {number} ms */
export function formatDuration(ms) {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return `${Math.round(hours / 24)} days`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

/** The time between two timestamps; nothing where one is missing. @param {string | undefined} from @param {string | undefined} to */
export function formatSpan(from, to) {
  const ms = Date.parse(to ?? "") - Date.parse(from ?? "");
  return ms > 0 ? formatDuration(ms) : "";
}

/** 02:52:44, where the page is read. @param {string | undefined} timestamp */
export function formatTime(timestamp) {
  const time = new Date(timestamp ?? "");
  return Number.isNaN(time.getTime()) ? "" : time.toLocaleTimeString("en-GB");
}

/** Wed 14 Oct 2026. @param {string | undefined} timestamp */
export function formatDay(timestamp) {
  const time = new Date(timestamp ?? "");
  if (Number.isNaN(time.getTime())) return "";
  const day = { weekday: "short", day: "numeric", month: "short", year: "numeric" };
  return time.toLocaleDateString("en-GB", /** @type {Intl.DateTimeFormatOptions} */ (day)).replaceAll(",", "");
}

/** 14 October; with its year where that is another one. @param {string} timestamp */
export function formatDate(timestamp) {
  const time = new Date(timestamp);
  if (Number.isNaN(time.getTime())) return "";
  const year = time.getFullYear() === new Date(nowMs()).getFullYear() ? undefined : "numeric";
  return time.toLocaleDateString("en-GB", { day: "numeric", month: "long", year });
}

/** One, or many. @param {number} count @param {string} one @param {string} [many] */
export const formatMany = (count, one, many = `${one}s`) => `${formatCount(count)} ${count === 1 ? one : many}`;

const AGENT_NAMES = new Map([
  ["claude-code", "Claude Code"],
  ["codex", "Codex"],
  ["opencode", "OpenCode"],
  ["gemini", "Gemini CLI"],
  ["copilot", "Copilot"],
  ["cline", "Cline"],
  ["qwen", "Qwen Code"],
  ["vscode", "VS Code chat"],
  ["roo", "Roo Code"],
]);

/** @param {string | undefined} agent */
export const formatAgent = (agent = "") => AGENT_NAMES.get(agent) ?? showHidden(agent);

/** "Opus 5.5" for "claude-opus-5-5-20260101"; the name itself for others. @param {string | undefined} model */
export function formatModel(model) {
  const [, family, version] = /^claude-([a-z]+)-(\d+(?:-\d{1,2})?)(?:-\d{6,})?$/.exec(model ?? "") ?? [];
  if (!family) return showHidden(model ?? "");
  return `${family[0].toUpperCase()}${family.slice(1)} ${version.replace("-", ".")}`;
}
