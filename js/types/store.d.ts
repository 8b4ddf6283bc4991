/** The types for stores: options, lists, searches, reports and settings. */

import type { Agent, Problem } from "../records.js";
import type { Storage } from "../storage/contract.js";
import type { Embed } from "./context.js";
import type { Holder } from "./session.js";

/** Where a session lies: in the home folder, or in a workspace beside its conversation's Markdown. */
export type Placement = "home" | "workspace";

/** The options of `openStore`. */
export interface StoreOptions {
  /** The project's folder; the process's working folder unless given. */
  project?: string;
  /** The store's folder; `$LEFTOFF_HOME`, else `~/.leftoff`. */
  home?: string;
  /** The folder that has `conversations/`. New sessions begin there where it is given; else the project's is read. */
  workspace?: string;
  /**
   * The storage; the disk unless given, in a page memory. With one of your own, paths are its own, and git is not
   * asked.
   */
  storage?: Storage;
  /**
   * Whether messages are counted when they are appended, which saves counting them in each context; true unless given.
   */
  countTokens?: boolean;
  /**
   * The idle time, in milliseconds, after which whoever looks next pauses a session; the setting `idleMinutes` unless
   * given.
   */
  idleMs?: number;
  /** How secrets in outgoing text are treated; the setting `redact` unless given. */
  redact?: Redact;
  /** Changes nothing: writing calls are refused with `read_only`; indexes and checkpoints are not written. */
  readOnly?: boolean;
}

/** The options of `Store.create`. */
export interface CreateOptions {
  /** What sort of conversation it is: `chat` unless given, `brainstorm` and so on. */
  type?: string;
  title?: string;
  /** The name of the conversation in the workspace; one is made unless given. */
  name?: string;
  /** The workspace where the store has one, else the home. */
  placement?: Placement;
  /** The model that answers, as `gpt-5` or `anthropic/claude-opus-5`. */
  model?: string;
  /** The agent: command, tools, provider. */
  agent?: Agent;
  /**
   * The agent's session that is recorded: beside it only `title` and `model` can be given. `agent`: an agent's name, or
   * a program's of its own, of small letters, digits and hyphens, as `my-app`; `id`: any text by which the agent knows
   * it; `parent`: the id of the one whose agent began it, for a sub-agent's.
   */
  source?: { agent: string; id: string; parent?: string };
}

/** A session's last status; one that cannot be opened is `unreadable`. */
export type SessionStatus = "active" | "paused" | "completed" | "unreadable";

/** The options of `Store.list`. */
export interface ListOptions {
  /** Of all projects. */
  all?: boolean;
  /** Only those of this type, or null for all; without it all but sub-agents' are listed. */
  type?: string | null;
  status?: SessionStatus | "archived";
  /** Those that are archived; or null for both. */
  archived?: boolean | null;
  /** Only those that were imported from this agent. */
  agent?: string;
  /** Only those of this project: its folder, or the name of that. */
  folder?: string;
  /** Only those that were active then or later. */
  since?: Date;
  /** Only those that were active then or before. */
  until?: Date;
  /**
   * The order: `active`, the last active one first, unless given. Titles, agents and projects sort thus: what is
   * neither letter nor digit, then numbers by their value, then letters, whatever their case.
   */
  sort?: "active" | "created" | "title" | "messages" | "agent" | "project";
  /** At most so many. */
  limit?: number;
  /** Checks the index against the files; true unless given. */
  verify?: boolean;
}

/** The provider of the model. */
export interface ModelProvider {
  type: string;
  model: string;
  /** In tokens; 0 where nobody said. */
  contextWindow: number;
  baseUrl?: string;
}

/** A session as lists show it. */
export interface Listed {
  id: string;
  type: string;
  title: string;
  status: SessionStatus;
  /** RFC 3339. */
  lastActive: string;
  summary: string | null;
  messageCount: number;
  placement: Placement;
  /** Its folder. */
  path: string;
  /** Its name in its workspace. */
  name?: string;
  /** The agent that it was imported from. */
  agent?: string;
  /** Since when lists hide it, RFC 3339. */
  archivedAt?: string;
  /** The folder it belongs to. */
  project?: string;
  projectHash: string;
  /** RFC 3339. */
  createdAt: string;
  totalTokens: number;
  provider: ModelProvider;
}

