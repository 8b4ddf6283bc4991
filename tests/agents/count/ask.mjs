import { zeroCounts } from "./walk.mjs";

const MARK = /^## (Question|Answer|End) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z(?: by ".*"|, stopped: ".*")?$/;

/** What stands behind an answer's end, and a line that only begins as a mark does, are notes; both are told. */
export function tally(text) {
  const lines = text
    .replace(/^\ufeff/, "")
    .replaceAll("\r\n", "\n")
    .split("\n");
  if (!/^# leftoff ask session_/.test(lines[0])) return null;
  const main = zeroCounts();
  let [bad, voice, isSaid] = [0, undefined, false];
  for (const line of lines.slice(1)) {
    const mark = MARK.exec(line)?.[1];
    if (mark) [voice, isSaid] = [{ Question: "user", Answer: "assistant", End: undefined }[mark], false];
    else if (line.trim() !== "") {
      if (!voice) {
        voice = "user";
        bad += 1;
      }
      if (/^## (Question|Answer|End) /.test(line)) bad += 1;
      if (!isSaid) main[voice] += 1;
      isSaid = true;
    }
  }
  return { main, side: zeroCounts(), types: {}, fields: {}, bad, versions: [] };
}
