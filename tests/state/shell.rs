//! Which files a command changes, as far as its words say so for sure.
//! Tries: src/state/shell.rs

use super::{call, check, failed_result, fold_messages, result_message, texts};
use leftoff::record::message::Message;
use leftoff::state::FactKind;

// Of commands that ended well, one after the other, by their files.
fn check_shell(commands: &[&str], expected: &[&str]) {
    let did = |(place, command): (usize, &&str)| {
        let arguments = format!("{{\"command\":{}}}", serde_json::to_string(command).unwrap());
        [call(&place.to_string(), "Bash", &arguments), result_message(&place.to_string(), "Bash", "")]
    };
    let all: Vec<Message> = commands.iter().enumerate().flat_map(did).collect();
    assert_eq!(texts(&fold_messages(&all), FactKind::is_file), expected, "{commands:?}");
}

#[test]
fn a_command_says_which_files_it_changes_where_its_words_are_plain() {
    check_shell(&["rm -v a.txt 'b c.txt'"], &["deleted a.txt", "deleted b c.txt"]);
    check_shell(
        &["git rm -q src/a.rs && git mv b.rs \"c.rs\""],
        &["deleted src/a.rs", "deleted b.rs", "created c.rs"],
    );
    check_shell(&["mv a.rs b.rs"], &["deleted a.rs", "created b.rs"]);
    check_shell(&["cp a.rs b.rs"], &["created b.rs"]);
    check_shell(&["echo \"$(date)\" > a.txt"], &[]);
    check_shell(
        &["echo \"$HOME, $USER\" > a.txt", "echo \"$HOME\" && rm b.txt"],
        &["created a.txt", "deleted b.txt"],
    );
    check_shell(&["rm \"$(cat list)\" \"b.rs\""], &[]);
    check_shell(
        &["sed -i -e 's/a/b/' x.rs y.rs", "sed -i 's/rm z/b/' ./z.rs"],
        &["modified x.rs", "modified y.rs", "modified z.rs"],
    );
    check_shell(&["echo a > x.txt", "echo b >>y.txt 2>&1"], &["created x.txt", "modified y.txt"]);
    check_shell(
        &["cat > made.sh <<'EOF'\nrm lost.txt\necho $(date) > no.txt\nEOF\nsh made.sh"],
        &["created made.sh"],
    );
    check_shell(
        &["date | tee -a log.txt | cat", "date | tee new.txt"],
        &["modified log.txt", "created new.txt"],
    );
    check_shell(&["echo a > x.txt", "rm -f x.txt never.txt"], &["deleted x.txt"]);
    check_shell(&["rm a.txt # and not b.txt\n"], &["deleted a.txt"]);
    // What a chain begins with has run, whatever came after it.
    let all = ["created a.txt", "created b.txt", "created c.txt"];
    check_shell(&["echo a > a.txt; echo b > b.txt; echo c > c.txt"], &all);
    check_shell(&["date | tee a.txt; date | tee b.txt; tee c.txt"], &all);
    check_shell(&["mv -f a.rs b.rs", "cp -v c.rs d.rs"], &["deleted a.rs", "created b.rs", "created d.rs"]);
    check_shell(&["tee a.txt <<EOF\nrm b.txt\nEOF"], &["created a.txt"]);
    check_shell(&["tee a.txt << 'END'\nrm b.txt\nEND\nrm c.txt"], &["created a.txt", "deleted c.txt"]);
}

#[test]
fn what_a_command_may_not_have_done_is_not_said() {
    for command in [
        "rm $FILE",
        "rm *.txt",
        "rm -r build",
        "rm a.txt; true",
        "test -e a && rm b.txt; true",
        "rm a.txt || true",
        "false && echo b > b.txt; date",
        "false && date | tee b.txt; date",
        "date; false && echo b > b.txt; date",
        "for f in a b; do rm $f; done",
        "if true; then rm a.txt; fi",
        "echo rm a.txt",
        "git commit -m \"$(cat <<'EOF'\nrm a.txt > b.txt\nEOF\n)\"",
        "git rm --cached a.txt",
        "ls | xargs rm",
        "mv a.txt folder",
        "mv a.txt b.txt c.txt",
        "mv -n a.txt b.txt",
        "cp -u a.txt b.txt",
        "sed -i -e 's/a/b/' -e 's/c/d/' x.txt",
        "sed 's/a/b/' x.txt",
        "sed -n -i.bak",
        "make > /dev/null 2>&1",
        "make 2>&1 >&2",
        "cat < a.txt",
        "cat <<< 'x > y'",
        "grep -c '>' a.txt",
        "echo \"a > b\" \\> c",
        "(rm a.txt)",
        "cd .. && rm a.txt",
        "cd a b; rm a.txt",
        "false && cd src; rm a.txt",
        "rm ../a.txt",
        "echo 'unclosed > x",
        "cat > x.txt <<EOF\nno end",
    ] {
        check_shell(&[command], &[]);
    }
    let failing = call("1", "Bash", r#"{"command":"rm a.txt && false"}"#);
    assert_eq!(
        texts(&fold_messages(&[failing, failed_result("1", "Bash", "Exit code 1")]), FactKind::is_file),
        [""; 0]
    );
}

#[test]
fn a_command_names_files_as_seen_from_where_it_runs() {
    check_shell(
        &["cd src && rm a.rs", "rm b.rs", "cd /p && rm c.rs", "rm d.rs"],
        &["deleted src/a.rs", "deleted src/b.rs", "deleted /p/c.rs", "deleted /p/d.rs"],
    );
    check_shell(&["cd src; date; echo a > a.rs"], &["created src/a.rs"]);
    check_shell(&["cd /p", "cd src", "rm a.rs", "rm b.rs"], &["deleted /p/src/a.rs", "deleted /p/src/b.rs"]);
    check_shell(&["cd $HOME", "cd src", "rm a.rs", "rm /p/b.rs"], &["deleted /p/b.rs"]);
    let inside = r#"{"cmd":"rm a.rs","workdir":"/p/src"}"#;
    check("exec_command", inside, "Process exited with code 0", &["deleted /p/src/a.rs"]);
    check("exec_command", inside, "Process exited with code 1", &["failed rm a.rs"]);
    let told = "ok\n[This command modified 2 files you've previously read: a.rs, src/b.rs. Call Read before editing.]";
    check("Bash", r#"{"command":"cargo fmt"}"#, told, &["modified a.rs", "modified src/b.rs"]);
    let moved = [
        call("1", "Bash", r#"{"command":"cd /tmp"}"#),
        result_message("1", "Bash", "Shell cwd was reset to /p"),
    ];
    let removed = [call("2", "Bash", r#"{"command":"rm a.rs"}"#), result_message("2", "Bash", "")];
    assert_eq!(texts(&fold_messages(&[moved, removed].concat()), FactKind::is_file), ["deleted /p/a.rs"]);
}

#[test]
fn a_script_that_a_shell_is_given_in_a_list_of_words_is_read_as_that_shell_reads_it() {
    for flag in ["-c", "-lc"] {
        let given = |script: &str| serde_json::json!({ "command": ["bash", flag, script] }).to_string();
        check("shell", &given("rm a.txt 'b c.txt'"), "", &["deleted a.txt", "deleted b c.txt"]);
        check("shell", &given("cd /p && rm a.txt"), "", &["deleted /p/a.txt"]);
        check("shell", &given("echo 'rm a.txt'"), "", &[]);
    }
    check("shell", r#"{"command":["rm","a.txt"]}"#, "", &["deleted a.txt"]);
}