/** The options of `Store.search`, beside those of `Store.list`: `limit` is how many sessions are given at most. */
export interface SearchOptions extends Omit<ListOptions, "sort"> {
  /** Only what this role said. */
  role?: "user" | "assistant" | "tool";
  /** The question is a regular expression, as Rust's `regex` reads them; all that was said is read for it. */
  regex?: boolean;
  /** Numbers the found messages: `number` in `Found`. Reads the whole log of each session with hits. */
  numbers?: boolean;
  /** Instead of words: the sessions that read or changed this file, a path or the end of one. */
  file?: string;
  /** Those that ran a command with these words. */
  command?: string;
  /** Those that met this error, whatever its numbers and paths. */
  error?: string;
  /**
   * Makes vectors of texts, by which the best 24 sessions and their messages are ordered, joined with their order by
   * words. Its errors are the search's.
   */
  embed?: Embed;
}

/** The options of `Session.search`. */
export interface SessionSearchOptions extends Pick<
  SearchOptions,
  "role" | "since" | "until" | "regex" | "numbers" | "embed"
> {
  /** The most messages returned; 20 unless given. */
  limit?: number;
}

/** A search hit: a message, or a session by its title. */
export interface Found {
  session: Listed;
  /** The message's id; absent where the title or the summary has the words. */
  id?: string;
  role?: string;
  /** RFC 3339. */
  timestamp?: string;
  /** The excerpt, piece by piece, from where most of the words stand together on. */
  excerpt: { text: string; isHit: boolean }[];
  /**
   * How it was found: by the title or the summary; it has all words, or some; words that begin so, or are spelled
   * alike, where nobody said what was asked; the messages around it have them; it has exactly what is in quotes, or
   * what the regular expression matches. Or by what was asked instead.
   */
  found: "title" | "all" | "some" | "prefix" | "spelling" | "near" | "exact" | "file" | "command" | "error";
  /** Which words of the question it has. */
  words: string[];
  /** For words of the question that nobody said: those spelled alike that stand there. */
  instead?: { word: string; found: string }[];
  /** Which words of the question it lacks, if any. */
  missing?: string[];
  /**
   * Which words of the question occur nowhere: in no message that was searched, and in no title. The same in each hit.
   */
  nowhere?: string[];
  /** With `numbers`: which message of the session it is, counted from 1 as `Session.messages` yields them. */
  number?: number;
  /** Of a file: whether it was changed there. */
  isChanged?: boolean;
  /** The command that ran. */
  command?: string;
  /** How it ended, where that is known. */
  exitCode?: number;
  /** What ran without the error afterwards. */
  after?: { id: string; command: string; exitCode?: number };
}

/** The options of `Store.recall`. */
export interface RecallOptions {
  /** The block's most tokens; 800 unless given. */
  maxTokens?: number;
  /** The block's most bytes. */
  maxBytes?: number;
  /** Of the project of this folder, or of a folder of this name, instead of the store's own. */
  project?: string;
  /** Of all projects. */
  all?: boolean;
  /** The ids of sessions and messages that are not quoted: the current session, and what was quoted already. */
  exclude?: string[];
  /** The encoding that counts; the model's unless given, else `o200k_base`. */
  encoding?: string;
  model?: string;
  /**
   * Makes vectors of texts, by which quotes are chosen, joined with the order by words. If it fails, the order by words
   * stays.
   */
  embed?: Embed;
}

/** The result of `Store.recall`. */
export interface Recalled {
  /** The block, as a model may read it; empty where nothing matches. */
  text: string;
  /** The block's tokens. */
  tokens: number;
  encoding: string;
  /** The words of the question that matched. */
  words: string[];
  /** The quotes' sources, in the order of the block. */
  sources: RecalledSource[];
  /** Why quotes were chosen by words alone, where you gave `embed`. */
  embedRefused?: string;
}

/** A session that is quoted. */
export interface RecalledSource {
  /** Its id. */
  session: string;
  title: string;
  agent?: string;
  /** When the newest of what is quoted was said, RFC 3339. */
  timestamp: string;
  /** The ids of the messages. */
  messages: string[];
}

