use super::*;

const ID: &str = "0190c0de-0000-7000-8000-000000000001";

fn message(id: &str, content: &str) -> String {
    line::seal(format!("{{\"v\":1,\"id\":\"{id}\",\"role\":\"user\",\"content\":{}}}", to_json(content)))
        + "\n"
}

fn pack_files(files: &[(&str, &[u8])]) -> String {
    let mut lines = Vec::from([head_line(ID, Placement::Home)]);
    for (name, bytes) in files {
        lines.extend(if LOGS.contains(name) {
            log_pieces(name, bytes)
        } else {
            [whole_piece(name, bytes)].into()
        });
    }
    lines.push(end_line(lines.len()));
    lines.join("\n") + "\n"
}

/// A page that carries a file, and the place of the file in it.
fn page_of(text: &str) -> (String, usize) {
    let head =
        ["<!DOCTYPE html>\n<title>&lt;script></title><p>talk</p>", "<script type=\"application/leftoff\">\n"];
    (head.concat() + text + "</script>\n<script>\"{}\"</script>\n", head.concat().len())
}

fn check(files: &[(&str, &[u8])]) {
    let text = pack_files(files);
    assert!(is_session_file(text.as_bytes()));
    let read = SessionFile::read(text.as_bytes()).expect("a session");
    assert_eq!(read.id, ID);
    assert_eq!(read.problems, []);
    let expected: BTreeMap<String, Vec<u8>> = files
        .iter()
        .filter(|(_, bytes)| !bytes.is_empty())
        .map(|(name, bytes)| ((*name).into(), (*bytes).into()))
        .collect();
    assert_eq!(read.files, expected);
    // Whatever carried it may write other line feeds.
    assert_eq!(SessionFile::read(text.replace('\n', "\r\n").as_bytes()).expect("a session"), read);
    let (page, _) = page_of(&text);
    assert!(is_session_file(page.as_bytes()));
    assert_eq!(SessionFile::read(page.as_bytes()).expect("a session"), read);
    for line in text.lines() {
        assert!(Fields::check(line).is_ok(), "{line}");
        assert!(!line.contains(is_steering) && !line.contains(char::is_control), "{line}");
    }
}

#[test]
fn every_byte_of_every_file_comes_back() {
    let deep =
        format!("{{\"v\":1,\"id\":\"d\",\"role\":\"user\",\"x\":{}{}}}\n", "[".repeat(126), "]".repeat(126));
    let blob = [0u8, 255, 10, 13, 0xc3];
    let name = format!("blobs/{}", sha256(&blob));
    let steering = "{\"a\":\"\u{9b}2J \u{202e} \u{2028}\"}\n";
    let odd: [&[u8]; 13] = [
        b"{\"a\":\"</script><b>\"}\n",
        b"{\"a\":\"<!-- <b> \\u003c\"}\n",
        b"{\"<SCRIPT\":1}\n{\"a\":\"<p>\"}\n",
        steering.as_bytes(),
        b"",
        b"\n\n",
        b"{\"a\":1}\r\n",
        b"no JSON\n",
        b"{\"a\":",
        b"\xff\xfe\n{}\n",
        b" {\"a\":1} \n",
        b"{} {}\n",
        deep.as_bytes(),
    ];
    for log in odd {
        check(&[
            (EVENTS, b"{\"v\":1}\n"),
            (MESSAGES, log),
            ("metadata.json", b"{\n  \"a\": \"</script>\"\n}\n"),
            (&*name, &blob),
        ]);
    }
}

#[test]
fn a_file_that_is_cut_anywhere_has_each_record_before_the_cut() {
    let log: String = (0..4).map(|place| message(&format!("m{place}"), "ü \"text\"")).collect();
    let text = pack_files(&[(MESSAGES, log.as_bytes())]);
    for cut in text.lines().next().expect("a line").len()..text.len() - 1 {
        let read = SessionFile::read(&text.as_bytes()[..cut]).expect("a session");
        let whole = text.as_bytes()[..cut].iter().filter(|byte| **byte == b'\n').count();
        let found = read.log(MESSAGES);
        assert!(log.as_bytes().starts_with(found), "{cut}");
        // A last line whose line feed alone is missing counts, too.
        assert!(message_ids(found).len() >= whole.saturating_sub(1).min(4), "{cut}");
        let is_told = read.problems.iter().any(|problem| problem.code == ProblemCode::TornTail);
        assert!(is_told || text.as_bytes()[cut..] == *b"\n", "{cut}");
    }
}

