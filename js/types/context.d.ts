/** Of contexts: what they are built of, what they come to, and what hands a session to the next run. */

import type { ContextReport } from "../records.js";
import type { Session } from "../session/session.js";
import type { Format, MessageOf } from "./shapes.js";
import type { Secret } from "./store.js";

/** What a context is built of and for. An option overrides itself alone; what is not given is the session's own. */
export interface ContextRequest<F extends Format = Format> {
  /** The model's limit, in tokens; that of the model unless given. */
  window?: number;
  /** Whose window, encoding and price of images hold. One that is not known is refused, unless `window` and `encoding` are given. */
  model?: string;
  /** Kept for the answer, in tokens; a quarter of the window unless given. */
  reserve?: number;
  /** The system prompt, which you send beside the context. */
  system?: string;
  /** The tool definitions, which you send beside the context; any JSON. */
  tools?: unknown;
  /** `o200k_base`, `cl100k_base`, `estimate-1`, or another one's name with `count`; that of the model unless given. */
  encoding?: string;
  /** Where nobody says a window, a usual one holds, and a model that is not known is counted by the estimate; `report.assumed` says so. */
  assumes?: boolean;
  /** The shape of the messages; `leftoff` unless given. */
  format?: F;
  /** The share of the budget for older messages that match the newest user message, quoted where not everything fits: from 0 to 0.5, 0.2 unless given. */
  recall?: number;
  /** Counts texts for another encoding, in tokens, in their order. */
  count?: (texts: string[], encoding: string) => number[] | Promise<number[]>;
  /**
   * Gives vectors of texts, by which what is recalled is ordered, joined with its order by words: of at most 65 texts, the first of which is
   * the newest user message. They are as they may leave. What it gave for a question holds until the next one. Where it fails, the order by words stays.
   */
  embed?: Embed;
  /** Writes summaries: your model. Without it they are made of what was learned on the way. */
  summarize?: Summarize;
  /** Yours beside leftoff's own, which have the priorities 1 to 4; one takes the place of leftoff's that has its name. */
  strategies?: Strategy[];
  /** The names of those that are tried, `full-history pruned-tools recent-plus-summary minimal-state` and yours; all unless given. The fallback is tried last in any case. */
  only?: string[];
}

/** A vector of each text, all of one length: an embedding. The nearer in meaning two texts are, the smaller is the angle between theirs. */
export type Embed = (texts: string[]) => ArrayLike<number>[] | Promise<ArrayLike<number>[]>;

/** A strategy of your own. What breaks a law of a context is refused, and the next strategy is tried. */
export interface Strategy {
  name: string;
  /** A whole number; lower is tried first. */
  priority: number;
  /** The budget below which it is not tried, in tokens. */
  minTokens?: number;
  build: (session: Session, budgetTokens: number, tokenizer: Tokenizer) => StrategyResult | Promise<StrategyResult>;
}

/** What a strategy gives: messages in leftoff's shape, as `session.messages()` gives them. */
export interface StrategyResult {
  messages: object[];
  includedCount?: number;
  summarizedCount?: number;
}

/** Who counts, in tokens; of a counter of your own the numbers may come later. */
export interface Tokenizer {
  count: (text: string) => number | Promise<number>;
  countMessages: (messages: object[]) => number | Promise<number>;
}

/** What a model is asked for that sums up a conversation. */
export interface SummaryRequest {
  /** What it is told: the prompt for a summary, and the conversation. */
  messages: { role: "system" | "user"; content: string }[];
  /** How long its answer may be. */
  maxTokens: number;
  /** What the answer will stand for. */
  range: { startMessageId: string; endMessageId: string; messageCount: number };
  /** The summary that it extends; it stands in the messages, too. */
  previous?: string;
}

/** Your model: the summary, or that and the model's name. */
export type Summarize = (request: SummaryRequest) => SummaryAnswer | Promise<SummaryAnswer>;

/** What a model wrote. */
export type SummaryAnswer = string | { content: string; model?: string };

/** What one model call gets, and why. */
export interface ContextBuildResult<F extends Format = "leftoff"> {
  /** What to send, in order. */
  messages: MessageOf<F>[];
  /** The strategy that fitted. */
  strategy: string;
  /** What the messages cost; with replaced secrets, the most that they can. */
  tokensUsed: number;
  /** What they may cost. */
  tokenBudget: number;
  /** How many messages the conversation has. */
  originalMessageCount: number;
  /** How many of them are in the context, whole or shortened. */
  includedMessageCount: number;
  /** How many of them a summary stands for. */
  summarizedMessageCount: number;
  /** Why there is no new summary of your model's. */
  summaryRefused?: string;
  /** Why what is recalled stands in the order of its words alone, where you gave `embed`. */
  embedRefused?: string;
  /** Of so many large texts and files the disk has no more than the ends, or something else. */
  missingBlobs?: number;
  /** Calls that nobody made: the results that name them are left out. */
  orphanedResults?: string[];
  /** Why each message is there, or is not. */
  report: ContextReport;
  /** What the store's `redact` found in it. */
  secrets?: Secret[];
}

