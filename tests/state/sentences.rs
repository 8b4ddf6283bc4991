//! Which sentences are worth keeping, by what they begin with and by what they say.
//! Tries: src/state/sentences.rs, src/state/cues.rs

use super::fold_messages;
use crate::common::text_message;
use leftoff::record::message::Role;

fn weight(sentence: &str) -> u32 {
    let state = fold_messages(&[text_message(Role::User, sentence)]);
    let weight = state.facts().find(|fact| fact.kind.is_sentence()).map(|fact| fact.weight);
    weight.unwrap_or_default()
}

#[test]
fn what_speaks_against_a_sentence_is_how_it_begins_and_nothing_behind_that() {
    for (cue, plain) in [("hello", "yellow"), ("nice", "rice"), ("great", "wheat"), ("checking", "barley")] {
        let begins = |word: &str| weight(&format!("{word} and we must never use src/a.rs here."));
        let goes_on = |word: &str| weight(&format!("then we must never use src/a.rs here {word} again."));
        assert!(begins(cue) < begins(plain), "{cue}");
        assert_eq!(goes_on(cue), goes_on(plain), "{cue}");
        assert!(goes_on(cue) > 0, "{cue}");
    }
}
