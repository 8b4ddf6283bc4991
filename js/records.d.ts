// What leftoff keeps on disk, and what its core answers. Written from the types in src/ by
// `LEFTOFF_WRITE=1 cargo test --lib records`.

/**
 * A string from JSON: what is shown, and, where a lone surrogate stood in it, the literal it was read from.
 *
 * It is written back as it was: `"\ud83d"` stays `"\ud83d"`, though it is shown as U+FFFD.
 *
 * A text that is too large for its line lies in a blob. Until it is put back, its beginning and its end are shown.
 */
export type Text = string | { blob: string, bytes: number, json?: boolean, head: string, tail: string };

/**
 * Who speaks.
 */
export type Role = "system" | "user" | "assistant" | "tool";

/**
 * A message as stored.
 */
export type Message = { 
/**
 * Names the message; the same id with a higher `rev` is the same message, written again.
 */
id: string, 
/**
 * A hint only: file order orders.
 */
seq?: number, 
/**
 * The message this one follows.
 */
parentId?: string, 
/**
 * RFC 3339.
 */
timestamp?: string, 
/**
 * Absent where the stored value is none of the four; such a message is shown, and enters no context.
 */
role?: Role, 
/**
 * What was said, or what the tool answered.
 */
content: Text, 
/**
 * What the message costs a context; believed only where the line's checksum is right.
 */
tokens?: Tokens, 
/**
 * For role `tool`: the call that this answers.
 */
tool?: Tool, 
/**
 * For role `assistant`: what only a model's answer has.
 */
assistant?: Assistant, 
/**
 * Images and files.
 */
attachments?: Array<Attachment>, 
/**
 * The highest wins, at the place of the first.
 */
rev?: number, 
/**
 * An answer that is not finished.
 */
partial?: boolean, 
/**
 * This line leaves file order: a branch begins here.
 */
branch?: boolean, 
/**
 * Where an imported line comes from.
 */
source?: Source, };

/**
 * A stored count: a hint that says by whom it was made, never needed.
 */
export type Tokens = { 
/**
 * Of this message.
 */
count: number, 
/**
 * Of the log up to and with this message.
 */
cumulative?: number, 
/**
 * `o200k_base` or `estimate-1`; where it is absent, nobody knows.
 */
by?: string, };

/**
 * Which call a tool result answers.
 */
export type Tool = { 
/**
 * The id of the call.
 */
callId: string, 
/**
 * The tool's name.
 */
name: string, 
/**
 * The tool failed.
 */
isError?: boolean, 
/**
 * The tool did not run, or not to its end: it was denied, blocked or interrupted.
 */
notRun?: boolean, 
/**
 * The code that a command ended with, where that is known.
 */
exitCode?: number, 
/**
 * The content is the JSON of a value: the tool did not answer with a text.
 */
isJson?: boolean, };

/**
 * What only a model's answer has.
 */
export type Assistant = { 
/**
 * The model that answered.
 */
model?: string, 
/**
 * What it asked for.
 */
toolCalls?: Array<ToolCall>, 
/**
 * Why it stopped.
 */
finishReason?: string, 
/**
 * How long it took.
 */
durationMs?: number, 
/**
 * What it thought, where the provider shows it.
 */
reasoning?: Array<Reasoning>, 
/**
 * What the provider counted.
 */
usage?: Usage, 
/**
 * The sequence of reasoning, text and calls, where they interleave.
 */
order?: Array<Part>, };

/**
 * A request for a tool.
 */
export type ToolCall = { 
/**
 * Pairs the call with its result.
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
 * What is readable of it.
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
 * Read, without the cache.
 */
input?: number, 
/**
 * Written.
 */
output?: number, 
/**
 * Read from the cache.
 */
cacheRead?: number, 
/**
 * Written to the cache.
 */
cacheWrite?: number, 
/**
 * Of the output, spent on reasoning.
 */
reasoning?: number, };

