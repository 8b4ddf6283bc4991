/** The types for contexts, compaction and resuming. */

import type { ContextReport } from "../records.js";
import type { Session } from "../session/session.js";
import type { Format, MessageOf } from "./shapes.js";
import type { Secret } from "./store.js";

/** The options of a context. Each overrides itself alone; one that is not given is taken from the session. */
export interface ContextRequest<F extends Format = Format> {
  /** The model's limit, in tokens; that of the model unless given. */
  window?: number;
  /**
   * The model, whose window, encoding and price of images apply. An unknown one is refused, unless `window` and
   * `encoding` are given.
   */
  model?: string;
  /** Kept for the answer, in tokens; a quarter of the window unless given. */
  reserve?: number;
  /** The system prompt, which you send beside the context. */
  system?: string;
  /** The tool definitions, which you send beside the context; any JSON. */
  tools?: unknown;
  /** `o200k_base`, `cl100k_base`, `estimate-1`, or another one's name with `count`; that of the model unless given. */
  encoding?: string;
  /**
   * Assumes a usual window where none is known, and counts for an unknown model by the estimate; `report.assumed` says
   * so.
   */
  assumes?: boolean;
  /** The shape of the messages; `leftoff` unless given. */
  format?: F;
  /**
   * The share of the budget for older messages that match the newest user message, quoted where not everything fits:
   * from 0 to 0.5, 0.2 unless given.
   */
  recall?: number;
  /**
   * False for a context by itself, which uses all of the budget. Otherwise it begins with the last context of the same
   * request, byte for byte, so that a provider finds it in its cache; once the budget is reached, it is cut anew.
   * `report.cache` says what is unchanged. With strategies of your own there are no frames.
   */
  frame?: boolean;
  /** How far a cut fills the budget: from 0.3 to 0.9, 0.5 unless given. */
  fill?: number;
  /** How long the provider's cache keeps what was sent, in seconds: 300 unless given. */
  cacheLifetime?: number;
  /** You know that the provider's cache has nothing of it: the context is cut anew. */
  cold?: boolean;
  /**
   * Marks what a provider is to keep in its cache: in Anthropic's shape by `cache_control`, in the AI SDK's by
   * `providerOptions`, on the last message and the last unchanged one. Anthropic takes four marks in a call, so
   * two are left for your system prompt and tools. OpenAI's shapes have no marks: send `report.cache.promptCacheKey`.
   */
  cacheMarks?: boolean;
  /**
   * What the call's input costs, in US dollars for a million tokens, for `report.cache.cost`; as `pricesOf` has it
   * unless given. `cacheRead` and `cacheWrite` are as `input` unless given.
   */
  prices?: { input: number; cacheRead?: number; cacheWrite?: number };
  /** Counts texts for another encoding, in tokens, in their order. */
  count?: (texts: string[], encoding: string) => number[] | Promise<number[]>;
  /**
   * Makes vectors of texts, by which recalled messages are ordered, joined with their order by words: at most 65
   * redacted texts, the first of which is the newest user message. The vectors for a question are used until the next
   * question. If it fails, the order by words stays.
   */
  embed?: Embed;
  /** Writes summaries: your model. Without it they are made from the session state. */
  summarize?: Summarize;
  /**
   * Your strategies beside leftoff's own, which have the priorities 1 to 4; one replaces leftoff's of the same name.
   */
  strategies?: Strategy[];
  /**
   * The names of the strategies to try, `full-history pruned-tools recent-plus-summary minimal-state` and yours; all
   * unless given. The fallback is tried last in any case.
   */
  only?: string[];
}

/** What a model's tokens cost. */
export interface Prices {
  rates: Rates;
  /** With more tokens of input than `above`, all of the request cost this. */
  long?: { above: number; rates: Rates };
  /** The day of the list. */
  listedOn: string;
}

/** Prices in US dollars for a million tokens. What has no price of its own costs as other input. */
export interface Rates {
  input: number;
  output?: number;
  /** Of what the provider reads from its cache. */
  cacheRead?: number;
  /** Of what the provider puts into its cache for five minutes. */
  cacheWrite?: number;
  /** Of what it puts there for an hour. */
  cacheWriteHour?: number;
}

/**
 * Makes a vector of each text, all of one length: an embedding. The nearer two texts are in meaning, the smaller the
 * angle of their vectors.
 */
export type Embed = (texts: string[]) => ArrayLike<number>[] | Promise<ArrayLike<number>[]>;

/** A strategy of your own. A result that breaks a law of contexts is refused, and the next strategy is tried. */
export interface Strategy {
  name: string;
  /** A whole number; lower is tried first. */
  priority: number;
  /** The budget below which it is not tried, in tokens. */
  minTokens?: number;
  build: (session: Session, budgetTokens: number, tokenizer: Tokenizer) => StrategyResult | Promise<StrategyResult>;
}

/** A strategy's result: messages in leftoff's shape, as `session.messages()` yields them. */
export interface StrategyResult {
  messages: object[];
  includedCount?: number;
  summarizedCount?: number;
}

/** A token counter; the numbers of your own counter may come later. */
export interface Tokenizer {
  count: (text: string) => number | Promise<number>;
  countMessages: (messages: object[]) => number | Promise<number>;
}

/** The request to a model for a summary. */
export interface SummaryRequest {
  /** The prompt for a summary, and the conversation. */
  messages: { role: "system" | "user"; content: string }[];
  /** The most tokens of its answer. */
  maxTokens: number;
  /** The messages that the answer will replace. */
  range: { startMessageId: string; endMessageId: string; messageCount: number };
  /** The summary to extend; it is in the messages, too. */
  previous?: string;
}

/** Your model: returns the summary, or that and the model's name. */
export type Summarize = (request: SummaryRequest) => SummaryAnswer | Promise<SummaryAnswer>;

