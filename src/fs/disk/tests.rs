//! The verbs, tried on a real disk.

use alloc::string::String;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use tempfile::TempDir;

use super::append::MAX_OPEN_FILES;
use super::*;

struct Scene {
    folder: TempDir,
    disk: Disk,
}

impl Scene {
    fn new() -> Scene {
        Scene { folder: TempDir::new().expect("a folder"), disk: Disk::default() }
    }

    fn tree_path(&self, path: &str) -> TreePath {
        TreePath { tree: Tree::restricted_to(self.folder.path().into()), path: path.into() }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn append(&mut self, path: &str, bytes: &[u8]) -> Result<u64, (String, Option<u64>)> {
        let at = self.tree_path(path);
        self.disk.append(&at, bytes, true, None).map_err(|failure| (failure.code, failure.written))
    }

    fn replace(&mut self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let at = self.tree_path(path);
        self.disk.replace(&at, bytes, None).map_err(|failure| failure.code)
    }

    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        self.disk.read(&self.tree_path(path), 0, None).map_err(|failure| failure.code)
    }
}

#[test]
fn what_is_appended_is_there_in_its_order() {
    let mut scene = Scene::new();
    assert_eq!(scene.append("a/b/log", b"one\n"), Ok(4));
    assert_eq!(scene.append("a/b/log", b"two\n"), Ok(8));
    assert_eq!(scene.read("a/b/log"), Ok(Some(b"one\ntwo\n".to_vec())));
    let range = scene.disk.read(&scene.tree_path("a/b/log"), 2, Some(6));
    assert_eq!(range.expect("read"), Some(b"e\ntw".to_vec()));
    assert_eq!(scene.disk.read(&scene.tree_path("a/b/log"), 9, Some(20)).expect("read"), Some(Vec::new()));
}

#[test]
fn without_a_tree_links_are_followed_and_folders_are_made() {
    let mut scene = Scene::new();
    fs::create_dir(scene.path("there")).expect("made");
    symlink(scene.path("there"), scene.path("link")).expect("linked");
    let mut replace = |path: &str| {
        let path = scene.folder.path().join(path).to_str().expect("Unicode").into();
        let at = TreePath { tree: Tree::of_disk(), path };
        scene.disk.replace(&at, b"x", None).map_err(|failure| failure.code)
    };
    assert_eq!(replace("link/a/b/file"), Ok(()));
    assert_eq!(replace("link/a/b/file/below"), Err("not_a_folder".into()));
    assert_eq!(fs::read(scene.path("there/a/b/file")).expect("there"), b"x");
    let mode = fs::metadata(scene.path("there/a/b")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "nobody else may read it");
}

#[test]
fn what_is_absent_is_no_failure() {
    let mut scene = Scene::new();
    scene.append("file", b"x").expect("appended");
    for path in ["no", "no/deeper", "file/below"] {
        assert_eq!(scene.read(path), Ok(None), "{path}");
        assert_eq!(scene.disk.stat(&scene.tree_path(path)).expect("looked"), None, "{path}");
        assert_eq!(scene.disk.list(&scene.tree_path(path), &[]).expect("listed"), None, "{path}");
        let at = scene.tree_path(path);
        scene.disk.remove(&at).expect("nothing to remove");
    }
    let code = scene.disk.list(&scene.tree_path("file"), &[]).map_err(|failure| failure.code);
    assert_eq!(code, Err("not_a_folder".into()));
}

#[test]
fn nobody_else_may_read_what_was_made() {
    let mut scene = Scene::new();
    scene.append("a/log", b"x").expect("appended");
    scene.replace("b/document", b"x").expect("replaced");
    let mode = |path: &str| fs::metadata(scene.path(path)).expect("there").permissions().mode() & 0o777;
    assert_eq!(["a", "b"].map(mode), [0o700; 2]);
    assert_eq!(["a/log", "b/document"].map(mode), [0o600; 2]);
}

#[test]
fn no_link_is_followed() {
    let mut scene = Scene::new();
    let outside = TempDir::new().expect("a folder");
    fs::write(outside.path().join("log"), "theirs").expect("written");
    symlink(outside.path(), scene.path("folder")).expect("linked");
    symlink(outside.path().join("log"), scene.path("file")).expect("linked");
    for path in ["folder/log", "file"] {
        assert_eq!(scene.read(path), Err("outside_store".into()), "{path}");
        assert_eq!(scene.append(path, b"x"), Err(("outside_store".into(), Some(0))), "{path}");
        assert_eq!(scene.replace(path, b"x"), Err("outside_store".into()), "{path}");
        let code = scene.disk.stat(&scene.tree_path(path)).map_err(|failure| failure.code);
        assert_eq!(code, Err("outside_store".into()), "{path}");
    }
    let listed = scene.disk.list(&scene.tree_path("folder"), &[]).map_err(|failure| failure.code);
    assert_eq!(listed, Err("outside_store".into()));
    // A link itself may be taken away, what it leads to not.
    let at = scene.tree_path("file");
    scene.disk.remove(&at).expect("removed");
    assert_eq!(scene.read("file"), Ok(None));
    assert_eq!(fs::read(outside.path().join("log")).expect("there"), b"theirs");
}

