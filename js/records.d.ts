// What leftoff keeps on disk, and what its core answers. Written from the types in src/ by
// `LEFTOFF_WRITE=1 cargo test --lib records`.

/**
 * A string from JSON: the text to show and, if a lone surrogate stood in it, the literal it was read from.
 *
 * It is written back as it was: `"\ud83d"` stays `"\ud83d"`, though it is shown as U+FFFD.
 *
 * A text that is too large for its line lies in a blob. Until it is put back, its beginning and its end are shown.
 */
export type Text = string | { blob: string, bytes: number, json?: boolean, head: string, tail: string };

/**
 * The speaker of a message.
 */
export type Role = "system" | "user" | "assistant" | "tool";

/**
 * A message as stored.
 */
export type Message = { 
/**
 * The message's id; a line with the same id and a higher `rev` is a revision of it.
 */
id: string, 
/**
 * The message's number. A hint only: the order of lines in the file decides.
 */
seq?: number, 
/**
 * The id of the message that this one follows.
 */
parentId?: string, 
/**
 * When it was said, RFC 3339.
 */
timestamp?: string, 
/**
 * The speaker. Absent if the stored value is none of the four; such a message is shown, and enters no context.
 */
role?: Role, 
/**
 * The text that was said, or the tool's answer.
 */
content: Text, 
/**
 * The message's cost in a context; believed only where the line's checksum is right.
 */
tokens?: Tokens, 
/**
 * For role `tool`: the call that this message answers.
 */
tool?: Tool, 
/**
 * For role `assistant`: fields that only a model's answer has.
 */
assistant?: Assistant, 
/**
 * Images and files.
 */
attachments?: Array<Attachment>, 
/**
 * The revision's number: the highest counts, at the place of the first.
 */
rev?: number, 
/**
 * True for an answer that is not finished.
 */
partial?: boolean, 
/**
 * True if this line leaves file order: a branch begins here.
 */
branch?: boolean, 
/**
 * The origin of an imported line.
 */
source?: Source, };

/**
 * A stored token count: a hint that names its counter, and is never needed.
 */
export type Tokens = { 
/**
 * Tokens of this message.
 */
count: number, 
/**
 * Tokens of the log up to and with this message.
 */
cumulative?: number, 
/**
 * The counter, `o200k_base` or `estimate-1`; unknown if absent.
 */
by?: string, };

/**
 * The call that a tool result answers.
 */
export type Tool = { 
/**
 * The call's id.
 */
callId: string, 
/**
 * The tool's name.
 */
name: string, 
/**
 * True if the tool failed.
 */
isError?: boolean, 
/**
 * True if the tool did not run to its end: it was denied, blocked or interrupted.
 */
notRun?: boolean, 
/**
 * The exit code of a command, if known.
 */
exitCode?: number, 
/**
 * True if the content is the JSON of a value: the tool did not answer with a text.
 */
isJson?: boolean, };

/**
 * The fields that only a model's answer has.
 */
export type Assistant = { 
/**
 * The model that answered.
 */
model?: string, 
/**
 * The tool calls it asked for.
 */
toolCalls?: Array<ToolCall>, 
/**
 * Why the model stopped.
 */
finishReason?: string, 
/**
 * How long the answer took, in milliseconds.
 */
durationMs?: number, 
/**
 * The model's reasoning, where the provider shows it.
 */
reasoning?: Array<Reasoning>, 
/**
 * The provider's own token counts.
 */
usage?: Usage, 
/**
 * The sequence of reasoning, text and calls, where they interleave.
 */
order?: Array<Part>, };

/**
 * A model's request to run a tool.
 */
export type ToolCall = { 
/**
 * The id that pairs the call with its result.
 */
id: string, 
/**
 * The tool's name.
 */
name: string, 
/**
 * The arguments, a JSON text; a model may have written one that is not valid.
 */
arguments: Text, };

/**
 * A piece of reasoning.
 */
export type Reasoning = { 
/**
 * The readable part of the reasoning.
 */
text: Text, 
/**
 * The provider's signature over it.
 */
signature?: string, 
/**
 * The provider's encrypted form of it.
 */
data?: string, };