/** A summary by a model. */
export type SummaryAnswer = string | { content: string; model?: string };

/** What one model call gets, and why. */
export interface ContextBuildResult<F extends Format = "leftoff"> {
  /** What to send, in order. */
  messages: MessageOf<F>[];
  /** The strategy whose context fitted. */
  strategy: string;
  /** The tokens of the messages; with replaced secrets, the most they can have. */
  tokensUsed: number;
  /** The most tokens that they may have. */
  tokenBudget: number;
  /** How many messages the conversation has. */
  originalMessageCount: number;
  /** How many of them are in the context, whole or shortened. */
  includedMessageCount: number;
  /** How many of them a summary stands for. */
  summarizedMessageCount: number;
  /** Why there is no new summary of your model's. */
  summaryRefused?: string;
  /** Why recalled messages are ordered by words alone, where you gave `embed`. */
  embedRefused?: string;
  /** How many large texts and files are on the disk only in part, or with other bytes. */
  missingBlobs?: number;
  /** Ids of calls that no message makes: the results that name them are left out. */
  orphanedResults?: string[];
  /** Why each message is there, or is not. */
  report: ContextReport;
  /** The secrets that the store's `redact` found in it. */
  secrets?: Secret[];
}

/** The stored report of a context, without its texts. */
export interface KeptReport extends Omit<ContextBuildResult, "messages"> {
  /** When it was built, RFC 3339. */
  at: string;
}

/** The last context with its messages, built again from the session as it was then. */
export interface SentContext extends KeptReport {
  /** Not there where they cannot be built. Where it is not verified, what can be shown of them. */
  messages?: MessageOf<Format>[];
  /** Whether they equal what was given, by a checksum. */
  isVerified: boolean;
  /** Why they differ. */
  differences: {
    /** `own_strategy`, `own_counter`, `own_order`: what you gave chose, counted or ordered them; `summary_gone`, `blob_gone`: it was in them;
     * `redaction_changed`: other rules say what may leave; `log_shrunk`: the log is shorter than then; `no_recipe`:
     * nothing is kept but the report; `context_changed`: the log was changed otherwise than at its end, or another
     * version built it. */
    code:
      | "own_strategy"
      | "own_counter"
      | "own_order"
      | "summary_gone"
      | "blob_gone"
      | "redaction_changed"
      | "log_shrunk"
      | "no_recipe"
      | "context_changed";
    message: string;
  }[];
}

/** A context, or its stored report. */
export type Reported = Pick<
  ContextBuildResult,
  "strategy" | "tokensUsed" | "tokenBudget" | "includedMessageCount" | "report"
>;

/** The action on a message; `unread`: the context did not reach as far back, or was built before it. */
export type Fate = ContextReport["messages"][number]["action"] | "unread";

/** The difference of two contexts. */
export interface Compared {
  strategy: { before: string; after: string };
  tokensUsed: { before: number; after: number };
  tokenBudget: { before: number; after: number };
  includedMessageCount: { before: number; after: number };
  /** The messages whose action differs. */
  messages: { id: string; before: Fate; after: Fate }[];
}

/** The options of a compaction, beside those of contexts. */
export interface CompactOptions extends Omit<
  ContextRequest,
  "recall" | "only" | "frame" | "fill" | "cacheLifetime" | "cold" | "cacheMarks" | "prices"
> {
  /** Compacts; else the answer only says what would happen. */
  apply?: boolean;
  /** Starts contexts with the first message again; not together with the other two. */
  undo?: boolean;
  /** Down to so many tokens; half of the budget unless given. */
  keep?: number;
}

/** The result of a compaction, or its plan. */
export interface Compacted {
  isApplied: boolean;
  /** Little is left of the budget: 80 percent are used, or more. */
  isDue: boolean;
  /** Why there is nothing to do. */
  reason?: string;
  /** The last message that the summary replaces from then on. */
  through?: string;
  /** How many messages it replaces. */
  messageCount: number;
  /** The tokens of the next context without it, beside what it recalls; absent where none could be built. */
  tokensBefore?: number;
  /** The tokens of the next context with it. */
  tokensAfter?: number;
  tokenBudget?: number;
  /** Why your model's summary was not taken. */
  summaryRefused?: string;
}

/** The current environment at a resumption. Only the given fields are compared with the session's agent. */
export interface Now {
  /** `sha256:` and the hash of the command's text; null where its file is gone. */
  promptHash?: string | null;
  model?: string;
  /** The model's limit, in tokens. */
  window?: number;
  /** The names of the tools; those of the tool definitions that the context is for, unless given. */
  tools?: string[];
  /**
   * The names of the MCP servers, where the tools are unknown: a warning names which of their tools,
   * `mcp__SERVER__TOOL`, are gone.
   */
  servers?: string[];
}

/** The options of resuming a session. */
export interface ResumeRequest<F extends Format = Format> extends ContextRequest<F> {
  /** Makes a completed session active again. */
  override?: boolean;
  /** Makes a paused session active again; true unless given. */
  revives?: boolean;
  now?: Now;
  /** Limits the history to what fits in so many bytes as `text`. */
  maxBytes?: number;
}

/** The result of resuming a session, for the next run. */
export interface Resumed<F extends Format = "leftoff"> {
  id: string;
  /** The command that began the session, to run before the block is sent. */
  command: string | null;
  /** The resume block: tells a model that it continues, with what was left out, what is missing, and the warnings. */
  block: string;
  /** The messages that fit, in the shape asked for. */
  history: MessageOf<F>[];
  /** Sentences that say what changed since the session was saved, and who else has it open. */
  warnings: string[];
  context: ContextBuildResult<F>;
  /** The block and the history as one text, where `maxBytes` is given. */
  text?: string;
}
