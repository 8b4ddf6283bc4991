//! What of a transcript has a place in leftoff, and why the rest has none.

/// Every field that is taken over. A field in none of these, nor inside one of [`WHOLE`], is listed as lost.
pub const MAPPED: &[&str] = &[
    "user.type",
    "user.uuid",
    "user.parentUuid",
    "user.logicalParentUuid",
    "user.timestamp",
    "user.sessionId",
    "user.cwd",
    "user.gitBranch",
    "user.version",
    "user.isSidechain",
    "user.agentId",
    "user.isMeta",
    "user.isCompactSummary",
    "user.isVisibleInTranscriptOnly",
    "user.message",
    "user.message.type",
    "user.message.role",
    "user.message.content",
    "user.message.content[text]",
    "user.message.content[text].type",
    "user.message.content[text].text",
    "user.message.content[image]",
    "user.message.content[image].type",
    "user.message.content[image].source",
    "user.message.content[image].source.type",
    "user.message.content[image].source.media_type",
    "user.message.content[image].source.data",
    "user.message.content[document]",
    "user.message.content[document].type",
    "user.message.content[document].title",
    "user.message.content[document].source",
    "user.message.content[document].source.type",
    "user.message.content[document].source.media_type",
    "user.message.content[document].source.data",
    "user.message.content[tool_result]",
    "user.message.content[tool_result].type",
    "user.message.content[tool_result].tool_use_id",
    "user.message.content[tool_result].is_error",
    "user.message.content[tool_result].content",
    "user.message.content[tool_result].content[text]",
    "user.message.content[tool_result].content[text].type",
    "user.message.content[tool_result].content[text].text",
    "user.message.content[tool_result].content[image]",
    "user.message.content[tool_result].content[image].type",
    "user.message.content[tool_result].content[image].source",
    "user.message.content[tool_result].content[image].source.type",
    "user.message.content[tool_result].content[image].source.media_type",
    "user.message.content[tool_result].content[image].source.data",
    "assistant.type",
    "assistant.uuid",
    "assistant.parentUuid",
    "assistant.logicalParentUuid",
    "assistant.timestamp",
    "assistant.sessionId",
    "assistant.cwd",
    "assistant.gitBranch",
    "assistant.version",
    "assistant.isSidechain",
    "assistant.agentId",
    "assistant.isApiErrorMessage",
    "assistant.message",
    "assistant.message.id",
    "assistant.message.type",
    "assistant.message.role",
    "assistant.message.model",
    "assistant.message.stop_reason",
    "assistant.message.usage",
    "assistant.message.usage.input_tokens",
    "assistant.message.usage.output_tokens",
    "assistant.message.usage.cache_read_input_tokens",
    "assistant.message.usage.cache_creation_input_tokens",
    "assistant.message.usage.output_tokens_details",
    "assistant.message.usage.output_tokens_details.thinking_tokens",
    "assistant.message.content",
    "assistant.message.content[text]",
    "assistant.message.content[text].type",
    "assistant.message.content[text].text",
    "assistant.message.content[thinking]",
    "assistant.message.content[thinking].type",
    "assistant.message.content[thinking].thinking",
    "assistant.message.content[thinking].signature",
    "assistant.message.content[redacted_thinking]",
    "assistant.message.content[redacted_thinking].type",
    "assistant.message.content[redacted_thinking].data",
    "assistant.message.content[tool_use]",
    "assistant.message.content[tool_use].type",
    "assistant.message.content[tool_use].id",
    "assistant.message.content[tool_use].name",
    "assistant.message.content[tool_use].input",
    "attachment/queued_command.type",
    "attachment/queued_command.uuid",
    "attachment/queued_command.parentUuid",
    "attachment/queued_command.logicalParentUuid",
    "attachment/queued_command.timestamp",
    "attachment/queued_command.sessionId",
    "attachment/queued_command.cwd",
    "attachment/queued_command.gitBranch",
    "attachment/queued_command.version",
    "attachment/queued_command.isSidechain",
    "attachment/queued_command.agentId",
    "attachment/queued_command.attachment",
    "attachment/queued_command.attachment.type",
    "attachment/queued_command.attachment.commandMode",
    "attachment/queued_command.attachment.source_uuid",
    "attachment/queued_command.attachment.isMeta",
    "attachment/queued_command.attachment.prompt",
    "attachment/queued_command.attachment.prompt[text]",
    "attachment/queued_command.attachment.prompt[text].type",
    "attachment/queued_command.attachment.prompt[text].text",
    "attachment/queued_command.attachment.prompt[image]",
    "attachment/queued_command.attachment.prompt[image].type",
    "attachment/queued_command.attachment.prompt[image].source",
    "attachment/queued_command.attachment.prompt[image].source.type",
    "attachment/queued_command.attachment.prompt[image].source.media_type",
    "attachment/queued_command.attachment.prompt[image].source.data",
    "custom-title.type",
    "custom-title.sessionId",
    "custom-title.customTitle",
    "ai-title.type",
    "ai-title.sessionId",
    "ai-title.aiTitle",
    "summary.type",
    "summary.summary",
    "summary.leafUuid",
];