/**
 * One piece of an answer: `{"text":[0,12]}` (bytes of the content), `{"call":0}` or `{"reasoning":0}` (places).
 */
export type Part = { "text": [number, number] } | { "call": number } | { "reasoning": number };

/**
 * An image or a file: lying at a path, or inline.
 */
export type Attachment = { 
/**
 * The media type.
 */
mime: string, 
/**
 * What it is called.
 */
name?: string, 
/**
 * Where it lies.
 */
path?: string, 
/**
 * Its bytes, base64.
 */
data?: string, 
/**
 * The blob that its bytes lie in.
 */
blob?: string, 
/**
 * How many bytes lie there.
 */
bytes?: number, };

/**
 * Where an imported line comes from.
 */
export type Source = { 
/**
 * The agent's name.
 */
agent: string, 
/**
 * The id there.
 */
id: string, };

/**
 * Something that happened to a session.
 */
export type Event = { 
/**
 * Names the event; a document says by it what it was written from.
 */
id: string, 
/**
 * RFC 3339.
 */
timestamp?: string, } & ({ "type": "created" } & Created | { "type": "title", 
/**
 * The title.
 */
title: string, } | { "type": "status", 
/**
 * What it is from now on.
 */
status: Status, 
/**
 * Why, where nobody asked for it: `idle`.
 */
reason?: string, } | { "type": "summary", 
/**
 * The words.
 */
summary: string, 
/**
 * Nobody said so: it was made of what the conversation came to.
 */
isDerived?: boolean, 
/**
 * Where it was made: which messages said something else than before by then, as a number.
 */
revised?: number, } | { "type": "archived" } | { "type": "unarchived" } | { "type": "pin" } & Subject | { "type": "unpin" } & Subject | { "type": "agent" } & Agent | { "type": "leaf" } & Subject | { "type": "accepted" } & Subject | { "type": "imported" } & Imported | { "type": "fork" } & Origin | { "type": "relocated", 
/**
 * The project; none in a workspace.
 */
project?: Project, 
/**
 * Its name in a workspace.
 */
name?: string, } | { "type": "compaction" } & Compaction | { "type": "edited" } & Edited | OtherType);

/**
 * What happened.
 */
export type Change = { "type": "created" } & Created | { "type": "title", 
/**
 * The title.
 */
title: string, } | { "type": "status", 
/**
 * What it is from now on.
 */
status: Status, 
/**
 * Why, where nobody asked for it: `idle`.
 */
reason?: string, } | { "type": "summary", 
/**
 * The words.
 */
summary: string, 
/**
 * Nobody said so: it was made of what the conversation came to.
 */
isDerived?: boolean, 
/**
 * Where it was made: which messages said something else than before by then, as a number.
 */
revised?: number, } | { "type": "archived" } | { "type": "unarchived" } | { "type": "pin" } & Subject | { "type": "unpin" } & Subject | { "type": "agent" } & Agent | { "type": "leaf" } & Subject | { "type": "accepted" } & Subject | { "type": "imported" } & Imported | { "type": "fork" } & Origin | { "type": "relocated", 
/**
 * The project; none in a workspace.
 */
project?: Project, 
/**
 * Its name in a workspace.
 */
name?: string, } | { "type": "compaction" } & Compaction | { "type": "edited" } & Edited | OtherType;

/**
 * How a session began.
 */
export type Created = { 
/**
 * The session's uuid.
 */
session: string, 
/**
 * What sort of conversation it is: `chat`, `brainstorm`, `subagent` and so on.
 */
sessionType: string, 
/**
 * Its name in its workspace: the `conversation_id` of `session.json`.
 */
name?: string, 
/**
 * The project it belongs to.
 */
project?: Project, 
/**
 * For a sub-agent's session: who called it.
 */
parent?: Parent, 
/**
 * What made the conversation possible.
 */
agent?: Agent, };

/**
 * The message that an event is about.
 */
export type Subject = { 
/**
 * Its id.
 */
messageId: string, };

/**
 * The type of an event that this version does nothing about.
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
 * Its folder.
 */
