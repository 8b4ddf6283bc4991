//! The records on disk and the core's answers as TypeScript types: this test writes `js/records.d.ts` from the Rust
//! types and fails when it is stale.

use std::fs;
use std::path::Path;

use ts_rs::{Config, TS};

use crate::context::{
    Action, AssumedModel, Budget, CacheReport, CallCost, CompactionStart, Decision, FrameEnd, Match, Recall,
    Rejection, Report,
};
use crate::error::Code;
#[cfg(feature = "interop")]
use crate::interop::Loss;
use crate::json::text::Text;
use crate::record::document_edit::DocumentEdit;
use crate::record::event::{
    Agent, Change, Compaction, Event, ForkOrigin, ImportOrigin, OtherType, Parent, Project, SessionCreation,
    Subject, SummaryRange, SummaryText,
};
use crate::record::message::{
    Assistant, Attachment, LineOrigin, Message, OrderPart, Reasoning, Role, Tokens, Tool, ToolCall, Usage,
};
use crate::record::scan::{Problem, ProblemCode};
use crate::record::status::Status;
use crate::record::tool_execution::{ToolExecution, ToolResult};
use crate::session::documents::{metadata_json, session_json};
use crate::shapes::{ReasoningReport, UnsentFile};
use crate::state::{FailedCommand, ModifiedFile, SessionState};
use crate::tokens::Encoding;

const FILE_HEAD: &str = "// What leftoff keeps on disk, and what its core answers. Written from the types in src/ by\n\
    // `LEFTOFF_WRITE=1 cargo test --lib records`.\n";

pub(crate) fn render_declaration<T: TS>(config: &Config) -> String {
    let docs = T::docs().unwrap_or_default();
    format!("\n{docs}export {}\n", T::decl(config))
}

fn records() -> String {
    let config = &Config::new().with_large_int("number");
    [
        Vec::from([String::from(FILE_HEAD)]),
        messages(config),
        events(config),
        metadata_json::type_declarations(config),
        session_json::type_declarations(config),
        answers(config),
    ]
    .concat()
    .concat()
}

fn messages(config: &Config) -> Vec<String> {
    Vec::from([
        render_declaration::<Text>(config),
        render_declaration::<Role>(config),
        render_declaration::<Message>(config),
        render_declaration::<Tokens>(config),
        render_declaration::<Tool>(config),
        render_declaration::<Assistant>(config),
        render_declaration::<ToolCall>(config),
        render_declaration::<Reasoning>(config),
        render_declaration::<Usage>(config),
        render_declaration::<OrderPart>(config),
        render_declaration::<Attachment>(config),
        render_declaration::<LineOrigin>(config),
    ])
}

fn events(config: &Config) -> Vec<String> {
    Vec::from([
        render_declaration::<Event>(config),
        render_declaration::<Change>(config),
        render_declaration::<SessionCreation>(config),
        render_declaration::<Subject>(config),
        render_declaration::<OtherType>(config),
        render_declaration::<Project>(config),
        render_declaration::<Parent>(config),
        render_declaration::<Agent>(config),
        render_declaration::<ImportOrigin>(config),
        render_declaration::<ForkOrigin>(config),
        render_declaration::<Compaction>(config),
        render_declaration::<SummaryRange>(config),
        render_declaration::<SummaryText>(config),
        render_declaration::<DocumentEdit>(config),
        render_declaration::<Status>(config),
        render_declaration::<ToolExecution>(config),
        render_declaration::<ToolResult>(config),
    ])
}

fn answers(config: &Config) -> Vec<String> {
    Vec::from([
        render_declaration::<Report>(config),
        render_declaration::<Budget>(config),
        render_declaration::<AssumedModel>(config),
        render_declaration::<Encoding>(config),
        render_declaration::<Rejection>(config),
        render_declaration::<Decision>(config),
        render_declaration::<Action>(config),
        render_declaration::<CompactionStart>(config),
        render_declaration::<CacheReport>(config),
        render_declaration::<CallCost>(config),
        render_declaration::<FrameEnd>(config),
        render_declaration::<Recall>(config),
        render_declaration::<Match>(config),
        render_declaration::<UnsentFile>(config),
        render_declaration::<ReasoningReport>(config),
        render_declaration::<SessionState<'_>>(config),
        render_declaration::<ModifiedFile<'_>>(config),
        render_declaration::<FailedCommand<'_>>(config),
        render_declaration::<Problem>(config),
        render_declaration::<ProblemCode>(config),
        #[cfg(feature = "interop")]
        render_declaration::<Loss>(config),
        render_declaration::<Code>(config),
    ])
}

#[test]
fn the_types_for_javascript_are_those_of_the_core() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/records.d.ts");
    if std::env::var_os("LEFTOFF_WRITE").is_some() {
        fs::write(&path, records()).expect("the source can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    // One of these types exists only with the reader of agents' files.
    let is_whole = cfg!(feature = "interop");
    assert!(
        !is_whole || found == records(),
        "js/records.d.ts is stale; LEFTOFF_WRITE=1 cargo test --lib records"
    );
}
