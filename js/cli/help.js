// @ts-check
/** The text of `--help`: one line per command, or all that one command takes. */

import { GLOBAL_OPTIONS, OPTION_VALUES, flagOf, listValues } from "./arguments.js";

/** @import { Argument, Commands, CommandDefinition } from "./arguments.js" */

/** The widest text, in columns: nobody likes to read wider. */
const MAX_COLUMNS = 100;
const MIN_COLUMNS = 40;
/** The longest name with its description beside it; a longer one has it below. */
const MAX_NAME_COLUMNS = 36;

/** @param {{ about: string, commands: Commands, groups: Record<string, string[]> }} all */
export function mainHelp({ about, commands, groups }) {
  const grouped = Object.values(groups).flat();
  const rest = Object.keys(commands).filter((name) => !grouped.includes(name));
  const sections = Object.entries({ ...groups, Others: rest }).map(([title, names]) => {
    const rows = names.flatMap((name) => (commands[name] ? [[name, commands[name].meta.description]] : []));
    return renderSection(title, rows);
  });
  const flags = renderSection("Instead of a command", [
    ["-c, --continue", "same as resume last: continue this project's last session"],
    ["-r, --resume [X]", "same as resume [X]"],
    ["-n, --new", "same as new: start a session"],
    ["-v, --version", "print the version"],
  ]);
  const first = renderSection("First steps", [
    ["leftoff import --all", "import your agents' sessions"],
    ["leftoff list --all", "list them"],
    ["leftoff resume", "continue one of them"],
  ]);
  return `${wrapText(about, 0)}\n\nleftoff COMMAND [ARGUMENTS] [OPTIONS]\n\n${[...sections, flags, first].join("")}'leftoff COMMAND --help' describes a command. ls and rm are short for list and delete.\n`;
}

/** @param {CommandDefinition} command */
export function commandHelp({ meta: { name, description }, args, examples, settings = [] }) {
  const places = Object.entries(args).filter(([, one]) => one.type === "positional");
  const options = Object.entries(args).filter(([, one]) => one.type !== "positional");
  const own = options.filter(([option]) => !GLOBAL_OPTIONS.includes(option));
  const common = options.filter(([option]) => GLOBAL_OPTIONS.includes(option));
  const line = [
    "leftoff",
    name,
    ...places.map(([, one]) => (one.required ? one.valueHint : `[${one.valueHint}]`)),
    "[OPTIONS]",
  ].join(" ");
  const described = (/** @type {[string, Argument][]} */ some) =>
    some.map(([option, one]) => [
      `${flagOf(option, one)}${one.type === "string" ? ` ${one.valueHint}` : ""}`,
      describeArgument(one),
    ]);
  return [
    `${line}\n\n${wrapText(description, 0)}\n\n`,
    renderSection(
      "Arguments",
      places.map(([, one]) => [one.valueHint ?? "", describeArgument(one)]),
    ),
    renderSection("Options", described(own)),
    renderSection("Everywhere", described(common)),
    renderSection("Settings", settings),
    renderSection("Examples", examples),
  ].join("");
}

/** @param {Argument} argument */
function describeArgument({ description = "", values }) {
  const text = description.replace(/^--no-\w+: /, "");
  // Settings have a section of their own.
  return values && values !== OPTION_VALUES.settings ? `${text}: ${listValues(values).join(", ")}` : text;
}

/** @param {string} title @param {string[][]} rows */
function renderSection(title, rows) {
  if (rows.length === 0) return "";
  const wide = Math.min(MAX_NAME_COLUMNS, Math.max(...rows.map(([name = ""]) => name.length)));
  const lines = rows.map(([name = "", what = ""]) => {
    const beside = wrapText(what, wide + 4);
    return name.length > wide ? `  ${name}\n${" ".repeat(wide + 4)}${beside}\n` : `  ${name.padEnd(wide)}  ${beside}\n`;
  });
  return `${title}\n${lines.join("")}\n`;
}

/**
 * Wraps a text at the terminal's width, all lines but the first indented.
 * @param {string} text
 * @param {number} indent
 */
function wrapText(text, indent) {
  const columns = Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, process.stdout.columns || 80)) - indent;
  /** @type {string[]} */
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line ? `${line} ${word}` : word;
    }
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}
