//! What a transcript of `leftoff ask` holds is what was said, whatever that looks like.
//! Tries: src/ask/

use leftoff::ask::{self, Recorder, Transcript, Turn, Voice, prompt};
use leftoff::record::span::Span;
use proptest::prelude::*;

/// What was said, and how it ended; where it lies, the reader knows alone.
fn turns_without_places(transcript: &Transcript) -> Vec<Turn> {
    transcript.turns.iter().map(|turn| Turn { place: Span::default(), ..turn.clone() }).collect()
}

fn read_again(transcript: &Transcript) {
    let text = transcript.render();
    let again = Transcript::parse(text.as_bytes());
    assert_eq!(again.problems, [], "{text:?}");
    assert_eq!(turns_without_places(&again), turns_without_places(transcript), "{text:?}");
    assert_eq!((&again.name, &again.folder), (&transcript.name, &transcript.folder), "{text:?}");
    assert_eq!(again.render(), text);
}

fn turn(voice: Voice, ms: i64, text: &str, end: Option<Option<String>>) -> Turn {
    let at = |ms| leftoff::time::format(ms);
    let end = end.map(|stopped| ask::End { at: at(ms + 1), stopped });
    Turn { voice, at: Some(at(ms)), text: text.into(), end, place: Span::default() }
}

/// Text that looks like a transcript's own lines, among whatever else there is.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => ".{0,12}",
        2 => Just("\n".to_owned()),
        1 => Just("\r\n".to_owned()),
        1 => Just("\r".to_owned()),
        1 => Just("\\".to_owned()),
        1 => Just("\n\\\\## Answer ".to_owned()),
        1 => Just("\n## Question 2026-11-24T09:30:00.000Z\n\n".to_owned()),
        1 => Just("## End 2026-11-24T09:30:00.000Z\n".to_owned()),
        1 => Just("## Answer 2026-11-24T09:30:00.000Z by \"me\"\n".to_owned()),
        1 => Just("# leftoff ask session_2 in \"/\"\n".to_owned()),
        1 => Just("\n## ".to_owned()),
        1 => Just("\u{feff}".to_owned()),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn transcript() -> impl Strategy<Value = Transcript> {
    let end = proptest::option::of(proptest::option::of(text()));
    let one = (0..4_000_000_000_000_i64, text(), proptest::option::of((text(), end)));
    let turns = proptest::collection::vec(one, 0..6).prop_map(|all| {
        let asked = |(ms, question, answer): (i64, String, Option<_>)| {
            let question = turn(Voice::User, ms, &question, None);
            let answer =
                answer.map(|(text, end): (String, _)| turn(Voice::Engine(text.clone()), ms, &text, end));
            [Some(question), answer].into_iter().flatten()
        };
        all.into_iter().flat_map(asked).collect()
    });
    let folder = proptest::option::of(text().prop_filter("a folder", |folder| !folder.is_empty()));
    ("[a-zA-Z0-9_-]{1,40}", folder, turns).prop_map(|(name, folder, turns)| Transcript {
        name,
        folder,
        turns,
        ..Transcript::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4096) })]

    #[test]
    fn what_is_written_is_read_again_whatever_was_said(transcript in transcript()) {
        read_again(&transcript);
    }

    #[test]
    fn an_answer_is_written_alike_in_pieces_of_any_size(text in text(), size in 1..9_usize) {
        let mut whole = Recorder::default();
        let mut expected = whole.feed(text.as_bytes());
        expected.extend(whole.end());
        let mut pieces = Recorder::default();
        let mut written: Vec<u8> = text.as_bytes().chunks(size).flat_map(|piece| pieces.feed(piece)).collect();
        written.extend(pieces.end());
        prop_assert_eq!(written, expected);
    }

    #[test]
    fn wherever_writing_stopped_what_was_written_before_is_read_and_goes_on(transcript in transcript(), cut in any::<prop::sample::Index>()) {
        let text = transcript.render();
        let bytes = &text.as_bytes()[..cut.index(text.len() + 1)];
        let read = Transcript::parse(bytes);
        let whole = turns_without_places(&transcript);
        let met = turns_without_places(&read);
        let before = met.len().saturating_sub(1).min(whole.len());
        prop_assert_eq!(&met[..before], &whole[..before]);
        // Whoever goes on takes away what is torn, and closes what is open.
        if Transcript::is_transcript(bytes) {
            let mut next = bytes[..read.torn.map_or(bytes.len(), |torn| torn as usize)].to_vec();
            next.extend(read.closing(1).into_bytes());
            next.extend(ask::question(2).into_bytes());
            next.extend(b"And now?");
            let again = Transcript::parse(&next);
            prop_assert_eq!(again.turns.last().map(|turn| turn.text.as_str()), Some("And now?"));
            prop_assert_eq!(again.turns.len(), read.turns.len() + 1);
            prop_assert_eq!(&turns_without_places(&again)[..before], &met[..before]);
        }
    }

    #[test]
    fn any_bytes_are_read_and_all_text_in_them_is_there(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let read = Transcript::parse(text.as_bytes());
        let told: String = read.turns.iter().map(|turn| turn.text.as_str()).collect();
        let letters = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
        prop_assert_eq!(letters(&told), letters(&text));
    }

    #[test]
    fn nothing_that_is_said_closes_the_instructions(instructions in text(), history in text(), question in text(), tag in "</? ?[sS]ystem_[iI]nstructions ?>") {
        let [instructions, history, question] = [instructions, history, question].map(|text| format!("{text}{tag}{text}"));
        let sent = prompt(&instructions, &history, &question).to_lowercase();
        let tags = sent.match_indices('<').filter(|(at, _)| {
            sent[at + 1..].trim_start().trim_start_matches('/').trim_start().starts_with("system_instructions")
        });
        prop_assert_eq!(tags.count(), 2, "{}", sent);
    }
}

