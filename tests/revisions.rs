//! What was said anew: whatever is made of a conversation is made of what it says now, in whichever pieces it was read.
//! Tries: src/session/revisions.rs, src/session/folding.rs, src/session/folded_state.rs
#![allow(missing_docs)]
#![cfg(not(target_arch = "wasm32"))]

use crate::common;
use common::{call_message, learn, result_message, stamp, text_message};
use leftoff::record::message::{Message, Role};
use leftoff::session::checkpoint::Checkpoint;
use leftoff::session::handle::Session;
use leftoff::session::input_request::InputRequest;
use leftoff::session::message_reader::{HighestRevisions, MessageBatch, MessageReader};
use leftoff::state::FactKind;
use leftoff::tokens::Counting;
use proptest::prelude::*;

// A log, and whoever reads it as it grows.
#[derive(Default)]
struct World {
    log: Vec<u8>,
    sessions: Vec<Session>,
}

impl World {
    fn new() -> World {
        World { log: Vec::new(), sessions: vec![Session::new(None), Session::new(None)] }
    }

    fn put(&mut self, message: Message) {
        let chance = stamp(self.log.len() as u64);
        let writer = &mut self.sessions[0];
        let staged = writer.stage_messages(vec![message], &chance, Counting::Off).expect("a batch");
        let end = self.log.len() as u64;
        self.log.extend(staged.bytes);
        writer.commit_messages(end).expect("it grew by the batch");
    }

    // Others see it in pieces.
    fn look(&mut self, piece: usize) {
        let at = self.sessions[1].messages().observed_end() as usize;
        for piece in self.log[at..].chunks(piece) {
            let at = self.sessions[1].messages().observed_end();
            let found = self.sessions[1].messages().observe(piece, at).expect("the next");
            self.sessions[1].take_messages(found);
        }
    }

    fn learn(&mut self, whose: usize, piece: usize) {
        while let Some(span) = self.sessions[whose].unfolded_span() {
            let end = (span.end as usize).min(span.start as usize + piece);
            self.sessions[whose].fold_bytes(&self.log[span.start as usize..end]);
        }
    }

    // As another process opens it: from what was kept, and from the start where that is not enough.
    fn open_again(&mut self, whose: usize) {
        let kept = self.sessions[whose].checkpoint().map(Checkpoint::to_json);
        let kept = kept.map(|json| Checkpoint::from_json(json.as_bytes()).expect("a checkpoint"));
        self.sessions[whose] = Session::new(kept);
        self.look_at_all(whose);
        if self.sessions[whose].needs_whole_log() {
            self.sessions[whose] = Session::new(None);
            self.look_at_all(whose);
        }
    }

    fn look_at_all(&mut self, whose: usize) {
        let session = &mut self.sessions[whose];
        let at = session.messages().observed_end();
        let found = session.messages().observe(&self.log[at as usize..], at).expect("the next");
        session.take_messages(found);
    }

    // What it says now, each message a line of its own.
    fn plainly(&self) -> World {
        let mut revisions = HighestRevisions::new(0);
        revisions.feed(&self.log);
        let mut reader = MessageReader::oldest_first(0, revisions);
        reader.feed(&self.log);
        reader.finish();
        let mut plain = World::new();
        let mut place = 0;
        loop {
            let MessageBatch { messages, needs, .. } = reader.next_batch();
            for message in messages {
                plain.put(Message { id: format!("p{place}"), parent_id: None, rev: 0, ..message });
                place += 1;
            }
            let Some(InputRequest::Bytes { range }) = needs else { break };
            reader.take_bytes(range.start, &self.log[range.start as usize..range.end as usize]);
        }
        plain
    }

    fn check(&mut self) {
        let mut plain = self.plainly();
        learn(&mut plain.sessions[0], &plain.log);
        let expected = &plain.sessions[0];
        let called_by = |session: &Session| {
            let known = session.log_state();
            let title = session.metadata().title(&known.titles);
            (title, known.titles.first_line().map(String::from))
        };
        let whole = || {
            let mut whole = Session::new(None);
            let found = whole.messages().observe(&self.log, 0).expect("from its start");
            whole.take_messages(found);
            whole
        };
        for session in &mut self.sessions {
            if session.needs_whole_log() {
                *session = whole();
            }
            assert_eq!(session.log_state().revised, whole().log_state().revised);
            learn(session, &self.log);
            assert_eq!(session.source().state, expected.source().state);
            assert_eq!(called_by(session), called_by(expected));
            assert!(session.checkpoint().is_some(), "all was learned");
        }
    }
}