/// Fields that are taken over with all that is in them.
pub const WHOLE: &[&str] = &["assistant.message.content[tool_use].input"];

const NO_PLACE: &str = "leftoff has no place for it";

const REASONS: &[(&str, &str)] = &[
    ("user.toolUseResult", "the tool's result again, as Claude Code shows it"),
    ("user.agentId", "the agent speaks in the main conversation"),
    ("assistant.agentId", "the agent speaks in the main conversation"),
    ("user.todos", "the state of Claude Code's own list"),
    ("attachment/queued_command.attachment.timestamp", "the time at which it was delivered is kept"),
    ("attachment/queued_command.userType", "a detail of the client"),
    ("attachment/queued_command.entrypoint", "a detail of the client"),
    ("user.userType", "a detail of the client"),
    ("assistant.userType", "a detail of the client"),
    ("user.entrypoint", "a detail of the client"),
    ("assistant.entrypoint", "a detail of the client"),
    ("user.slug", "a name that Claude Code derives"),
    ("assistant.slug", "a name that Claude Code derives"),
    ("assistant.requestId", "an id of the provider's request"),
    ("user.promptId", "an id that only Claude Code can look up"),
    ("user.sourceToolAssistantUUID", "the call's id says it already"),
    ("user.sourceToolUseID", "the call's id says it already"),
    ("assistant.message.stop_sequence", "the stop reason is kept"),
    ("assistant.message.usage.cache_creation", "its sum is kept"),
];

/// Why a field that nobody took is lost.
pub(super) fn why_lost(path: &str) -> &'static str {
    REASONS.iter().find(|(known, _)| *known == path).map_or(NO_PLACE, |(_, why)| why)
}

/// The versions of Claude Code whose files the reader is tested with, oldest first.
pub const TESTED: &[&str] = &[
    "1.0.0", "1.0.24", "1.0.31", "1.0.51", "1.0.53", "1.0.55", "1.0.128", "1.9.0", "2.0.5", "2.0.28",
    "2.0.37", "2.0.42", "2.0.55", "2.1.80", "2.1.88", "2.1.92", "2.1.111", "2.1.112", "2.1.161", "2.1.197",
    "2.1.198", "2.1.207", "2.1.220", "2.1.287", "2.1.329",
];

/// Why a version is listed as a loss.
pub(super) const UNTESTED: &str = "read, but newer than the versions that the reader is tested with";

/// The numbers of a version that is newer than all in [`TESTED`].
pub(super) fn newer_than_tested(version: &str) -> Option<[u64; 3]> {
    let newest = TESTED.iter().filter_map(|tested| numbers(tested)).max();
    numbers(version).filter(|numbers| Some(*numbers) > newest)
}

fn numbers(version: &str) -> Option<[u64; 3]> {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    let mut parts = release.split('.').map(|part| part.parse().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}
