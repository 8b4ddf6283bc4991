import { zeroCounts } from "./walk.mjs";

const KINDS = [
  ["header", /^# aider chat started at /],
  ["user", /^####($| .*  $|\s+$)/],
  ["toolResults", /^>($| .*  $|\s+$)/],
  ["blank", /^\s*$/],
];

export function tally(text) {
  if (!/^# aider chat started at /m.test(text)) return null;
  const [main, side, types] = [zeroCounts(), zeroCounts(), {}];
  const empty = { section: 0 };
  let section = zeroCounts(),
    last = "header",
    isSaid = false;
  const close = () => {
    if (section.user + section.assistant > 0) for (const key of Object.keys(main)) main[key] += section[key];
    else if (section.toolResults > 0) empty.section += 1;
    section = zeroCounts();
  };
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    let [kind] = KINDS.find(([, form]) => form.test(line)) ?? ["assistant"];
    if (kind === "assistant" && last === "user" && line.startsWith("#### ")) kind = "user";
    if (kind === "assistant" && last === "toolResults" && line.startsWith("> ")) kind = "toolResults";
    if (kind === "blank") continue;
    if (kind === "header") close();
    else {
      const says = line.replace(kind === "user" ? /^####/ : kind === "toolResults" ? /^>/ : "", "").trim() !== "";
      if (kind !== last) isSaid = false;
      if (says && !isSaid) {
        section[kind] += 1;
        isSaid = true;
      }
    }
    last = kind;
  }
  close();
  if (empty.section > 0) types.section = empty.section;
  return { main, side, types, fields: {}, bad: 0, versions: [] };
}