path: string, 
/**
 * Its hash; see [`crate::project::hash`].
 */
hash: string, 
/**
 * What it is called.
 */
name: string, 
/**
 * Where its repository is fetched from, without credentials: by this a moved project finds its sessions.
 */
remote?: string, 
/**
 * The first commit of its repository, for the same.
 */
firstCommit?: string, 
/**
 * Where in the repository it lies, where it is only a part of it.
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
 * The id of the call, where it is known.
 */
callId?: string, };

/**
 * The `agent_config` of `session.json`: what made the conversation possible.
 */
export type Agent = { 
/**
 * The slash command that began it.
 */
command?: string, 
/**
 * `sha256:` and the hash of the command's text.
 */
systemPromptHash?: string, 
/**
 * The file that the text is in, where no client keeps it as a command.
 */
promptFile?: string, 
/**
 * The model.
 */
model?: string, 
/**
 * The tools it had.
 */
tools?: Array<string>, 
/**
 * Who serves the model: the `provider.type` of `metadata.json`.
 */
provider?: string, 
/**
 * The model's limit, in tokens.
 */
contextWindow?: number, 
/**
 * Where the provider is reached.
 */
baseUrl?: string, };

/**
 * Where an imported session comes from.
 */
export type Imported = { 
/**
 * The agent's name.
 */
agent: string, 
/**
 * The session's id there.
 */
sourceId: string, };

/**
 * Where a forked session comes from.
 */
export type Origin = { 
/**
 * The uuid of that session.
 */
session: string, 
/**
 * The last message that was taken over.
 */
messageId: string, };

/**
 * What contexts have for older messages: the fields of a kept summary. Without a `summary`, what was
 * learned of the conversation stands for them.
 */
export type Compaction = { 
/**
 * The messages.
 */
range?: SummaryRange, 
/**
 * What somebody wrote of them.
 */
summary?: SummaryText, 
/**
 * What the messages cost.
 */
originalTokens?: number, };

/**
 * The messages that a summary stands for.
 */
export type SummaryRange = { 
/**
 * The first one.
 */
startMessageId: string, 
/**
 * The last one.
 */
endMessageId: string, 
/**
 * The first one's place; a hint.
 */
startSeq?: number, 
/**
 * The last one's place; a hint.
 */
endSeq?: number, 
/**
 * How many they are.
 */
messageCount: number, 
/**
 * Where the line of the last one ends in the log; a hint.
 */
endByte?: number, };

/**
 * A summary as it is stored.
 */
export type SummaryText = { 
/**
 * What it says.
 */
content: string, 
/**
 * What it costs, by `o200k_base` or the estimate.
 */
tokens: number, 
/**
 * Who wrote it.
 */
model: string, };

/**
 * The fields that were edited, each with its new value; and the names of those that were taken out.
 */
export type Edited = { 
/**
 * The title.
 */
title?: string, 
/**
 * What sort of conversation it is.
 */
sessionType?: string, 
/**
 * Its name in its workspace.
 */
name?: string, 
/**
 * What it is about.
 */
summary?: string, 
/**
 * Whether it goes on. By hand it may become anything.
 */
status?: Status, 
/**
 * Whether lists have it.
 */
archived?: boolean, 
/**
 * The project it belongs to.
 */
project?: Project, 
/**
 * Who called it.
 */
parent?: Parent, 
/**
 * What made the conversation possible, as a whole.
 */
agent?: Agent, 
/**
 * Where it was imported from.
 */
imported?: Imported, 
/**
 * The summary was taken out.
 */
withoutSummary?: boolean, 
/**
 * The event that the document was written from, or an id of the document where it names none.
 */
asOf?: string, };

/**
 * What a session is; that it is archived stands beside it.
 */
export type Status = "active" | "paused" | "completed";

/**
 * What a tool did.
 */