const SENTENCES: [&str; 6] = [
    "We must never use src/a.rs.",
    "Mend the door.",
    "/clear",
    "",
    "I decided to use b.rs because of c.",
    "x",
];

#[derive(Clone, Debug)]
enum Step {
    User { id: usize, rev: u64, text: usize },
    Answer { id: usize, rev: u64, text: usize, calls: usize, partial: bool },
    Result { call: usize, is_error: bool },
    Look { piece: usize },
    Learn { whose: usize, piece: usize },
    Open { whose: usize },
}

fn any_step() -> impl Strategy<Value = Step> {
    let text = 0..SENTENCES.len();
    prop_oneof![
        3 => (0..4usize, 0..4u64, text.clone()).prop_map(|(id, rev, text)| Step::User { id, rev, text }),
        4 => (4..7usize, 0..5u64, text, 0..4usize, any::<bool>())
            .prop_map(|(id, rev, text, calls, partial)| Step::Answer { id, rev, text, calls, partial }),
        // An answer of which calls are told one by one.
        3 => (7..9usize, 0..5u64)
            .prop_map(|(id, rev)| Step::Answer { id, rev, text: 1, calls: rev as usize, partial: false }),
        3 => (0..4usize, any::<bool>()).prop_map(|(call, is_error)| Step::Result { call, is_error }),
        1 => (1..300usize).prop_map(|piece| Step::Look { piece }),
        2 => (0..2usize, 1..300usize).prop_map(|(whose, piece)| Step::Learn { whose, piece }),
        1 => (0..2usize).prop_map(|whose| Step::Open { whose }),
    ]
}

const CALLS: [(&str, &str); 4] = [("c0", "Write"), ("c1", "Bash"), ("c2", "Edit"), ("c3", "TodoWrite")];

fn answer(id: &str, rev: u64, text: &str, calls: usize) -> Message {
    let mut answer = call_message(text, &CALLS[..calls]);
    for call in &mut answer.assistant.as_mut().expect("it is one").tool_calls {
        let arguments = r#"{"file_path":"/p/NAME","command":"make NAME","todos":[{"content":"NAME","status":"pending"}]}"#;
        call.arguments = arguments.replace("NAME", &call.id).as_str().into();
    }
    Message { id: id.into(), rev, ..answer }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_known_is_what_the_messages_say_now(steps in prop::collection::vec(any_step(), 1..40)) {
        let mut world = World::new();
        for step in steps {
            match step {
                Step::User { id, rev, text } => world.put(Message { id: format!("m{id}"), rev, ..text_message(Role::User, SENTENCES[text]) }),
                Step::Answer { id, rev, text, calls, partial } => {
                    world.put(Message { partial, ..answer(&format!("m{id}"), rev, SENTENCES[text], calls) });
                }
                Step::Result { call, is_error } => {
                    let (id, name) = CALLS[call];
                    let mut result = result_message(id, name, "it is #1");
                    result.tool.as_mut().expect("it is one").is_error = is_error;
                    world.put(result);
                }
                Step::Look { piece } => world.look(piece),
                Step::Learn { whose, piece } => world.learn(whose, piece),
                Step::Open { whose } => world.open_again(whose),
            }
        }
        world.look(1000);
        world.check();
    }
}

#[test]
fn an_answer_whose_calls_are_told_one_by_one_is_folded_as_it_grows() {
    let mut world = World::new();
    world.put(Message { id: "u".into(), ..text_message(Role::User, "Mend the door.") });
    world.learn(0, 1000);
    for calls in 0..4usize {
        world.put(answer("a", calls as u64, "I decided to use b.rs because of c.", calls));
        let unlearned = world.sessions[0].unfolded_span().expect("it is");
        assert!(unlearned.start > 0, "nothing is folded again");
        world.learn(0, 1000);
    }
    world.look(1000);
    world.check();
}