/**
 * The provider's own counts, in tokens.
 */
export type Usage = { 
/**
 * Input tokens that were not in the cache.
 */
input?: number, 
/**
 * Output tokens.
 */
output?: number, 
/**
 * Input tokens read from the cache.
 */
cacheRead?: number, 
/**
 * Input tokens written to the cache.
 */
cacheWrite?: number, 
/**
 * Those of them that stay there for an hour instead of five minutes, which costs more.
 */
cacheWriteHour?: number, 
/**
 * Output tokens spent on reasoning.
 */
reasoning?: number, };

/**
 * One piece of an answer: `{"text":[0,12]}` (bytes of the content), `{"call":0}` or `{"reasoning":0}` (places).
 */
export type Part = { "text": [number, number] } | { "call": number } | { "reasoning": number };

/**
 * An image or a file: at a path, inline, or in a blob.
 */
export type Attachment = { 
/**
 * The media type.
 */
mime: string, 
/**
 * The file's name.
 */
name?: string, 
/**
 * The path of the file.
 */
path?: string, 
/**
 * The file's bytes, base64.
 */
data?: string, 
/**
 * The id of the blob that holds the file's bytes.
 */
blob?: string, 
/**
 * The number of bytes in the blob.
 */
bytes?: number, };

/**
 * The origin of an imported line.
 */
export type Source = { 
/**
 * The agent's name.
 */
agent: string, 
/**
 * The record's id in the agent's files.
 */
id: string, };

/**
 * A change of a session.
 */
export type Event = { 
/**
 * The event's id; a document names by it the state that it was written from.
 */
id: string, 
/**
 * When it happened, RFC 3339.
 */
timestamp?: string, } & ({ "type": "created" } & Created | { "type": "title", 
/**
 * The title.
 */
title: string, } | { "type": "status", 
/**
 * The new status.
 */
status: Status, 
/**
 * Why, where nobody asked for it: `idle`.
 */
reason?: string, } | { "type": "summary", 
/**
 * The summary's text.
 */
summary: string, 
/**
 * True if leftoff made the summary from the session state; nobody wrote it.
 */
isDerived?: boolean, 
/**
 * For a derived summary: a number that stands for the messages that had been revised by then.
 */
revised?: number, } | { "type": "archived" } | { "type": "unarchived" } | { "type": "pin" } & Subject | { "type": "unpin" } & Subject | { "type": "agent" } & Agent | { "type": "leaf" } & Subject | { "type": "accepted" } & Subject | { "type": "imported" } & Imported | { "type": "fork" } & Origin | { "type": "relocated", 
/**
 * The new project; none in a workspace.
 */
project?: Project, 
/**
 * The session's name in a workspace.
 */
name?: string, } | { "type": "compaction" } & Compaction | { "type": "edited" } & Edited | OtherType);

/**
 * The kinds of change, by the event's `type`.
 */
export type Change = { "type": "created" } & Created | { "type": "title", 
/**
 * The title.
 */
title: string, } | { "type": "status", 
/**
 * The new status.
 */
status: Status, 
/**
 * Why, where nobody asked for it: `idle`.
 */
reason?: string, } | { "type": "summary", 
/**
 * The summary's text.
 */
summary: string, 
/**
 * True if leftoff made the summary from the session state; nobody wrote it.
 */
isDerived?: boolean, 
/**
 * For a derived summary: a number that stands for the messages that had been revised by then.
 */
revised?: number, } | { "type": "archived" } | { "type": "unarchived" } | { "type": "pin" } & Subject | { "type": "unpin" } & Subject | { "type": "agent" } & Agent | { "type": "leaf" } & Subject | { "type": "accepted" } & Subject | { "type": "imported" } & Imported | { "type": "fork" } & Origin | { "type": "relocated", 
/**
 * The new project; none in a workspace.
 */
project?: Project, 
/**
 * The session's name in a workspace.
 */
name?: string, } | { "type": "compaction" } & Compaction | { "type": "edited" } & Edited | OtherType;

/**
 * The beginning of a session.
 */