export type ToolExecution = { 
/**
 * Names it.
 */
id: string, 
/**
 * A hint only: file order orders.
 */
seq?: number, 
/**
 * RFC 3339.
 */
timestamp?: string, 
/**
 * The assistant's message with the call.
 */
messageId?: string, 
/**
 * The call.
 */
toolCallId: string, 
/**
 * The tool's name.
 */
tool: string, 
/**
 * What it was called with.
 */
arguments: Record<string, unknown>, 
/**
 * How it went.
 */
result: ToolResult, 
/**
 * What its result costs.
 */
tokens?: number, 
/**
 * How long it took, milliseconds.
 */
durationMs?: number, };

/**
 * How it went; what it said stands in the tool's message.
 */
export type ToolResult = { 
/**
 * It did what was asked.
 */
success: boolean, 
/**
 * Why not.
 */
error?: string, 
/**
 * Of a command.
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
 * Why a context is as it is, without its texts.
 */
export type ContextReport = { 
/**
 * How the window was divided.
 */
budget: Budget, 
/**
 * By what it was counted.
 */
encoding: string, 
/**
 * What was assumed of the model, where nobody knows it.
 */
assumed?: Assumed, 
/**
 * The strategies that did not serve, in the order they were tried.
 */
rejected: Array<Rejection>, 
/**
 * Each message that was read, in order.
 */
messages: Array<Decision>, 
/**
 * Older messages that were not even read.
 */
unreadMessageCount: number, 
/**
 * How many bytes of the log were read for its messages, beside those that older ones were looked for in.
 */
bytesRead: number, 
/**
 * What the summary costs, where there is one.
 */
summaryTokens?: number, 
/**
 * How many lines of what was learned of the conversation the summary has no room for, if any.
 */
summaryLeftOut?: number, 
/**
 * What was brought back of older messages, where any match the newest user message.
 */
recall?: Recall, 
/**
 * Files that the provider does not take, in order: a line of text stands for each.
 */
unsentFiles?: Array<UnsentFile>, 
/**
 * What became of the reasoning of answers whose calls led to the newest results. That of others is not sent.
 */
reasoning?: Array<ReasoningReport>, 
/**
 * Where the context begins, where the conversation was compacted.
 */
compacted?: Begins, };

/**
 * How a window is divided, in tokens.
 */
export type Budget = { 
/**
 * The model's limit.
 */
modelContextWindow: number, 
/**
 * What the system prompt costs.
 */
systemPromptTokens: number, 
/**
 * What the tool definitions cost.
 */
toolDefinitionTokens: number, 
/**
 * Kept for the answer.
 */
reserveForResponse: number, 
/**
 * Left for the conversation.
 */
availableTokens: number, };

/**
 * What was assumed of a session's model.
 */
export type Assumed = { 
/**
 * The model that the session has on record, which is not known; absent where it has none.
 */
model?: string, 
/**
 * Its window.
 */
window?: number, 
/**
 * What counts for it.
 */
encoding?: Encoding, };

/**
 * By what a text was counted.
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
 * Why.
 */
why: string, };

/**
 * What became of one message.
 */
export type Decision = { 
/**
 * The message.
 */
id: string, 
/**
 * What became of it.
 */
action: Action, 
/**
 * By which rule.
 */
rule: string, 
/**
 * What it costs in the context; of one left out, what it would have cost at least.
 */
tokens: number, };

/**
 * What became of a message.
 */
export type Action = "kept" | "shortened" | "summarized" | "dropped";

/**
 * Where contexts of a compacted conversation begin.
 */
export type Begins = { 
/**
 * Behind this message.
 */
through: string, 
/**
 * Where its line ends in the log; nothing where the budget does not reach as far back.
 */
endByte?: number, };

/**
 * What was brought back of older messages, and by what.
 */
export type Recall = { 
/**
 * The words of the newest user message that were looked for, as they were written.
 */
words: Array<string>, 
/**
 * What the message that quotes them costs.
 */
tokens: number, 
/**
 * The messages that are quoted, the best first.
 */
messages: Array<Match>, 
/**
 * Those that came next and were left out, the best first: three at most.
 */
leftOut: Array<Match>, };

