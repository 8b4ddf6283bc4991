// @ts-check
/** The slash commands about sessions, typed in an agent's client. */

import { LeftoffError } from "../index.js";
import { compact, context } from "./commands.js";
import { exportSession } from "./export.js";
import { listSessions } from "./find.js";
import { linger, readTypedWords } from "./in-agent.js";
import { info } from "./info.js";
import { archive } from "./lifecycle.js";

/** @typedef {Record<string, any>} Args */

/** @type {Record<string, { takes: string, run: (args: Args, words: string[]) => Promise<any> | undefined }>} */
const SLASH_COMMANDS = {
  sessions: {
    takes: "nothing, or all",
    run: (args, [first]) =>
      first === undefined || first === "all" ? listSessions({ ...args, all: first === "all" }) : undefined,
  },
  session: {
    takes: "info, export [file] or archive",
    run: (args, [first = "info", ...rest]) => {
      if (first === "export") return exportSession({ ...args, to: "markdown", output: rest.join(" ") || undefined });
      if (first === "info") return info(args);
      return first === "archive" ? archive(args) : undefined;
    },
  },
  compact: {
    takes: "nothing, or --apply",
    run: (args, [first]) =>
      first === undefined || first === "--apply"
        ? compact({ ...args, apply: args.apply || first === "--apply" })
        : undefined,
  },
  debug: {
    takes: "nothing, context or full",
    run: (args, words) =>
      ["", "context", "full", "context full"].includes(words.join(" "))
        ? context({ ...args, last: true, full: words.includes("full") })
        : undefined,
  },
};

/** @param {Args} args */
export async function runSlashCommand(args) {
  const [name = "", ...rest] = args._;
  const command = Object.hasOwn(SLASH_COMMANDS, name) ? SLASH_COMMANDS[name] : undefined;
  if (!command)
    throw new LeftoffError({
      code: "usage",
      message: `unknown command "${name}": expected ${Object.keys(SLASH_COMMANDS).join(", ")}`,
    });
  const words = (await readTypedWords(rest)).split(/\s+/).filter(Boolean);
  const answer = await command.run({ ...args, _: [] }, words);
  if (answer) {
    linger(args.from, answer.text);
    return answer;
  }
  throw new LeftoffError({ code: "usage", message: `${name} takes ${command.takes}, not "${words.join(" ")}"` });
}