export type Created = { 
/**
 * The session's uuid.
 */
session: string, 
/**
 * The sort of conversation: `chat`, `brainstorm`, `subagent` and so on.
 */
sessionType: string, 
/**
 * The session's name in its workspace: the `conversation_id` of `session.json`.
 */
name?: string, 
/**
 * The project that the session belongs to.
 */
project?: Project, 
/**
 * For a sub-agent's session: the call that began it.
 */
parent?: Parent, 
/**
 * The agent that the conversation was held with.
 */
agent?: Agent, };

/**
 * The message that an event is about.
 */
export type Subject = { 
/**
 * The message's id.
 */
messageId: string, };

/**
 * The type of an event that this version ignores.
 */
export type OtherType = { 
/**
 * Its name.
 */
type: string, };

/**
 * A project as `metadata.json` names it.
 */
export type Project = { 
/**
 * The project's folder.
 */
path: string, 
/**
 * The project's hash; see [`crate::project::hash`].
 */
hash: string, 
/**
 * What it is called.
 */
name: string, 
/**
 * The repository's remote, without credentials: by this a moved project finds its sessions.
 */
remote?: string, 
/**
 * The first commit of its repository, for the same.
 */
firstCommit?: string, 
/**
 * The project's path in the repository, if it is only a part of it.
 */
folder?: string, };

/**
 * The call that began a sub-agent's session.
 */
export type Parent = { 
/**
 * The uuid of the calling session.
 */
session: string, 
/**
 * The id of the call, if known.
 */
callId?: string, };

/**
 * The `agent_config` of `session.json`: the agent, its instructions, its model and its tools.
 */
export type Agent = { 
/**
 * The slash command that began the session.
 */
command?: string, 
/**
 * `sha256:` and the hash of the command's text.
 */
systemPromptHash?: string, 
/**
 * The file with the command's text, if no client keeps it as a command.
 */
promptFile?: string, 
/**
 * The model.
 */
model?: string, 
/**
 * The names of its tools.
 */
tools?: Array<string>, 
/**
 * The provider of the model: the `provider.type` of `metadata.json`.
 */
provider?: string, 
/**
 * The model's context window, in tokens.
 */
contextWindow?: number, 
/**
 * The provider's base URL.
 */
baseUrl?: string, };

/**
 * The agent's session that a session was imported from.
 */
export type Imported = { 
/**
 * The agent's name.
 */
agent: string, 
/**
 * The session's id in the agent's files.
 */
sourceId: string, };

/**
 * The origin of a forked session.
 */
export type Origin = { 
/**
 * The uuid of the session that was forked.
 */
session: string, 
/**
 * The id of the last message that was copied.
 */
messageId: string, };

/**
 * The compaction that contexts begin with: the fields of a kept summary. Without a `summary`, the session state stands
 * for the older messages.
 */
export type Compaction = { 
/**
 * The messages that are replaced.
 */
range?: SummaryRange, 
/**
 * The summary that a model or a person wrote of them.
 */
summary?: SummaryText, 
/**
 * The tokens of the replaced messages.
 */
originalTokens?: number, };

/**
 * The range of messages that a summary stands for.
 */
export type SummaryRange = { 
/**
 * The id of the first message.
 */
startMessageId: string, 
/**
 * The id of the last message.
 */
endMessageId: string, 
/**
 * The first message's number; a hint.
 */
startSeq?: number, 
/**
 * The last message's number; a hint.
 */
endSeq?: number, 
/**
 * The number of messages.
 */
messageCount: number, 
/**
 * The byte where the last message's line ends in the log; a hint.
 */
endByte?: number, };

/**
 * A summary as it is stored.
 */
export type SummaryText = { 
/**
 * The summary's text.
 */
content: string, 
/**
 * Its tokens, by `o200k_base` or the estimate.
 */
tokens: number, 
/**
 * The model that wrote it.
 */
model: string, };

/**
 * The edited fields with their new values, and the names of removed fields.
 */