#[test]
fn a_damaged_line_costs_itself_and_what_stands_behind_a_torn_one_is_read() {
    let log: String = (0..3).map(|place| message(&format!("m{place}"), "text")).collect();
    let text = pack_files(&[(MESSAGES, log.as_bytes())]);
    let lines: Vec<&str> = text.lines().collect();
    let torn =
        [lines[0], "\n", &lines[1][..lines[1].len() - 9], lines[2], "\n", lines[3], "\n", lines[4], "\n"]
            .concat();
    let read = SessionFile::read(torn.as_bytes()).expect("a session");
    assert_eq!(message_ids(read.log(MESSAGES)), ["m1", "m2"].map(String::from).into());
    assert!(!read.problems.is_empty());
    let headless = lines[1..].join("\n");
    assert!(is_session_file(headless.as_bytes()));
    assert_eq!(SessionFile::read(headless.as_bytes()).map_err(|error| error.code), Err(Code::Damaged));
}

#[test]
fn what_is_damaged_in_a_page_is_told_with_its_place_there() {
    let text = pack_files(&[(MESSAGES, message("a", "text").as_bytes())]);
    let damaged = text.replacen("{\"file\"", "{'file'", 1);
    let (page, start) = page_of(&damaged);
    let place = (start + damaged.find("{'file'").expect("the line")) as u64;
    let read = SessionFile::read(page.as_bytes()).expect("a session");
    assert_eq!(read.problems[0].start, place);
    let (page, _) = page_of(&text);
    let cut = &page.as_bytes()[..start + text.len() - 3];
    let read = SessionFile::read(cut).expect("a session");
    assert_eq!(message_ids(read.log(MESSAGES)), ["a"].map(String::from).into());
    assert_eq!(read.problems.last().map(|problem| problem.code), Some(ProblemCode::TornTail));
    assert!(!is_session_file(b"<!doctype html>\n<script>{}</script>"));
}

#[test]
fn what_a_session_does_not_have_is_not_taken_out_of_a_file() {
    let text = pack_files(&[(MESSAGES, message("a", "text").as_bytes())]);
    let strange = text.replace(MESSAGES, "../messages.jsonl");
    assert_eq!(SessionFile::read(strange.as_bytes()).expect("a session").files, BTreeMap::new());
    let name = format!("blobs/{}", sha256(b"other"));
    let read = SessionFile::read(pack_files(&[(&*name, b"bytes")]).as_bytes()).expect("a session");
    assert_eq!((read.files.len(), read.problems[0].code), (0, ProblemCode::MissingBlob));
    let newer = text.replace("\"version\":1", "\"version\":2");
    assert_eq!(SessionFile::read(newer.as_bytes()).map_err(|error| error.code), Err(Code::NewerVersion));
}

#[test]
fn two_logs_that_went_on_apart_have_the_same_lines_once_each_has_the_others() {
    let [base, one, other] = [&["a", "b"][..], &["c"], &["d", "e"]]
        .map(|ids| ids.iter().map(|id| message(id, "text")).collect::<String>());
    let [here, there] = [[&*base, &*one].concat(), [&*base, &*other].concat()];
    let join =
        |log: &str, from: &str| [log.as_bytes(), &missing_lines(log.as_bytes(), from.as_bytes())].concat();
    let merged = [join(&here, &there), join(&there, &here)];
    assert_eq!(merged.each_ref().map(|log| log.len()), [base.len() + one.len() + other.len(); 2]);
    assert_eq!(message_ids(&merged[0]), message_ids(&merged[1]));
    assert_eq!(missing_lines(&merged[0], &merged[1]), b"");
    // A torn tail is sealed before others' lines come behind it, and none is taken over.
    let torn = format!("{here}{{\"v\":1,\"id\":\"x");
    assert_eq!(missing_lines(torn.as_bytes(), there.as_bytes()), format!("\n{other}").as_bytes());
    assert_eq!(missing_lines(there.as_bytes(), torn.as_bytes()), one.as_bytes());
}

#[test]
fn a_redacted_record_is_the_one_that_is_there() {
    let [base, redacted, new] =
        [("a", "secret"), ("a", "[redacted:own:0123abcd]"), ("b", "new")].map(|(id, text)| message(id, text));
    let missing = missing_lines(base.as_bytes(), [&*redacted, &new].concat().as_bytes());
    assert_eq!(missing, new.as_bytes());
    let before = line_piece(MESSAGES, base.as_bytes());
    let after =
        refit_piece(&before, before.replace("secret", "[redacted:own:0123abcd]"), &mut BTreeMap::new());
    assert_eq!(after, line_piece(MESSAGES, redacted.as_bytes()));
}