/** The options of `Store.usage`. */
export interface UsageOptions {
  /** What calls are summed by, one or several; all together unless given. */
  by?: ("day" | "session" | "project" | "agent" | "model")[];
  /** Calls of all projects. */
  all?: boolean;
  /** Calls of sessions of this folder, as in `ListOptions`. */
  folder?: string;
  /** Calls of the session with this id; with `all` of any project. */
  session?: string;
  /** Calls of this agent. */
  agent?: string;
  /** Calls since then. */
  since?: Date;
  /** Calls until then. */
  until?: Date;
}

/** What calls took. Of the first five, those that were asked for are there. */
export interface UsageRow {
  /** The local day, `2026-11-20`; empty where a call has no time. */
  day?: string;
  session?: Listed;
  /** The project's folder. */
  project?: string;
  /** Who made the calls; empty where that is not stored. */
  agent?: string;
  /** The model that answered; empty where that is not stored. */
  model?: string;
  calls: number;
  /**
   * Tokens, as the providers counted them: `input` is neither read from a cache nor written to one; `cacheWriteHour` are
   * those of `cacheWrite` that stay for an hour.
   */
  usage: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    cacheWriteHour?: number;
    reasoning: number;
  };
  /** US dollars, of the calls with a price; absent where none has one. */
  cost?: number;
  /** How many calls have no price, since the list lacks their model. */
  unpriced: number;
}

/** The result of `Store.usage`. */
export interface UsageReport {
  rows: UsageRow[];
  total: UsageRow;
  /** The day of the list of prices. */
  listedOn: string;
  /** The models without a price. */
  unpriced: string[];
}

/** A message that has all words of a search. */
export interface Hit {
  id: string;
  role?: string;
  /** RFC 3339. */
  timestamp?: string;
  /** The text around the first word, piece by piece. */
  excerpt: { text: string; isHit: boolean }[];
}

/** The options of `Store.doctor`. */
export interface DoctorOptions {
  /** One session alone, as `Store.session` takes it. */
  id?: string;
  /** Mends what can be mended. */
  fix?: boolean;
  /** Also looks for secrets in the files. */
  secrets?: boolean;
  /** Called before each session is examined. */
  onProgress?: (progress: DoctorProgress) => void;
}

/** How far `Store.doctor` has come. */
export interface DoctorProgress {
  /** The folder of the session that is examined next. */
  path: string;
  /** How many sessions came before it. */
  done: number;
  total: number;
}

/** The health of a session's files. */
export type Health = "ok" | "damaged" | "unreadable";

/** A problem in a file of a session, or of the store. */
export type FileProblem = Omit<Problem, "code"> & {
  /** A code of the log's reader, of the store's own files, or an error's. */
  code: string;
  file: string;
};

/** All that is wrong with a session. */
export interface Examined {
  health: Health;
  problems: FileProblem[];
}

/** Doctor's report on a session, or, with the id `store`, on the store itself. */
export interface DoctorReport {
  id: string;
  path: string;
  health: Health;
  /** Those that are still there. */
  problems: FileProblem[];
  /** What was done. */
  fixed: string[];
}

/** All there is to know of a session; unknown fields are null. */
export interface SessionInfo extends Examined {
  id: string;
  /** Its name in its workspace. */
  name: string | null;
  title: string;
  /** What sort of conversation it is. */
  type: string;
  status: Exclude<SessionStatus, "unreadable">;
  /** RFC 3339, as all times here. */
  archivedAt: string | null;
  summary: string | null;
  /** Empty where nobody knows. */
  createdAt: string;
  /** When something was said last; when it began, where nothing was. */
  lastActive: string;
  /** The folder that it belongs to. */
  project: string | null;
  placement: Placement;
  path: string;
  agent: {
    command: string | null;
    model: string | null;
    provider: string | null;
    /** In tokens. */
    contextWindow: number | null;
    tools: string[];
  };
  /** Where it was imported from: the agent, and the id that it has there. */
  source: { agent: string; id: string } | null;
  totalTokens: number;
  toolExecutions: number;
  /** Of all branches, as `roles` is. */
  messageCount: number;
  /** How many messages are whose; `other`: of a role that leftoff does not know. */
  roles: { system: number; user: number; assistant: number; tool: number; other?: number };
  /** How many messages begin a branch. */
  branches: number;
  /** The ids of messages that are in every context. */
  pins: string[];
  /** The session that it began as a copy of, up to that message. */
  forkedFrom: { session: string; messageId: string } | null;
  /** The session that called it, as a sub-agent's; and by which call, where that is known. */
  parent: { session: string; callId?: string } | null;
  /** The ids of the project's sessions that began as a copy of it. */
  forks: string[];
  /** The ids of the project's sessions that it called. */
  subagents: string[];
  /** What lies in its folder; `count`: of a folder, how many files are in it. */
  files: { file: string; bytes: number; count?: number }[];
  /** Which other processes have it open. */
  openIn: Pick<Holder, "program" | "pid" | "host" | "since">[];
}

