// @ts-check
/**
 * Completion in shells. A shell's script asks leftoff what may come next, in 0.3 seconds: so completion fits the
 * installed version, where a list of commands in three scripts would be a second one. Sessions come from the session
 * index as it is.
 */

import { parseArgs } from "citty";

import { unlessBug } from "../error.js";
import { openStore } from "../index.js";
import { flagOf, listValues } from "./arguments.js";
import { FLAGS } from "./main.js";

/** @import { Argument, Commands, CommandDefinition } from "./arguments.js" */
/** @typedef {Record<string, any>} Args */
/** @typedef {[value: string, what: string]} Candidate; `:files` and `:folders` are for the shell to find */

/** The most sessions offered: nobody looks over more. */
const MAX_SESSIONS = 50;
/** Words that a shell takes as they are. */
const PLAIN_WORD = /^[\w./-]+$/;
const VALUE_KINDS = /** @type {Record<string, string>} */ ({
  FILE: ":files",
  PATH: ":files",
  DIR: ":folders",
  OLD: ":folders",
  NEW: ":folders",
});

const SHELL_SCRIPTS = {
  bash: `# leftoff completions bash, for ~/.bashrc: source <(leftoff completions bash)
_leftoff() {
  local value what
  COMPREPLY=()
  while IFS=$'\\t' read -r value what; do
    case $value in
      :files) compopt -o default ;;
      :folders) compopt -o dirnames ;;
      *) COMPREPLY+=("$value") ;;
    esac
  done < <(leftoff completions bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _leftoff leftoff
`,
  zsh: `#compdef leftoff
# leftoff completions zsh, for ~/.zshrc after compinit: source <(leftoff completions zsh)
_leftoff() {
  local line
  local -a found
  for line in "\${(@f)$(leftoff completions zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) _files; return ;;
      :folders) _files -/; return ;;
      *) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  _describe -V leftoff found
}
if [ "$funcstack[1]" = "_leftoff" ]; then
  _leftoff "$@"
else
  compdef _leftoff leftoff
fi
`,
  fish: `# leftoff completions fish > ~/.config/fish/completions/leftoff.fish
function __leftoff_next
  set -l words (commandline -opc)
  set -e words[1]
  set -l current (commandline -ct)
  for line in (leftoff completions fish -- $words "$current" 2>/dev/null)
    switch $line
      case ':files'
        __fish_complete_path "$current"
      case ':folders'
        __fish_complete_directories "$current"
      case '*'
        echo $line
    end
  end
end
complete -c leftoff -f -k -a '(__leftoff_next)'
`,
};

const COMMA_FUNCTION = `# ", and who calls it" is short for "leftoff ask --resume and who calls it"
,() { leftoff ask --resume "$@"; }
`;
/** The short command `,`, printed only on request: it takes a name of the shell's. */
const COMMA_FUNCTIONS = {
  bash: COMMA_FUNCTION,
  zsh: COMMA_FUNCTION,
  fish: `# ", and who calls it" is short for "leftoff ask --resume and who calls it"\nabbr --add , leftoff ask --resume\n`,
};

/** @param {Args} args @param {Commands} commands */
export async function completions(args, commands) {
  const [shell, ...words] = args._;
  if (words.length === 0) {
    const name = /** @type {keyof typeof SHELL_SCRIPTS} */ (shell);
    const script = `${SHELL_SCRIPTS[name]}${args.comma ? COMMA_FUNCTIONS[name] : ""}`;
    return { text: script, value: script };
  }
  const value = await completeWord(words, commands);
  return { text: value.map(([word, what]) => `${word}\t${what.replace(/\s+/g, " ")}\n`).join(""), value };
}

/**
 * Finds candidates for the last word.
 * @param {string[]} typed
 * @param {Commands} commands
 * @returns {Promise<Candidate[]>}
 */
async function completeWord(typed, commands) {
  // bash takes --flag=value apart.
  const words = typed
    .filter((word, at) => word !== "=" || at === typed.length - 1)
    .map((word) => (word === "=" ? "" : word));
  const last = words.at(-1) ?? "";
  const [first = "", ...before] = words.slice(0, -1);
  if (words.length === 1) return filterByPrefix(last, commandCandidates(commands));
  const [name = "", ...given] = Object.hasOwn(FLAGS, first) ? (FLAGS[first] ?? []) : [first];
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return command ? completeArguments(command, { before: [...given, ...before], last }) : [];
}