/** A context as it is kept, without its texts. */
export interface KeptReport extends Omit<ContextBuildResult, "messages"> {
  /** When it was built, RFC 3339. */
  at: string;
}

/** The last context with its messages, built again from the session as it was then. */
export interface SentContext extends KeptReport {
  /** Not there where they cannot be built. Where it is not verified, what can be shown of them. */
  messages?: MessageOf<Format>[];
  /** They are what was given, by a checksum. */
  isVerified: boolean;
  /** Why they are not. */
  differences: {
    /** `own_strategy`, `own_counter`, `own_order`: what you gave chose, counted or ordered them; `summary_gone`, `blob_gone`: it was in them;
     * `redaction_changed`: other rules say what may leave; `log_shrunk`: the log is shorter than then; `no_recipe`: nothing is kept but
     * the report; `context_changed`: the log was changed otherwise than at its end, or another version built it. */
    code: "own_strategy" | "own_counter" | "own_order" | "summary_gone" | "blob_gone" | "redaction_changed" | "log_shrunk" | "no_recipe" | "context_changed";
    message: string;
  }[];
}

/** A context, or what is kept of one. */
export type Reported = Pick<ContextBuildResult, "strategy" | "tokensUsed" | "tokenBudget" | "includedMessageCount" | "report">;

/** What became of a message; `unread`: a context did not reach as far back, or was built before. */
export type Fate = ContextReport["messages"][number]["action"] | "unread";

/** What differs between two contexts. */
export interface Compared {
  strategy: { before: string; after: string };
  tokensUsed: { before: number; after: number };
  tokenBudget: { before: number; after: number };
  includedMessageCount: { before: number; after: number };
  /** Those to which something else was done. */
  messages: { id: string; before: Fate; after: Fate }[];
}

/** What compaction is asked for, beside what contexts are built of. */
export interface CompactOptions extends Omit<ContextRequest, "recall" | "only"> {
  /** Do it; else it is only said what it would do. */
  apply?: boolean;
  /** Contexts begin with the first message again; goes with neither of the other two. */
  undo?: boolean;
  /** Down to so many tokens; half of the budget unless given. */
  keep?: number;
}

/** What compaction did, or would do. */
export interface Compacted {
  isApplied: boolean;
  /** Little is left of the budget: 80 percent are used, or more. */
  isDue: boolean;
  /** Why there is nothing to do. */
  reason?: string;
  /** The last message that a summary stands for from then on. */
  through?: string;
  /** How many it stands for. */
  messageCount: number;
  /** What the next context has without it, in tokens, beside what it recalls; absent where none could be built to tell. */
  tokensBefore?: number;
  /** The same with it. */
  tokensAfter?: number;
  tokenBudget?: number;
  /** Why your model's summary was not taken. */
  summaryRefused?: string;
}

/** What holds now where a session is taken up. Only what is given is compared with what the session says of its agent. */
export interface Now {
  /** `sha256:` and the hash of the command's text; null where its file is gone. */
  promptHash?: string | null;
  model?: string;
  /** The model's limit, in tokens. */
  window?: number;
  /** The names of the tools; those of the tool definitions that the context is for, unless given. */
  tools?: string[];
  /** Where nobody knows these, the names of the MCP servers: of their tools, `mcp__SERVER__TOOL`, it is told which are gone. */
  servers?: string[];
}

/** What a session is resumed with. */
export interface ResumeRequest<F extends Format = Format> extends ContextRequest<F> {
  /** A completed session is active again. */
  override?: boolean;
  /** A paused session is active again; true unless given. */
  revives?: boolean;
  now?: Now;
  /** As much of it as so many bytes hold as `text`, where less fits at all. */
  maxBytes?: number;
}

/** What hands a session to the next run. */
export interface Resumed<F extends Format = "leftoff"> {
  id: string;
  /** What began the session, to be run before the block is told. */
  command: string | null;
  /** Tells a model that it continues; with what was left out, what is missing, and the warnings. */
  block: string;
  /** The messages that fit, in the shape asked for. */
  history: MessageOf<F>[];
  /** Sentences: what changed since the session was saved, who else has it open. */
  warnings: string[];
  context: ContextBuildResult<F>;
  /** The block and the history as one text, where `maxBytes` is given. */
  text?: string;
}