export type Edited = { 
/**
 * The title.
 */
title?: string, 
/**
 * The session type.
 */
sessionType?: string, 
/**
 * The session's name in its workspace.
 */
name?: string, 
/**
 * The summary.
 */
summary?: string, 
/**
 * The status. By hand it may become anything.
 */
status?: Status, 
/**
 * Whether the session is archived.
 */
archived?: boolean, 
/**
 * The project that the session belongs to.
 */
project?: Project, 
/**
 * The call that began the session.
 */
parent?: Parent, 
/**
 * The whole agent.
 */
agent?: Agent, 
/**
 * The agent's session that it was imported from.
 */
imported?: Imported, 
/**
 * True if the summary was removed.
 */
withoutSummary?: boolean, 
/**
 * The event that the document was written from, or an id of the document if it names none.
 */
asOf?: string, };

/**
 * A session's status; whether it is archived stands beside it.
 */
export type Status = "active" | "paused" | "completed";

/**
 * A run of a tool.
 */
export type ToolExecution = { 
/**
 * The execution's id.
 */
id: string, 
/**
 * The execution's number. A hint only: the order of lines in the file decides.
 */
seq?: number, 
/**
 * When it ran, RFC 3339.
 */
timestamp?: string, 
/**
 * The id of the assistant message with the call.
 */
messageId?: string, 
/**
 * The id of the call.
 */
toolCallId: string, 
/**
 * The tool's name.
 */
tool: string, 
/**
 * The arguments of the call.
 */
arguments: Record<string, unknown>, 
/**
 * The outcome.
 */
result: ToolResult, 
/**
 * The tokens of its result.
 */
tokens?: number, 
/**
 * The duration, in milliseconds.
 */
durationMs?: number, };

/**
 * The outcome of an execution; the result's text stands in the tool's message.
 */
export type ToolResult = { 
/**
 * True if the tool did what was asked.
 */
success: boolean, 
/**
 * The error, if it failed.
 */
error?: string, 
/**
 * The exit code of a command.
 */
exitCode?: number, };

export type MetadataJson = { version: number, id: string, project: Project, timestamps: Timestamps, stats: Stats, provider: Provider, display: Display, status: Shown, lifecycle: Status, type: string, name?: string, summary?: string, agent: OfAgent, parent?: Parent, imported?: Imported, forkedFrom?: Origin, archivedAt?: string, asOf?: string, };

export type Timestamps = { createdAt: string, lastAccessedAt: string, lastMessageAt: string, };

export type Stats = { messageCount: number, toolExecutionCount: number, totalTokens: number, userMessageCount: number, assistantMessageCount: number, };

export type Provider = { type: string, model: string, contextWindow: number, baseUrl?: string, };

export type Display = { title: string, description?: string, };

export type OfAgent = { command?: string, systemPromptHash?: string, promptFile?: string, tools?: Array<string>, };

export type Shown = "active" | "archived";

export type SessionJson = { version: string, conversation_id: string, conversation_type: string, status: Status, created_at: string, last_active: string, message_count: number, agent_config: AgentConfig, context_summary?: string, id: string, title?: string, archived_at?: string, total_tokens: number, project?: OfProject, parent?: OfParent, imported?: OfImported, forked_from?: OfOrigin, as_of?: string, };

export type AgentConfig = { command?: string, system_prompt_hash?: string, prompt_file?: string, model?: string, tools?: Array<string>, provider?: string, context_window?: number, base_url?: string, };

export type OfProject = { path: string, hash: string, name: string, remote?: string, first_commit?: string, folder?: string, };

export type OfOrigin = { session: string, message_id: string, };

export type OfParent = { session: string, call_id?: string, };

export type OfImported = { agent: string, source_id: string, };

/**
 * The report of a context, without any texts.
 */
