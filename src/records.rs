//! What lies on disk, and what the core answers, as TypeScript sees it: `js/records.d.ts` is written from the types here, and kept fresh by this test.

use std::fs;
use std::path::Path;

use ts_rs::{Config, TS};

use crate::context::{Action, Assumed, Begins, Budget, Decision, Match, Recall, Rejection, Report};
use crate::error::Code;
#[cfg(feature = "interop")]
use crate::interop::Loss;
use crate::json::text::Text;
use crate::record::edited::Edited;
use crate::record::event::{
    Agent, Change, Compaction, Created, Event, Imported, Origin, OtherType, Parent, Project, Subject,
    SummaryRange, SummaryText,
};
use crate::record::message::{
    Assistant, Attachment, Message, Part, Reasoning, Role, Source, Tokens, Tool, ToolCall, Usage,
};
use crate::record::scan::{Problem, ProblemCode};
use crate::record::status::Status;
use crate::record::tool_execution::{ToolExecution, ToolResult};
use crate::session::documents::{metadata_json, session_json};
use crate::shapes::{ReasoningReport, Unsent};
use crate::state::{FailedCommand, ModifiedFile, SessionState};
use crate::tokens::Encoding;

const HEAD: &str = "// What leftoff keeps on disk, and what its core answers. Written from the types in src/ by\n\
    // `LEFTOFF_WRITE=1 cargo test --lib records`.\n";

pub(crate) fn declared<T: TS>(config: &Config) -> String {
    let docs = T::docs().unwrap_or_default();
    format!("\n{docs}export {}\n", T::decl(config))
}

fn records() -> String {
    let config = &Config::new().with_large_int("number");
    [
        Vec::from([String::from(HEAD)]),
        messages(config),
        events(config),
        metadata_json::declared(config),
        session_json::declared(config),
        answers(config),
    ]
    .concat()
    .concat()
}

fn messages(config: &Config) -> Vec<String> {
    Vec::from([
        declared::<Text>(config),
        declared::<Role>(config),
        declared::<Message>(config),
        declared::<Tokens>(config),
        declared::<Tool>(config),
        declared::<Assistant>(config),
        declared::<ToolCall>(config),
        declared::<Reasoning>(config),
        declared::<Usage>(config),
        declared::<Part>(config),
        declared::<Attachment>(config),
        declared::<Source>(config),
    ])
}

fn events(config: &Config) -> Vec<String> {
    Vec::from([
        declared::<Event>(config),
        declared::<Change>(config),
        declared::<Created>(config),
        declared::<Subject>(config),
        declared::<OtherType>(config),
        declared::<Project>(config),
        declared::<Parent>(config),
        declared::<Agent>(config),
        declared::<Imported>(config),
        declared::<Origin>(config),
        declared::<Compaction>(config),
        declared::<SummaryRange>(config),
        declared::<SummaryText>(config),
        declared::<Edited>(config),
        declared::<Status>(config),
        declared::<ToolExecution>(config),
        declared::<ToolResult>(config),
    ])
}

fn answers(config: &Config) -> Vec<String> {
    Vec::from([
        declared::<Report>(config),
        declared::<Budget>(config),
        declared::<Assumed>(config),
        declared::<Encoding>(config),
        declared::<Rejection>(config),
        declared::<Decision>(config),
        declared::<Action>(config),
        declared::<Begins>(config),
        declared::<Recall>(config),
        declared::<Match>(config),
        declared::<Unsent>(config),
        declared::<ReasoningReport>(config),
        declared::<SessionState<'_>>(config),
        declared::<ModifiedFile<'_>>(config),
        declared::<FailedCommand<'_>>(config),
        declared::<Problem>(config),
        declared::<ProblemCode>(config),
        #[cfg(feature = "interop")]
        declared::<Loss>(config),
        declared::<Code>(config),
    ])
}

#[test]
fn the_types_for_javascript_are_those_of_the_core() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("js/records.d.ts");
    if std::env::var_os("LEFTOFF_WRITE").is_some() {
        fs::write(&path, records()).expect("the source can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    // One of them is the reader's of agents.
    let is_whole = cfg!(feature = "interop");
    assert!(
        !is_whole || found == records(),
        "js/records.d.ts is stale; LEFTOFF_WRITE=1 cargo test --lib records"
    );
}
