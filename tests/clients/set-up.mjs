// @ts-check
/** How what leftoff installs is used in each client: what is typed, and where the model itself has to run a program. */

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../scripts/run.mjs";

/** @import { Client, Seat } from "./driving.mjs" */
/** @import { MarkedStep } from "./talk.mjs" */
/**
 * @typedef {{ prompt: string, steps: MarkedStep[], isList?: boolean, isResume?: boolean, isAgain?: boolean }}
 *   ScriptedPrompt
 */

const CLI = join(root, "js", "cli", "index.js");
const TOMORROW = [
  "--import",
  `data:text/javascript,${encodeURIComponent("const now = Date.now; Date.now = () => now() + 86_400_000;")}`,
];
const DONE = { text: "Done." };

/**
 * The files of the project's own commands.
 * @type {Record<string, (name: string, text: string) => [path: string, text: string]>}
 */
const COMMANDS = {
  "claude-code": (name, text) => [
    `.claude/commands/workspace.${name}.md`,
    `---\ndescription: think\n---\n${text}\nTopic: $ARGUMENTS\n`,
  ],
  opencode: (name, text) => [
    `.opencode/command/workspace.${name}.md`,
    `---\ndescription: think\n---\n${text}\nTopic: $ARGUMENTS\n`,
  ],
  gemini: (name, text) => [
    `.gemini/commands/workspace.${name}.toml`,
    `description = "think"\nprompt = """\n${text}\nTopic: {{args}}\n"""\n`,
  ],
  codex: (name, text) => [
    `.agents/skills/workspace-${name}/SKILL.md`,
    `---\nname: workspace-${name}\ndescription: think\n---\n${text}\n`,
  ],
};

/** @param {Client} client @param {Seat} at */
export function setUp(client, { home, project }) {
  const isCodex = client.agent === "codex";
  const type = (/** @type {string} */ name) => (isCodex ? `$workspace-${name}` : `/workspace.${name}`);
  // Codex has no commands of that kind: the model runs what the skill says.
  const runs = (/** @type {string} */ line) =>
    isCodex ? [{ calls: [client.tools.shell(`${process.execPath} ${CLI} ${line} --from codex`)] }] : [];
  return {
    resumesBy: type("resume"),
    // The agent's own title counts more than the conversation's heading; the model that is asked for it says this.
    title: client.agent === "opencode" ? "Aside." : "API Design Discussion",
    // Without them a conversation is taken in when a command is run, and by an import.
    hasHooks: client.agent !== "opencode",
    tools: [client.tools.shell("").name],
    /** @param {string} name @param {string} text */
    command(name, text) {
      const [path, file] = COMMANDS[client.agent]?.(name, text) ?? ["", ""];
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), file);
      // Of what it says, the same in every client, whatever file that lies in.
      const says = isCodex ? text : `${text}\nTopic: $ARGUMENTS`;
      return { hash: `sha256:${createHash("sha256").update(says).digest("hex")}` };
    },
    /** What it prints, a day later where that is said. @param {string[]} args */
    leftoff(...args) {
      const isTomorrow = args[0] === "tomorrow";
      const done = spawnSync(
        process.execPath,
        [...(isTomorrow ? TOMORROW : []), CLI, ...args.slice(Number(isTomorrow)), "--workspace", project],
        { encoding: "utf8", env: { PATH: process.env.PATH, HOME: home } },
      );
      if (done.status !== 0) throw new Error(`leftoff ${args.join(" ")}: ${done.stderr}`);
      return done.stdout;
    },
    /** @param {string} name @param {string} topic */
    begins: (name, topic) => `${type(name)} ${topic}`,
    /** @param {ScriptedPrompt[]} talk @returns {ScriptedPrompt[]} */
    stopped: (talk) => [...talk, { prompt: type("stop-conversation"), steps: [...runs("stop"), DONE] }],
    /** @param {string} words @param {ScriptedPrompt[]} talk @returns {ScriptedPrompt[]} */
    resumed: (words, talk) => [
      { prompt: type("resume"), isList: true, steps: [...runs("resume --print"), DONE] },
      {
        prompt: `${type("resume")} ${words}`,
        isResume: true,
        steps: [...runs(`resume --print ${words}`), { text: "It goes on." }],
      },
      ...talk,
    ],
    /**
     * The list is asked for, and answered as in a talk: the model runs what the command's text says.
     * @param {string} words
     * @param {ScriptedPrompt[]} talk
     * @returns {ScriptedPrompt[]}
     */
    answered: (words, talk) => [
      { prompt: type("resume"), isList: true, steps: [...runs("resume --print"), DONE] },
      {
        prompt: words,
        isResume: true,
        steps: [
          {
            calls: [client.tools.shell(`${process.execPath} ${CLI} resume --print --from ${client.agent} "${words}"`)],
          },
          { text: "It goes on." },
        ],
      },
      ...talk,
    ],
    /**
     * The same of one that was marked complete, which somebody resumes nevertheless.
     * @param {string} words
     * @param {ScriptedPrompt[]} talk
     * @returns {ScriptedPrompt[]}
     */
    insisted(words, talk) {
      const [list, answer] = this.answered(words, []);
      const again = {
        calls: [
          client.tools.shell(`${process.execPath} ${CLI} resume --print --from ${client.agent} "${words}" --override`),
        ],
      };
      return [
        .../** @type {ScriptedPrompt[]} */ ([list, answer]),
        { prompt: "Yes, resume it.", isAgain: true, steps: [again, { text: "It goes on." }] },
        ...talk,
      ];
    },
    /**
     * What is there without a hook: all but the command that stops it and the answer to that.
     * @template {{ user: number, assistant: number }} T @param {T} all @returns {T}
     */
    untilStop: (all) =>
      client.agent === "opencode" ? { ...all, user: all.user - 1, assistant: all.assistant - 1 } : all,
    /** As it stands in lines of JSON. @param {string[]} texts */
    quoted: (texts) => texts.map((text) => JSON.stringify(text).slice(1, -1)),
  };
}
