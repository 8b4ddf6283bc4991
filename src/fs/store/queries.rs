//! Lists sessions, searches them, and recalls messages for a prompt.

use alloc::string::String;

use super::super::helpers::Helpers;
use super::super::pages::Pages;
use super::super::request::{with_embeds, with_fields};
use super::Store;
use crate::json::text::to_json;
use crate::layout::Placement;
use crate::operation::{OutgoingRedactor, Trouble};
use crate::resume::session_match;
use crate::session::usage::UsageTally;

impl Store {
    /// Lists sessions, last active first, the project's or all: `{"all","type","archived","limit","sort", …}`, all
    /// optional. Answer: a JSON array.
    ///
    /// # Errors
    /// `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.create(r#"{"title":"The parser"}"#)?;
    /// assert!(store.list(r#"{"limit":10}"#)?.contains(r#""title":"The parser""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self, request: &str) -> Result<String, Trouble> {
        let redactor = OutgoingRedactor::new(&self.0.gate);
        self.drive(self.0.core.list_outgoing(request.into(), &redactor))
    }

    /// Finds the listed sessions that words may mean: those with the words in title or summary, best first; else those
    /// that resemble them. The request is that of [`Store::list`].
    ///
    /// # Errors
    /// What [`Store::list`] refuses.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.create(r#"{"title":"The parser"}"#)?;
    /// assert!(store.find("prser", "{}")?.contains("The parser"));
    /// assert_eq!(store.find("cooking", "{}")?, "[]");
    /// # Ok(())
    /// # }
    /// ```
    pub fn find(&self, words: &str, request: &str) -> Result<String, Trouble> {
        Ok(session_match::filter_sessions(words, &self.list(request)?)?)
    }

    /// Searches messages for a question or words: the best session first, and of each its best messages. Each page is
    /// an array of `{"session","id","role","timestamp","excerpt","found","words","missing","nowhere"}`; without an id
    /// it is the title that has the words, `missing` are those that it lacks, `nowhere` those that nothing has. The
    /// request is that of [`Store::list`], with `role`, and `numbers`, with which each message has its `number` in the
    /// session; `limit` is how many sessions at most, `since` and `until` when it was said. Words in double quotes must
    /// occur exactly so; with `regex` the question is a regular expression.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// store.create("{}")?.append(r#"{"role":"user","content":"Rename the parser."}"#, Default::default())?;
    /// let found = store.search("where were parsers renamed?", "{}", Default::default())?.collect::<Result<Vec<_>, _>>()?;
    /// assert!(found[0].contains(r#"{"text":"parser","isHit":true}"#) && found[0].contains(r#""found":"all""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn search<'a>(
        &self,
        question: &str,
        request: &str,
        helpers: Helpers<'a>,
    ) -> Result<Pages<'a>, Trouble> {
        self.0.host.reject_ended()?;
        let redactor = OutgoingRedactor::new(&self.0.gate);
        let request = with_embeds(request, &helpers)?;
        Ok(Pages::new(&self.0.host, self.0.core.search(question.into(), request, &redactor), helpers))
    }

    /// Reads the messages of a session that [`Store::list`] gave, newest first, redacted, in pages of a JSON array
    /// each. The session is not opened, and nothing of it changes.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let session = store.create("{}")?;
    /// session.append(r#"{"role":"user","content":"Rename the parser."}"#, Default::default())?;
    /// let path = session.path().into_os_string().into_string().expect("Unicode");
    /// let newest = store.newest_messages(&path, session.placement())?.next().expect("a page")?;
    /// assert!(newest.contains("Rename the parser."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn newest_messages(&self, path: &str, placement: Placement) -> Result<Pages<'static>, Trouble> {
        self.0.host.reject_ended()?;
        let redactor = OutgoingRedactor::new(&self.0.gate);
        let newest = self.0.core.newest_messages(path.into(), placement, &redactor);
        Ok(Pages::new(&self.0.host, newest, Helpers::default()))
    }

    /// Quotes what other sessions say on a question, as a block for a model: `{"maxTokens","maxBytes","project","all",
    /// "exclude","encoding","model"}`, all optional. Searches the store's project, unless `project` names the folder of
    /// another one, or `all` is set; in at most 800 tokens unless `maxTokens` says another number; without the sessions
    /// and messages whose ids `exclude` has. Answer:
    /// `{"text","tokens","encoding","words","sources":[{"session","title","agent","timestamp", "messages"}]}`, JSON;
    /// the text is empty where nothing matches.
    ///
    /// # Errors
    /// `invalid_request`; `no_counter` for an encoding that is not known; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let said = r#"{"role":"assistant","content":"We pinned croniter: version 2 drops Python 3.8."}"#;
    /// store.create(r#"{"title":"Croniter"}"#)?.append(said, Default::default())?;
    /// let known = store.recall("why did we pin croniter?", r#"{"maxTokens":200}"#, Default::default())?;
    /// assert!(known.contains("version 2 drops Python 3.8") && known.contains(r#""title":"Croniter""#));
    /// assert!(store.recall("go on", "{}", Default::default())?.contains(r#""text":"""#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn recall(&self, question: &str, request: &str, mut helpers: Helpers<'_>) -> Result<String, Trouble> {
        let redactor = OutgoingRedactor::new(&self.0.gate);
        let request = with_embeds(request, &helpers)?;
        self.drive_with(self.0.core.recall(question.into(), request, &redactor), &mut helpers)
    }

    /// Sums the model calls of sessions, sub-agents' and archived ones too: tokens as the providers counted them, and
    /// their cost by leftoff's list of prices. A call counts once, whatever forks have a copy of it. The request is
    /// `{"by","all","folder","session","agent","since","until"}`, all optional: `by` has some of `"day"`, `"session"`, `"project"`,
    /// `"agent"` and `"model"`. Answer: `{"rows":[{"day","session","project","agent","model","calls","usage","cost",
    /// "unpriced"}],"total","listedOn","unpriced"}`, JSON; costs are US dollars.
    ///
    /// # Errors
    /// `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let said = r#"{"role":"assistant","content":"Done.","assistant":{"model":"gpt-4o","usage":{"input":1000,"output":200}}}"#;
    /// store.create("{}")?.append(said, Default::default())?;
    /// assert!(store.usage(r#"{"by":["model"]}"#)?.contains(r#""cost":0.0045"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn usage(&self, request: &str) -> Result<String, Trouble> {
        let changes = self.0.host.clock.offset_changes();
        let offsets = (!changes.is_empty()).then(|| to_json(&changes));
        let redactor = OutgoingRedactor::new(&self.0.gate);
        let request = with_fields(request, &[("offsets", offsets)])?;
        self.drive(UsageTally::of_store(&self.0.core, request, &redactor))
    }

    /// Tells a client's hook what to say to the model at a turn. The conversation is named as the client names it, by
    /// the path of its record mostly. The request is `{"prompt","session","hasForgotten"}`, all optional: what was
    /// typed, the id of the conversation's session in the store, and whether the client has just forgotten most of it.
    /// Answer: `{"recalled","wantsStop","offersSave"}`, JSON: what other sessions say on the prompt, as the setting
    /// `recall` wants it, within 1,500 bytes, and nothing twice before the client has forgotten it; whether the user
    /// seems to stop; and whether to offer a save, once, after 40 turns without one.
    ///
    /// # Errors
    /// `invalid_request`; those of a storage.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// let store = leftoff::fs::Store::open(home.path())?;
    /// let told = store.turn("a conversation", r#"{"prompt":"let's call it a day"}"#)?;
    /// assert_eq!(told, r#"{"recalled":"","wantsStop":true,"offersSave":false}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn turn(&self, conversation: &str, request: &str) -> Result<String, Trouble> {
        let redactor = OutgoingRedactor::new(&self.0.gate);
        let turn = self.0.core.turn(conversation.into(), request.into(), &redactor);
        self.drive_with(turn, &mut Helpers::default())
    }
}