export type ContextReport = { 
/**
 * The division of the window.
 */
budget: Budget, 
/**
 * The encoding that counted.
 */
encoding: string, 
/**
 * What was assumed about an unknown model.
 */
assumed?: Assumed, 
/**
 * The strategies that did not serve, in the order of trial.
 */
rejected: Array<Rejection>, 
/**
 * Each message that was read, in order.
 */
messages: Array<Decision>, 
/**
 * The number of older messages that were not read.
 */
unreadMessageCount: number, 
/**
 * The bytes of the log read for messages, without those scanned for recall.
 */
bytesRead: number, 
/**
 * The cost of the summary, if there is one.
 */
summaryTokens?: number, 
/**
 * The number of facts that the summary has no room for, if any.
 */
summaryLeftOut?: number, 
/**
 * The messages that were recalled, if any match the newest user message.
 */
recall?: Recall, 
/**
 * Files that the provider does not take, in order, each replaced by a line of text.
 */
unsentFiles?: Array<UnsentFile>, 
/**
 * The reasoning of answers whose calls led to the newest results. Other reasoning is not sent.
 */
reasoning?: Array<ReasoningReport>, 
/**
 * Where the context of a compacted conversation begins.
 */
compacted?: Begins, 
/**
 * What a provider may have of it in its cache, where a frame was asked for.
 */
cache?: CacheReport, };

/**
 * The division of a window, in tokens.
 */
export type Budget = { 
/**
 * The model's limit.
 */
modelContextWindow: number, 
/**
 * The cost of the system prompt.
 */
systemPromptTokens: number, 
/**
 * The cost of the tool definitions.
 */
toolDefinitionTokens: number, 
/**
 * Reserved for the answer.
 */
reserveForResponse: number, 
/**
 * The rest, for the conversation.
 */
availableTokens: number, };

/**
 * What was assumed about a session's model.
 */
export type Assumed = { 
/**
 * The recorded, unknown model; absent if none is on record.
 */
model?: string, 
/**
 * The window assumed for it.
 */
window?: number, 
/**
 * The encoding assumed for it.
 */
encoding?: Encoding, };

/**
 * The encoding by which a text was counted.
 */
export type Encoding = "o200k_base" | "cl100k_base" | "estimate-1";

/**
 * A strategy that did not serve.
 */
export type Rejection = { 
/**
 * Its name.
 */
strategy: string, 
/**
 * The reason.
 */
why: string, };

/**
 * The decision about one message.
 */
export type Decision = { 
/**
 * The message's id.
 */
id: string, 
/**
 * What was done with it.
 */
action: Action, 
/**
 * The rule that decided.
 */
rule: string, 
/**
 * Its cost in the context; for an omitted message, the least that it would have cost.
 */
tokens: number, };

/**
 * What was done with a message.
 */
export type Action = "kept" | "shortened" | "summarized" | "dropped";

/**
 * The place where contexts of a compacted conversation begin.
 */
export type Begins = { 
/**
 * The id of the last compacted message.
 */
through: string, 
/**
 * The offset of its line's end in the log; absent if the budget does not reach back to it.
 */
endByte?: number, };

/**
 * What a context has in common with the last one of the same request.
 */
export type CacheReport = { 
/**
 * The number of messages at its beginning that are the same bytes.
 */
unchangedMessages: number, 
/**
 * The tokens of these, by their share of the bytes.
 */
unchangedTokens: number, 
/**
 * Why the context does not extend the last one; absent where it does.
 */
ended?: FrameEnd, 
/**
 * What to send as `prompt_cache_key`, in OpenAI's shapes: calls with one key find each other's cache.
 */
promptCacheKey?: string, 
/**
 * What the call's input costs, with the system prompt and the tools; absent for a model whose prices are unknown.
 */
cost?: CallCost, };

/**
 * What a call's input costs, in US dollars.
 */
export type CallCost = { 
/**
 * Where the provider has what is unchanged in its cache, and puts the rest into it.
 */
cached: number, 
/**
 * Without a cache.
 */
uncached: number, 
/**
 * The day of the price list; absent where the request gives the prices.
 */
listedOn?: string, };

/**
 * Why a frame ended.
 */
export type FrameEnd = "none" | "budget" | "cold" | "changed" | "compacted" | "unverified" | "logShrunk";

/**
 * The older messages that were recalled, and the words they match.
 */
export type Recall = { 
/**
 * The words looked for from the newest user message, as written.
 */
words: Array<string>, 
/**
 * The cost of the recall block.
 */
tokens: number, 
/**
 * The quoted messages, the best first.
 */
messages: Array<Match>, 
/**
 * The next best ones that were left out, at most three.
 */
leftOut: Array<Match>, };

/**
 * A message that matches.
 */
