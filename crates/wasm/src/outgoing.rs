//! Redaction of what leaves a store, for JavaScript, and the second module's operations on it. See
//! `operation::OutgoingRedactor`.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use crate::operation::{Operations, null_json, unknown_operation_error};
use crate::session_handle::SessionHandle;
use crate::{JsResult, parse_utf8, to_js_bytes, to_js_error, to_js_value};
use leftoff::json::text::to_json;
use leftoff::layout::{File, Root};
use leftoff::operation::{OutgoingGate, OutgoingRedactor, RedactMode, RedactedValue};

/// The redaction mode of a store and the secrets it has reported.
#[wasm_bindgen(js_name = Door)]
pub struct OutgoingGateHandle(Rc<OutgoingGate>);

#[wasm_bindgen(js_class = Door)]
impl OutgoingGateHandle {
    /// `redact`: the mode, JSON.
    #[wasm_bindgen(constructor)]
    pub fn new(redact: &str) -> JsResult<OutgoingGateHandle> {
        RedactMode::parse(redact)
            .map(|redact| OutgoingGateHandle(OutgoingGate::new(redact)))
            .map_err(to_js_error)
    }

    /// The secrets found since, `[{"rule","placeholder","count"}]`, JSON.
    #[wasm_bindgen(js_name = reportedSecrets)]
    pub fn reported_secrets(&self) -> Uint8Array {
        to_js_bytes(&to_json(&self.0.reported_secrets()))
    }
}

/// Redacts what leaves one session, or none.
#[wasm_bindgen(js_name = Leaving)]
pub struct OutgoingRedactorHandle(pub(super) Rc<OutgoingRedactor>);

#[wasm_bindgen(js_class = Leaving)]
impl OutgoingRedactorHandle {
    /// A redactor that knows no secrets yet.
    #[wasm_bindgen(constructor)]
    pub fn new(gate: &OutgoingGateHandle) -> OutgoingRedactorHandle {
        OutgoingRedactorHandle(OutgoingRedactor::new(&gate.0))
    }
}

#[wasm_bindgen(js_class = Operations)]
impl Operations {
    /// Begins `prepare`; `out` of a value, JSON; `take` of lines. `has_folder`: for the session whose files lie below a
    /// workspace without a name.
    #[wasm_bindgen(js_name = beginRedaction)]
    pub fn begin_redaction(
        &mut self,
        redactor: &OutgoingRedactorHandle,
        name: &str,
        request: Vec<u8>,
        has_folder: bool,
        now_ms: f64,
        entropy: &[u8],
    ) -> JsResult<Uint8Array> {
        let redactor = &redactor.0;
        let folder = has_folder.then(any_workspace);
        let running = match name {
            "prepare" => redactor.prepare(folder).map(null_json),
            "out" => {
                let json = String::from(parse_utf8(&request)?);
                redactor.redact_value(json, folder).map(|left: RedactedValue| left.to_json().into_bytes())
            }
            "take" => redactor.scan_lines(request).map(null_json),
            _ => return Err(to_js_value(&unknown_operation_error())),
        };
        self.start(running, now_ms, entropy)
    }

    /// Begins an operation whose answer leaves the session: `export`, in pages; `examine`, which answers what is wrong;
    /// and `sentContext`, whose request is `true` where the host is asked how the answer may leave.
    #[wasm_bindgen(js_name = beginOutgoing)]
    pub fn begin_outgoing(
        &mut self,
        handle: &SessionHandle,
        redactor: &OutgoingRedactorHandle,
        name: &str,
        request: &[u8],
        now_ms: f64,
        entropy: &[u8],
    ) -> JsResult<Uint8Array> {
        let request = String::from(parse_utf8(request)?);
        let running = match name {
            "export" => handle.0.export(request, &redactor.0).map(null_json),
            "examine" => handle.0.examine().map(String::into_bytes),
            "sentContext" => handle.0.sent_context(request == "true").map(String::into_bytes),
            _ => return Err(to_js_value(&unknown_operation_error())),
        };
        self.start(running, now_ms, entropy)
    }
}

fn any_workspace() -> File {
    File::new(Root::Workspace(String::new()), "")
}