/** @param {Commands} commands @returns {Candidate[]} */
function commandCandidates(commands) {
  const flags = Object.entries(FLAGS).map(([flag, stands]) => /** @type {Candidate} */ ([flag, stands.join(" ")]));
  return [
    ...Object.values(commands).map(({ meta }) => /** @type {Candidate} */ ([meta.name, meta.description])),
    ...flags,
    ["--help", "list the commands"],
    ["--version", "print the version"],
  ];
}

/**
 * @param {CommandDefinition} command
 * @param {{ before: string[], last: string }} typed
 * @returns {Promise<Candidate[]>}
 */
async function completeArguments(command, { before, last }) {
  const { args } = command;
  const places = Object.values(args).filter(({ type }) => type === "positional");
  const option = (/** @type {string} */ word) =>
    word.startsWith("--") && args[word.slice(2)]?.type === "string" ? args[word.slice(2)] : undefined;
  /** @type {Argument | undefined} */
  let wanted;
  let [place, isOver] = [0, false];
  for (const word of before) {
    const isValue = wanted !== undefined;
    wanted = isValue || isOver ? undefined : option(word);
    if (!isValue && (isOver || !word.startsWith("-"))) place += 1;
    if (!isValue && word === "--") isOver = true;
  }
  if (wanted) return filterByPrefix(last, await argumentCandidates(wanted, command, before));
  const [, name, value = ""] = (!isOver && last.match(/^(--[\w-]+)=(.*)$/s)) || [];
  const assigned = name && option(name);
  if (assigned)
    return filterByPrefix(value, await argumentCandidates(assigned, command, before)).map(([word, what]) => [
      word.startsWith(":") ? word : `${name}=${word}`,
      what,
    ]);
  if (last.startsWith("-") && !isOver) return filterByPrefix(last, flagCandidates(args));
  const many = places.at(-1)?.valueHint?.endsWith("...") ? places.at(-1) : undefined;
  const argument = places[place] ?? many;
  return argument ? filterByPrefix(last, await argumentCandidates(argument, command, before)) : [];
}

/** @param {CommandDefinition["args"]} args @returns {Candidate[]} */
function flagCandidates(args) {
  const own = Object.entries(args).filter(([, { type }]) => type !== "positional");
  return [
    ...own.map(([name, argument]) => /** @type {Candidate} */ ([flagOf(name, argument), argument.description])),
    ["--help", "describe the command"],
  ];
}

/**
 * @param {Argument} argument
 * @param {CommandDefinition} command
 * @param {string[]} before
 * @returns {Promise<Candidate[]>}
 */
async function argumentCandidates({ values, valueHint = "" }, command, before) {
  if (values) return listValues(values).map((value) => [value, ""]);
  const kind = valueHint.replace("...", "");
  if (kind === "SESSION") return sessionCandidates(command, before);
  return VALUE_KINDS[kind] ? [[VALUE_KINDS[kind], ""]] : [];
}

/**
 * Sessions from the session index as it is: a key press must not wait, nor change anything.
 * @param {CommandDefinition} command
 * @param {string[]} before
 * @returns {Promise<Candidate[]>}
 */
async function sessionCandidates({ args, meta }, before) {
  /** @type {Args} */
  let typed = {};
  try {
    // Arguments still missing are no error while typing.
    typed = parseArgs(before, Object.fromEntries(Object.entries(args).filter(([, { type }]) => type !== "positional")));
    const store = await openStore({ home: typed.home, project: typed.workspace, redact: typed.redact });
    try {
      if (meta.name === "trash")
        return before.includes("restore")
          ? (await store.redacted(await store.trashed())).value.map(({ id, title }) => [id, title])
          : [];
      const isHidden = meta.name === "unarchive";
      const { value } = await store.redacted(
        await store.list({ all: typed.all, archived: isHidden, verify: false, limit: MAX_SESSIONS }),
      );
      const named = value.flatMap(({ id, name = "", title }) => [
        .../** @type {Candidate[]} */ ([[id, title]]),
        .../** @type {Candidate[]} */ (PLAIN_WORD.test(name) ? [[name, title]] : []),
      ]);
      return named.length > 0 && !isHidden ? [["last", "the current session"], ...named] : named;
    } finally {
      await store.close();
    }
  } catch (error) {
    unlessBug(error);
    return [];
  }
}

/** @param {string} word @param {Candidate[]} all */
function filterByPrefix(word, all) {
  return all.filter(([value]) => value.startsWith(":") || value.startsWith(word));
}