export type Match = { 
/**
 * Its id.
 */
id: string, 
/**
 * The question's words in it, as asked.
 */
words: Array<string>, };

/**
 * A file in the context that is not sent to the provider.
 */
export type UnsentFile = { 
/**
 * The id of its message.
 */
id: string, 
/**
 * Its media type.
 */
mime: string, 
/**
 * The limit that it exceeds: `count`, `bytes`, `pixels`, `request`; or `type`, if the provider does not read it.
 */
why: string, };

/**
 * The decision about the reasoning of an answer whose calls led to the newest results.
 */
export type ReasoningReport = { 
/**
 * The message's id.
 */
id: string, 
/**
 * True if the reasoning is in the context.
 */
isSent: boolean, 
/**
 * The reason: `open-loop`, or `frame` for an earlier turn's, if it is sent; else `other-model`, `unfinished`,
 * `unsigned`, `secret`, `unknown-provider`, or `shape`, which takes none.
 */
why: string, };

/**
 * The state of a conversation: its task, files, decisions and blockers, open tasks and failed commands.
 */
export type SessionState = { 
/**
 * The folder of the project; empty if unknown.
 */
projectPath: string, 
/**
 * The request in the first user message; empty without one.
 */
originalTask: string, 
/**
 * The changed files, each once, the last touched at the end.
 */
modifiedFiles: Array<ModifiedFile>, 
/**
 * The assistant's last statement.
 */
currentStatus: string, 
/**
 * The blockers.
 */
blockers: Array<string>, 
/**
 * The decisions.
 */
keyDecisions: Array<string>, 
/**
 * The open tasks, by the newest task list.
 */
openTasks: Array<string>, 
/**
 * The commands that failed, each once.
 */
failedCommands: Array<FailedCommand>, };

/**
 * A changed file.
 */
export type ModifiedFile = { 
/**
 * The path, as the tool call named it.
 */
path: string, 
/**
 * `created`, `modified` or `deleted`.
 */
action: "created" | "modified" | "deleted", };

/**
 * A command that failed.
 */
export type FailedCommand = { 
/**
 * The command.
 */
command: string, 
/**
 * The number of its failures.
 */
failures: number, 
/**
 * True if its last run passed.
 */
hasPassed: boolean, };

/**
 * Something wrong in a log, and its place.
 */
export type Problem = { 
/**
 * The stable code.
 */
code: ProblemCode, 
/**
 * Its first byte.
 */
start: number, 
/**
 * The byte behind its last one.
 */
end: number, 
/**
 * What was expected, and what was found.
 */
message: string, };

/**
 * The kinds of problems.
 */
export type ProblemCode = "bad_value" | "bom" | "checksum" | "conflict_marker" | "damaged" | "duplicate_id" | "foreign" | "glued_lines" | "invalid_utf8" | "line_too_long" | "missing_parent" | "missing_blob" | "nul_run" | "too_deep" | "torn_tail";

/**
 * A field or a record that an import does not take over.
 */
export type Loss = { 
/**
 * The field's path, or `record:<type>`.
 */
field: string, 
/**
 * How often it was lost.
 */
count: number, 
/**
 * The reason.
 */
why: string, 
/**
 * True if it was part of the talk: words, a call, a result, an image or a file. All else is bookkeeping.
 */
isTalk?: boolean, };

/**
 * What went wrong, as a stable word: texts may change between versions, codes do not.
 */
export type CoreCode = "already_exists" | "ambiguous" | "batch_open" | "budget_too_small" | "conflict" | "damaged" | "empty_file" | "empty_message" | "git_busy" | "git_failed" | "git_missing" | "invalid_id" | "invalid_json" | "invalid_request" | "invalid_setting" | "invalid_transition" | "invalid_summary" | "invalid_vocabulary" | "internal" | "line_too_long" | "log_replaced" | "log_shrunk" | "newer_version" | "no_batch" | "no_counter" | "not_a_file" | "not_a_repository" | "not_found" | "not_in_workspace" | "observe_first" | "open_elsewhere" | "operation_reused" | "session_ignored" | "too_deep" | "unknown_format" | "unknown_parent";
