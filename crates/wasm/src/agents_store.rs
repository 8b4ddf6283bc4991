//! The second module's store, for JavaScript: for what is done now and then. What is open in the first module counts as
//! open in another process.

use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::counter::Counter;
use crate::operation::{Operations, Running, null_json, unknown_operation_error};
use crate::outgoing::OutgoingRedactorHandle;
use crate::store::{StoreHandle, parse_placement, session_place_json};
use crate::{JsResult, parse_stamp, to_js_error, to_js_value};
use leftoff::operation::{ImportableList, LiveRecording};
use leftoff::session::usage::UsageTally;
use leftoff::time::Stamp;

#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// Begins an operation, as `beginAt` of the first module does, but its answer is `{"answer","notices"}`, with the
    /// notices that the first module is to take over; `counter`: counts what is stored, where it is counted.
    #[wasm_bindgen(js_name = beginBeside)]
    #[allow(clippy::too_many_arguments, reason = "each crosses as it is")]
    pub fn begin_beside(
        &mut self,
        store: &StoreHandle,
        name: &str,
        words: Vec<String>,
        counter: &Counter,
        count_tokens: bool,
        now_ms: f64,
        offset: i32,
        entropy: &[u8],
    ) -> JsResult<Uint8Array> {
        let store = &store.0;
        let counts = counter.counts(count_tokens);
        let mut words = words.into_iter();
        let mut word = || words.next().unwrap_or_default();
        let running: Running = match name {
            "fork" => {
                let of = store
                    .unopened_session_at(&word(), parse_placement(&word()), &word())
                    .map_err(to_js_error)?;
                store.fork_released(of, word(), counts).map(session_place_json)
            }
            "info" => {
                let of = store
                    .unopened_session_at(&word(), parse_placement(&word()), &word())
                    .map_err(to_js_error)?;
                store.info(&of).map(String::into_bytes)
            }
            "importFile" => store.import_file(word(), counts).map(String::into_bytes),
            "importFiles" => store.import_files(word(), counts).map(String::into_bytes),
            "record" => store.record(word(), counts).map(String::into_bytes),
            "createFromSource" => {
                store.create_from_source(word()).map(|id| leftoff::json::text::to_json(&id).into_bytes())
            }
            "recordMessage" => store
                .record_message(word(), word(), counts)
                .map(|count| leftoff::json::text::to_json(&count).into_bytes()),
            "closeRecording" => LiveRecording::close(store, word()).map(null_json),
            "writeForAgent" => store.write_for_agent(word()).map(String::into_bytes),
            "ofSource" => {
                store.find_by_source(word()).map(|id| leftoff::json::text::to_json(&id).into_bytes())
            }
            "saveOutput" => store.save_output(word()).map(String::into_bytes),
            "loadOutput" => store
                .load_output(word())
                .map(|json| if json.is_empty() { b"null".into() } else { json.into_bytes() }),
            "outputs" => store.outputs(word()).map(String::into_bytes),
            "clearOutputs" => {
                store.clear_outputs(word()).map(|count| leftoff::json::text::to_json(&count).into_bytes())
            }
            "outputMenu" => store.output_menu(word()).map(String::into_bytes),
            "outputPrompt" => store.output_prompt(word()).map(String::into_bytes),
            "close" => store.close().map(null_json),
            "doctor" => store.doctor(word()).map(String::into_bytes),
            "commit" => store.commit(word(), parse_placement(&word()), word()).map(String::into_bytes),
            "forgetWords" => store.forget_words(word(), parse_placement(&word())).map(null_json),
            "writeSetting" => {
                let (key, value) = (word(), Some(word()).filter(|value| !value.is_empty()));
                store.setup().write_setting(key, value, word() == "true").map(null_json)
            }
            "trashed" => store.list_trash().map(String::into_bytes),
            "restore" => store.restore(word()).map(String::into_bytes),
            "mend" => store.mend(word(), parse_placement(&word())).map(String::into_bytes),
            _ => return Err(to_js_value(&unknown_operation_error())),
        };
        let stamp = Stamp { offset_minutes: offset, ..parse_stamp(now_ms, entropy)? };
        self.start_with_notices(store, running, stamp)
    }

    /// Begins an operation whose answer is redacted: `search` and `searchIn`, in pages, `recall`, `usage`, `list` and
    /// `listImportable`.
    #[wasm_bindgen(js_name = passBeside)]
    #[allow(clippy::too_many_arguments, reason = "each crosses as it is")]
    pub fn pass_beside(
        &mut self,
        store: &StoreHandle,
        redactor: &OutgoingRedactorHandle,
        name: &str,
        words: Vec<String>,
        now_ms: f64,
        offset: i32,
        entropy: &[u8],
    ) -> JsResult<Uint8Array> {
        let store = &store.0;
        let mut words = words.into_iter();
        let mut word = || words.next().unwrap_or_default();
        let running: Running = match name {
            "list" => store.list_outgoing(word(), &redactor.0).map(String::into_bytes),
            "listImportable" => ImportableList::of_store(store, word(), &redactor.0).map(String::into_bytes),
            "newestMessages" => {
                store.newest_messages(word(), parse_placement(&word()), &redactor.0).map(null_json)
            }
            "search" => store.search(word(), word(), &redactor.0).map(null_json),
            "searchIn" => store.search_in(word(), word(), word(), &redactor.0).map(null_json),
            "recall" => store.recall(word(), word(), &redactor.0).map(String::into_bytes),
            "turn" => store.turn(word(), word(), &redactor.0).map(String::into_bytes),
            "usage" => UsageTally::of_store(store, word(), &redactor.0).map(String::into_bytes),
            _ => return Err(to_js_value(&unknown_operation_error())),
        };
        let stamp = Stamp { offset_minutes: offset, ..parse_stamp(now_ms, entropy)? };
        self.start_with_notices(store, running, stamp)
    }
}