/** What a hook tells a model at a turn. */
export interface ToldAtTurn {
  /**
   * Quotes from other sessions on the prompt, as a fenced block of at most 1,500 bytes; empty where nothing matches.
   */
  recalled: string;
  /** Whether the user seems to stop; nothing is changed by that. */
  wantsStop: boolean;
  /** Whether to offer a save. */
  offersSave: boolean;
}

/** A session in the trash. */
export interface Trashed {
  id: string;
  title: string;
  /** When, RFC 3339. */
  deleted: string;
  /** Where it lies now. */
  path: string;
  placement: Placement;
  /** The folder that it was in; null where nobody knows. */
  from: string | null;
}

/** A commit of a conversation. */
export interface Committed {
  /** Its hash; null where nothing has changed. */
  commit: string | null;
  /** Empty where nothing has changed. */
  message: string;
  /** Whether nothing but `.session` has changed. */
  isSessionOnly: boolean;
  /** What has changed, from the folder on, with `/`. */
  files: string[];
}

/** How secrets in outgoing text are treated: let through, reported, or replaced by placeholders. */
export type Redact = "off" | "report" | "replace";

/** A secret that was found; the placeholder names it without telling it. */
export interface Secret {
  rule: string;
  placeholder: string;
  count: number;
}

/** The effective settings of a store. */
export interface Settings {
  autoPersist: AutoPersistConfig;
  /** The idle time after which whoever looks next pauses a session. */
  idleMinutes: number;
  /** The agent that resumes a session whose own agent is not installed; none where it is empty. */
  agent: string;
  /** Whether conversations in agents are recorded, where `leftoff init` has put hooks. */
  record: boolean;
  /**
   * Whether these hooks put into a prompt what other sessions say to it: never, into a session's first one, or into
   * each.
   */
  recall: "off" | "session" | "prompt";
  redact: Redact;
  ask: {
    /**
     * Who answers `leftoff ask`: a name that is known, or a command; the first known one that is installed where it is
     * empty.
     */
    engine: string;
    /** The file with its instructions, from the home folder on; leftoff's own where it is empty. */
    prompt: string;
  };
  outputs: {
    /** From so many bytes on, as JSON, a tool's output is a file. */
    memoryBytes: number;
  };
}

/** When `AutoPersist` saves, and what it archives. */
export interface AutoPersistConfig {
  enabled: boolean;
  saveAfterAssistantMessage: boolean;
  saveAfterToolExecution: boolean;
  /** Saves that come faster become one. */
  debounceMs: number;
  /** How often the document is written while something changes. */
  updateMetadataIntervalMs: number;
  /** More are archived, the longest inactive first; never deleted. */
  maxSessionsPerProject: number;
  /** Inactive for longer: archived; never deleted. */
  autoArchiveAfterDays: number;
}

/** A setting, and where its value comes from. */
export interface Setting {
  key: string;
  value: string | number | boolean;
  source: "default" | "home" | "project";
  path: string | null;
  /** Whether anything goes by it: the limits of `autoPersist` archive nothing in lists unless a file says them. */
  inForce: boolean;
}

/** What in a file of settings could not be used. */
export interface SettingProblem {
  code: "invalid_setting";
  message: string;
}