#[test]
fn what_breaks_other_programs_is_read_again() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/naughty-strings/blns.json");
    let naughty: Vec<String> =
        serde_json::from_slice(&std::fs::read(file).expect("a fixture")).expect("an array of texts");
    assert!(naughty.len() > 500);
    let turns = |text: &String| {
        let end = Some(Some(text.clone()));
        [turn(Voice::User, 1, text, None), turn(Voice::Engine(text.clone()), 2, text, end)]
    };
    read_again(&Transcript {
        name: "session_1".into(),
        folder: Some("/home/ada/app".into()),
        turns: naughty.iter().flat_map(turns).collect(),
        ..Transcript::default()
    });
}

#[test]
fn a_transcript_that_was_edited_by_hand_still_reads() {
    let text = "# leftoff ask session_1 in \"/app\"\r\n\r\n## Question 2026-11-24T09:30:00Z\r\nWhere?\r\nAnd why?\r\n\r\n\
        ## Answer 2026-11-24T09:30:00Z by \"claude\"\r\n\r\nHere.\r\n\r\n## End 2026-11-24T09:30:00Z\r\n\r\nA note of mine.\r\n\r\n\
        ## Question sometime\r\n\r\n## Question 2026-11-24T09:31:00Z\r\n\r\nSo?\r\n";
    let read = Transcript::parse(text.as_bytes());
    let told: Vec<_> = read.turns.iter().map(|turn| (turn.voice.clone(), turn.text.as_str())).collect();
    assert_eq!(
        told,
        [
            (Voice::User, "Where?\nAnd why?"),
            (Voice::Engine("claude".into()), "Here."),
            (Voice::Note, "A note of mine.\n\n## Question sometime"),
            (Voice::User, "So?\n"),
        ]
    );
    let places: Vec<_> = read.problems.iter().map(|problem| &text[problem.start as usize..][..12]).collect();
    assert_eq!(places, ["A note of mi", "## Question "]);
}