#[test]
fn no_path_leads_out() {
    let mut scene = Scene::new();
    for path in ["..", "../x", "a/../../x", "a//b", "/etc/passwd", ".", "a/./b", "a\0b"] {
        assert_eq!(scene.read(path), Err("outside_store".into()), "{path}");
        assert_eq!(scene.append(path, b"x"), Err(("outside_store".into(), Some(0))), "{path}");
    }
    let root = scene.tree_path("");
    let code = scene.disk.remove(&root).map_err(|failure| failure.code);
    assert_eq!(code, Err("outside_store".into()));
}

#[test]
fn a_file_that_was_put_in_its_place_is_appended_to() {
    let mut scene = Scene::new();
    scene.append("log", b"old\n").expect("appended");
    fs::rename(scene.path("log"), scene.path("away")).expect("renamed");
    assert_eq!(scene.append("log", b"new\n"), Ok(4));
    assert_eq!(scene.read("log"), Ok(Some(b"new\n".to_vec())));
    assert_eq!(scene.read("away"), Ok(Some(b"old\n".to_vec())));
}

#[test]
fn a_folder_that_is_gone_is_not_made_again() {
    let mut scene = Scene::new();
    let at = scene.tree_path("sessions/one/log");
    for _ in 0..2 {
        let failure = scene.disk.append(&at, b"x", false, Some("sessions/one")).expect_err("refused");
        assert_eq!((failure.code.as_str(), failure.written), ("not_found", Some(0)));
        let failure = scene.disk.replace(&at, b"x", Some("sessions/one")).expect_err("refused");
        assert_eq!(failure.code, "not_found");
        // Nor where only the folder above is there.
        fs::create_dir_all(scene.path("sessions")).expect("made");
    }
    assert!(!scene.path("sessions/one").exists());
    fs::create_dir_all(scene.path("sessions/one")).expect("made");
    scene.disk.append(&at, b"x", false, Some("sessions/one")).expect("appended");
}

#[test]
fn a_file_is_replaced_whole() {
    let mut scene = Scene::new();
    scene.replace("document", b"one").expect("replaced");
    let number = || fs::metadata(scene.path("document")).expect("there").ino();
    let before = number();
    scene.replace("document", b"two").expect("replaced");
    assert_eq!(scene.read("document"), Ok(Some(b"two".to_vec())));
    assert_ne!(fs::metadata(scene.path("document")).expect("there").ino(), before);
    let names: Vec<String> = scene
        .disk
        .list(&scene.tree_path(""), &[])
        .expect("listed")
        .expect("there")
        .into_iter()
        .map(|e| e.name)
        .collect();
    assert_eq!(names, ["document"]);
}

#[test]
fn what_cannot_be_replaced_stays_and_leaves_nothing_beside_it() {
    let mut scene = Scene::new();
    fs::create_dir_all(scene.path("document/inside")).expect("made");
    assert_eq!(scene.replace("document", b"x"), Err("not_a_file".into()));
    assert_eq!(fs::read_dir(scene.folder.path()).expect("there").count(), 1);
    assert_eq!(scene.append("document", b"x"), Err(("not_a_file".into(), Some(0))));
    assert_eq!(scene.read("document"), Err("not_a_file".into()));
}

#[test]
fn a_folder_is_removed_with_all_in_it() {
    let mut scene = Scene::new();
    scene.append("a/b/c/log", b"x").expect("appended");
    let outside = TempDir::new().expect("a folder");
    fs::write(outside.path().join("kept"), "x").expect("written");
    symlink(outside.path(), scene.path("a/b/link")).expect("linked");
    let at = scene.tree_path("a");
    scene.disk.remove(&at).expect("removed");
    assert!(!scene.path("a").exists() && outside.path().join("kept").exists());
    assert_eq!(scene.append("a/b/c/log", b"y"), Ok(1));
}

#[test]
fn names_are_sorted_as_javascript_sorts_them() {
    let scene = Scene::new();
    for name in ["\u{1f600}", "\u{fffd}", "b", "a"] {
        fs::write(scene.path(name), "").expect("written");
    }
    let entries = scene.disk.list(&scene.tree_path(""), &[]).expect("listed").expect("there");
    let names: Vec<String> = entries.into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["a", "b", "\u{1f600}", "\u{fffd}"]);
}