/**
 * A message that matches.
 */
export type Match = { 
/**
 * The message.
 */
id: string, 
/**
 * The words that it has, as they were asked.
 */
words: Array<string>, };

/**
 * A file that a context has and its provider does not get.
 */
export type UnsentFile = { 
/**
 * The message that has it.
 */
id: string, 
/**
 * What it is.
 */
mime: string, 
/**
 * Which limit it exceeds: `count`, `bytes`, `pixels`, `request`; or `type`, which the provider does not read.
 */
why: string, };

/**
 * What became of the reasoning of an answer whose calls led to the newest results.
 */
export type ReasoningReport = { 
/**
 * The message.
 */
id: string, 
/**
 * The reasoning is in the context.
 */
isSent: boolean, 
/**
 * Why: `open-loop`; or why not: `other-model`, `unfinished`, `unsigned`, `secret`, `unknown-provider`, or `shape`, which takes none.
 */
why: string, };

/**
 * What is known of a conversation: its task, files, decisions and blockers, open tasks and failed commands.
 */
export type SessionState = { 
/**
 * Where the project lies; empty where nobody said.
 */
projectPath: string, 
/**
 * What the first user message asks for; empty without one.
 */
originalTask: string, 
/**
 * Each file that was changed, once, the one touched last at the end.
 */
modifiedFiles: Array<ModifiedFile>, 
/**
 * What the assistant said last.
 */
currentStatus: string, 
/**
 * What stands in the way.
 */
blockers: Array<string>, 
/**
 * What was decided.
 */
keyDecisions: Array<string>, 
/**
 * What is still to be done, as the newest list of tasks has it.
 */
openTasks: Array<string>, 
/**
 * Each command that failed, once.
 */
failedCommands: Array<FailedCommand>, };

/**
 * A file that was changed.
 */
export type ModifiedFile = { 
/**
 * As the tool call named it.
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
 * How often it failed.
 */
failures: number, 
/**
 * Whether it passed when it was run last.
 */
hasPassed: boolean, };

/**
 * Something in a log that is not as it should be, and where.
 */
export type Problem = { 
/**
 * What it is, as a stable word.
 */
code: ProblemCode, 
/**
 * Where it begins, in bytes.
 */
start: number, 
/**
 * Where it ends.
 */
end: number, 
/**
 * What was expected, and what was found.
 */
message: string, };

/**
 * What a problem is.
 */
export type ProblemCode = "bad_value" | "bom" | "checksum" | "conflict_marker" | "damaged" | "duplicate_id" | "foreign" | "glued_lines" | "invalid_utf8" | "line_too_long" | "missing_parent" | "missing_blob" | "nul_run" | "too_deep" | "torn_tail";

/**
 * Something that an import leaves behind.
 */
export type Loss = { 
/**
 * What: `record:<type>`, or the path of a field.
 */
field: string, 
/**
 * How often.
 */
count: number, 
/**
 * Why.
 */
why: string, 
/**
 * Whether it was part of the talk: words, a call, a result, an image or a file. All else is bookkeeping of the client's.
 */
isTalk?: boolean, };

/**
 * What went wrong, as a stable word. Texts may change between versions, codes do not.
 */
export type CoreCode = "already_exists" | "ambiguous" | "batch_open" | "budget_too_small" | "conflict" | "damaged" | "empty_file" | "empty_message" | "git_busy" | "git_failed" | "git_missing" | "invalid_id" | "invalid_json" | "invalid_request" | "invalid_setting" | "invalid_transition" | "invalid_summary" | "invalid_vocabulary" | "internal" | "line_too_long" | "log_replaced" | "log_shrunk" | "newer_version" | "no_batch" | "no_counter" | "not_a_file" | "not_a_repository" | "not_found" | "not_in_workspace" | "observe_first" | "open_elsewhere" | "operation_reused" | "session_ignored" | "too_deep" | "unknown_format" | "unknown_parent";
