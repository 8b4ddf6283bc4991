// @ts-check
/** What a file that no importer knows seems to be, by its first bytes, and what can be done with it. */

/** How many of its first bytes are shown. */
const SHOWN_BYTES = 24;
const SESSION_ADVICE = "What can be opened are the session files of agents, and what 'leftoff export' writes.";
const UNPACK = "Unpack it first.";

/** Beginnings that name a format, each byte a character. @type {[start: string, kind: string, advice: string][]} */
const BEGINNINGS = [
  ["\x89PNG", "a PNG image", SESSION_ADVICE],
  ["\xff\xd8\xff", "a JPEG image", SESSION_ADVICE],
  ["GIF8", "a GIF image", SESSION_ADVICE],
  ["%PDF", "a PDF document", SESSION_ADVICE],
  ["PK\x03\x04", "a ZIP archive", UNPACK],
  ["\x1f\x8b", "compressed by gzip", UNPACK],
  ["SQLite format 3\0", "an SQLite database", "'leftoff import FILE', in a terminal, reads the databases of agents."],
  ["<", "a page of HTML or XML", SESSION_ADVICE],
  ["{", "JSON", SESSION_ADVICE],
  ["[", "JSON", SESSION_ADVICE],
];

/**
 * @param {Uint8Array} bytes the whole file, or its beginning
 * @returns {{ kind: string, advice: string, beginning: string }} `beginning`: the first bytes, as text or as hex
 */
export function describeFile(bytes) {
  const first = bytes.subarray(0, SHOWN_BYTES);
  const raw = String.fromCharCode(...first);
  const isText = !/[^\t\n\r\x20-\x7e\x80-\xff]/.test(raw) && isUtf8(bytes.subarray(0, 1_024));
  const [, kind = isText ? "text" : "no text", advice = SESSION_ADVICE] =
    BEGINNINGS.find(([start]) => raw.trimStart().startsWith(start)) ?? [];
  const hex = [...first].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return { kind: first.length === 0 ? "empty" : kind, advice, beginning: isText ? raw.trim() : hex };
}

/** Whether the beginning of a text is UTF-8; its last character may be cut. @param {Uint8Array} bytes */
function isUtf8(bytes) {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