#[test]
fn more_files_are_appended_to_than_are_kept_open() {
    let mut scene = Scene::new();
    for round in 1..=2 {
        for number in 0..2 * MAX_OPEN_FILES {
            assert_eq!(scene.append(&format!("log-{number}"), b"x"), Ok(round));
        }
    }
    assert_eq!(scene.disk.open_files.len(), MAX_OPEN_FILES);
}

#[test]
fn a_place_is_taken_by_a_move_to_where_nothing_is() {
    let mut scene = Scene::new();
    for path in ["one/a", "two/a"] {
        scene.disk.replace(&scene.tree_path(path), b"x", None).expect("written");
    }
    let moved = |scene: &mut Scene, from: &str, to: &str| {
        scene.disk.rename(&scene.tree_path(from), &scene.tree_path(to)).map_err(|failure| failure.code)
    };
    assert_eq!(moved(&mut scene, "one", "new/one"), Ok(()));
    assert_eq!(moved(&mut scene, "two", "new/one"), Err("already_exists".into()));
    assert_eq!(moved(&mut scene, "one", "new/two"), Err("not_found".into()));
    let entries = scene.disk.list(&scene.tree_path("new"), &["a", "b"]).expect("listed").expect("there");
    let sizes: Vec<_> = entries[0].files.iter().flatten().map(|stat| stat.map(|stat| stat.size)).collect();
    assert_eq!(sizes, [Some(1), None]);
}

#[test]
fn nothing_is_moved_over_what_is_there() {
    let mut scene = Scene::new();
    scene.append("from/log", b"x").expect("appended");
    fs::create_dir(scene.path("empty")).expect("made");
    fs::write(scene.path("file"), "theirs").expect("written");
    let mut rename = |from: &str, to: &str| {
        let (from, to) = (scene.tree_path(from), scene.tree_path(to));
        scene.disk.rename(&from, &to).map_err(|failure| failure.code)
    };
    for to in ["empty", "file"] {
        assert_eq!(rename("from", to), Err("already_exists".into()));
        assert_eq!(rename("from/log", to), Err("already_exists".into()));
    }
    assert_eq!(rename("nothing", "new"), Err("not_found".into()));
    assert_eq!(rename("from", "from/below"), Err("invalid_path".into()));
    assert_eq!(rename("from", "a/b/to"), Ok(()));
    assert_eq!(rename("a/b/to/log", "a/log"), Ok(()));
    assert_eq!(scene.read("a/log"), Ok(Some(b"x".to_vec())));
    assert!(!scene.path("from").exists());
}

#[test]
fn a_log_whose_folder_was_moved_away_is_made_anew() {
    let mut scene = Scene::new();
    scene.append("one/log", b"x").expect("appended");
    let (from, to) = (scene.tree_path("one"), scene.tree_path("two"));
    scene.disk.rename(&from, &to).expect("moved");
    assert_eq!(scene.append("one/log", b"yy"), Ok(2));
    assert_eq!(scene.append("two/log", b"yy"), Ok(3));
}

#[test]
fn a_link_takes_the_place_of_a_link_alone() {
    let mut scene = Scene::new();
    let at = scene.tree_path("folder/current");
    for target in ["/one", "/two"] {
        scene.disk.link(&at, target).expect("linked");
        assert_eq!(fs::read_link(scene.path("folder/current")).expect("a link"), PathBuf::from(target));
    }
    assert_eq!(fs::read_dir(scene.path("folder")).expect("there").count(), 1);
    fs::remove_file(scene.path("folder/current")).expect("removed");
    fs::write(scene.path("folder/current"), "").expect("written");
    assert_eq!(scene.disk.link(&at, "/one").map_err(|failure| failure.code), Err("already_exists".into()));
}

#[test]
fn a_copy_is_whole_and_leaves_nothing_else_there() {
    let mut scene = Scene::new();
    let large: Vec<u8> = (0..9_000_000u32).map(|at| (at % 251) as u8).collect();
    fs::create_dir(scene.path("from")).expect("made");
    fs::write(scene.path("from/large"), &large).expect("written");
    fs::write(scene.path("from/small"), b"small").expect("written");
    let (from, to) = (scene.tree_path("from"), scene.tree_path("to"));
    assert_eq!(scene.disk.copy(&from, &to, false).expect("copied"), 9_000_005);
    let names = |path: &str| {
        let found = fs::read_dir(scene.folder.path().join(path)).expect("a folder");
        let mut names: Vec<_> = found.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("to"), ["large", "small"]);
    assert!(fs::read(scene.path("to/large")).expect("there") == large);
    // One that could not be put in its place is nowhere.
    fs::remove_file(scene.path("to/large")).expect("removed");
    fs::create_dir(scene.path("to/large")).expect("made");
    let (from, to) = (scene.tree_path("from/large"), scene.tree_path("to/large"));
    assert_eq!(
        scene.disk.copy(&from, &to, false).map_err(|failure| failure.code),
        Err("already_exists".into())
    );
    assert_eq!(names("to"), ["large", "small"]);
}