#[test]
fn a_streamed_answer_is_folded_again_from_its_own_line() {
    let mut world = World::new();
    world.put(Message { id: "u".into(), ..text_message(Role::User, "Mend the door.") });
    let start = world.log.len() as u64;
    for (rev, text) in
        ["I", "I decided", "I decided to use b.rs", "I decided to use b.rs because of c."].iter().enumerate()
    {
        let answer = Message { partial: rev < 3, ..answer("a", rev as u64, text, 0) };
        world.put(answer);
        let unlearned = world.sessions[0].unfolded_span().expect("it is");
        assert!(rev == 0 || unlearned.start == start, "{unlearned:?}");
        world.learn(0, 1000);
    }
    for calls in 1..3 {
        world.put(answer("a", 3 + calls, "I decided to use b.rs because of c.", calls as usize));
        assert!(world.sessions[0].unfolded_span().expect("it is").start >= start);
        world.learn(0, 1000);
    }
    world.look(1000);
    world.check();
}

#[test]
fn a_title_is_made_anew_of_no_more_than_the_first_messages() {
    let mut world = World::new();
    let user = |rev, text: &str| Message { id: "u".into(), rev, ..text_message(Role::User, text) };
    world.put(user(0, "Mend the door."));
    for _ in 0..200 {
        world.put(text_message(Role::User, &"and so on ".repeat(20)));
    }
    world.learn(0, 1000);
    world.put(user(1, "Mend the window."));
    let mut read = 0;
    let title = |session: &Session| session.metadata().title(&session.log_state().titles);
    while title(&world.sessions[0]) != "Mend the window." {
        let span = world.sessions[0].unfolded_span().expect("there is more");
        let end = (span.end as usize).min(span.start as usize + 1000);
        read += end - span.start as usize;
        world.sessions[0].fold_bytes(&world.log[span.start as usize..end]);
    }
    assert!(read < 2000, "{read} of {}", world.log.len());
    world.look(1000);
    world.check();
}

#[test]
fn which_messages_say_something_else_hangs_on_no_order() {
    let user = |id: &str, rev, text: &str| Message { id: id.into(), rev, ..text_message(Role::User, text) };
    let digest = |lines: &[(&str, u64, &str)]| {
        let mut world = World::new();
        lines.iter().for_each(|(id, rev, text)| world.put(user(id, *rev, text)));
        world.sessions[0].log_state().revised
    };
    let (first, other) = (("a", 0, "x"), ("b", 0, "y"));
    let both = digest(&[first, other, ("a", 1, "z"), ("b", 1, "z")]);
    assert_eq!(both, digest(&[first, other, ("b", 1, "z"), ("a", 1, "z")]));
    assert_eq!(
        digest(&[first, ("a", 2, "z"), ("a", 1, "y")]),
        digest(&[first, ("a", 1, "y"), ("a", 2, "z")])
    );
    assert_ne!(digest(&[first, ("a", 1, "z")]), digest(&[first, ("a", 2, "z")]));
    assert_ne!(both, digest(&[first, other, ("a", 1, "z")]));
    assert_eq!(digest(&[first, other]), 0);
}

#[test]
fn an_edit_leaves_nothing_of_what_was_said_before() {
    let mut world = World::new();
    let user = |rev, text: &str| Message { id: "u".into(), rev, ..text_message(Role::User, text) };
    world.put(user(0, "My password is hunter2, mend the door."));
    let title = |session: &Session| session.metadata().title(&session.log_state().titles);
    assert_eq!(title(&world.sessions[0]), "My password is hunter2, mend the door.");
    world.put(user(1, "Mend the door."));
    world.look(1000);
    for whose in 0..2 {
        world.learn(whose, 1000);
        assert_eq!(title(&world.sessions[whose]), "Mend the door.");
        let state = world.sessions[whose].source().state;
        let tasks: Vec<&str> = state.facts_of(FactKind::Task).map(|fact| fact.text.as_str()).collect();
        assert_eq!(tasks, ["Mend the door."]);
        let kept = world.sessions[whose].checkpoint().map(Checkpoint::to_json).expect("all was learned");
        assert!(
            kept.contains(r#""before":["My password is hunter2, mend the door.","Mend the door."]"#),
            "{kept}"
        );
    }
}
