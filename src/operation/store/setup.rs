//! The setup: what a host knows of the store that it opens, and display paths for what lies there.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::error::Error;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{
    CONVERSATIONS, File, Placement, Root, SESSION_FOLDER, SESSION_PREFIX, SessionLocation, projects,
};

/// What a host knows. Paths are absolute, and as displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// The store's own folder.
    pub home: String,
    /// The project's folder, without links.
    pub project: String,
    /// The same path in Unicode's normalization form C, by which a project is known.
    pub normal_project: String,
    /// The folder that has `conversations/`, if new sessions are to begin there.
    pub workspace: Option<String>,
    /// The user's home folder; empty where it is not known.
    pub user: String,
    /// Milliseconds without activity after which a session is idle.
    pub idle_ms: i64,
    /// The separator of names in a path: `/`, on Windows `\`.
    pub separator: String,
    /// Secrets in outgoing text are replaced; then what is derived from logs has none of those that are found.
    pub redacts: bool,
}

impl Setup {
    /// Reads `{"home","project","normalProject","workspace","user","idleMs","separator","redacts","countTokens"}`;
    /// `workspace`, `redacts` and `countTokens`, which is for [`CountingMode`](crate::operation::CountingMode), are
    /// optional, and `user` is empty where it is not known.
    ///
    /// # Errors
    /// `invalid_request`, naming the field.
    pub fn from_json(json: &str) -> Result<Setup, Error> {
        let known =
            "home, project, normalProject, workspace, user, idleMs, separator, redacts or countTokens";
        let (mut fields, bad) = (request::parse(json, known)?, &mut Vec::new());
        let idle_ms = fields.take("idleMs", bad);
        let redacts = fields.take("redacts", bad).unwrap_or_default();
        fields.take::<bool>("countTokens", bad);
        let mut text = |key| fields.take::<String>(key, bad);
        let (user, separator) = (text("user").unwrap_or_default(), text("separator").unwrap_or_default());
        let (home, project, normal_project) = (text("home"), text("project"), text("normalProject"));
        let workspace = text("workspace");
        request::reject_bad(bad)?;
        if !matches!(&*separator, "/" | "\\") {
            let found = to_json(&separator);
            let message = format!("expected \"/\" or \"\\\" for \"separator\", but found {found} instead");
            return Err(request::error(message));
        }
        let setup = Setup { user, separator, redacts, ..Setup::default() };
        let absolute = |path: Option<String>, key: &str| match path {
            Some(path) if setup.is_absolute(&path) => Ok(path),
            path => {
                let found = path.map_or_else(|| "none".into(), |path| to_json(&path));
                Err(request::error(format!("expected an absolute path for \"{key}\", but found {found}")))
            }
        };
        let needed = || request::error("expected a whole number for \"idleMs\", but found none");
        let (home, project) = (absolute(home, "home")?, absolute(project, "project")?);
        let normal_project = absolute(normal_project, "normalProject")?;
        let workspace = workspace.map(|path| absolute(Some(path), "workspace")).transpose()?;
        Ok(Setup { home, project, normal_project, workspace, idle_ms: idle_ms.ok_or_else(needed)?, ..setup })
    }

    /// The folder that has `conversations/`.
    pub fn workspace(&self) -> &str {
        self.workspace.as_deref().unwrap_or(&self.project)
    }

    /// Returns the display path of a file.
    pub fn display_path(&self, file: &File) -> String {
        let root = match &file.root {
            Root::Home => &self.home,
            Root::Project => &self.project,
            Root::Workspace(root) => root,
            Root::Outside => return file.path.clone(),
        };
        if file.path.is_empty() {
            return root.clone();
        }
        let root = root.strip_suffix(&*self.separator).unwrap_or(root);
        let path = match &*self.separator {
            "/" => Cow::Borrowed(&*file.path),
            separator => file.path.replace('/', separator).into(),
        };
        [root, &self.separator, &path].concat()
    }

    /// Returns the place of a session from its folder's display path; none where no session can lie there.
    pub fn parse_place(&self, shown: &str, placement: Placement) -> Option<SessionLocation> {
        match placement {
            Placement::Home => {
                let below = self.path_below(shown, &self.home)?.replace(&*self.separator, "/");
                let (project, name) =
                    below.strip_prefix(&*projects().path)?.strip_prefix('/')?.split_once('/')?;
                let id = name.strip_prefix(SESSION_PREFIX).filter(|id| !id.contains('/'))?;
                Some(SessionLocation::Home { project: project.into(), id: id.into() })
            }
            Placement::Workspace => {
                let mut parts = shown.rsplitn(5, &*self.separator);
                let (session, name, day, all) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
                let is_one =
                    session == SESSION_FOLDER && all == CONVERSATIONS && !day.is_empty() && !name.is_empty();
                let root = parts.next().filter(|_| is_one)?;
                // The root, or that of a drive.
                let end = if root.is_empty() || root.ends_with(':') { &*self.separator } else { "" };
                Some(SessionLocation::Workspace {
                    root: [root, end].concat(),
                    day: day.into(),
                    name: name.into(),
                })
            }
        }
    }

    /// Returns the part of a path below a folder, if it is below it.
    pub(super) fn path_below<'p>(&self, shown: &'p str, folder: &str) -> Option<&'p str> {
        let folder = folder.strip_suffix(&*self.separator).unwrap_or(folder);
        shown.strip_prefix(folder)?.strip_prefix(&*self.separator)
    }

    /// Whether a path is absolute.
    pub(super) fn is_absolute(&self, path: &str) -> bool {
        let is_of_drive = path.get(1..3).is_some_and(|rest| matches!(rest, ":\\" | ":/"));
        path.starts_with(&*self.separator) || is_of_drive
    }

    /// Resolves a path relative to a folder.
    #[cfg(feature = "interop")]
    pub(in crate::operation) fn resolve_path(&self, folder: &str, path: &str) -> String {
        let is_absolute = self.is_absolute(path) || path.starts_with('/');
        if is_absolute { path.into() } else { [folder, &self.separator, path].concat() }
    }

    /// Returns the parent of a folder; the root is its own parent.
    pub(super) fn parent_folder(&self, folder: &str) -> String {
        match folder.rsplit_once(&*self.separator) {
            Some((_, "")) | None => folder.to_string(),
            Some((around, _)) if around.is_empty() || around.ends_with(':') => {
                [around, &self.separator].concat()
            }
            Some((around, _)) => around.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(home: &str, separator: &str) -> Setup {
        Setup { home: home.into(), separator: separator.into(), ..Setup::default() }
    }

    #[test]
    fn what_a_store_is_made_of_is_refused_by_the_field_that_is_wrong() {
        let with = |key: &str, json: &str| {
            let all = [
                ("home", r#""/home/ann/.leftoff""#),
                ("project", r#""/work""#),
                ("normalProject", r#""/work""#),
                ("user", r#""""#),
                ("separator", r#""/""#),
                ("idleMs", "300000"),
            ];
            let rest =
                all.iter().filter(|(name, _)| *name != key).map(|(name, json)| format!("\"{name}\":{json}"));
            let own = (!json.is_empty()).then(|| format!("\"{key}\":{json}"));
            let fields: Vec<String> = rest.chain(own).collect();
            Setup::from_json(&format!("{{{}}}", fields.join(","))).map_err(|error| error.message)
        };
        assert!(with("workspace", r#""/work""#).is_ok());
        for (key, json, message) in [
            ("home", "", "expected an absolute path for \"home\", but found none"),
            ("home", r#""""#, "expected an absolute path for \"home\", but found \"\""),
            ("project", r#""work""#, "expected an absolute path for \"project\", but found \"work\""),
            ("normalProject", "1", "expected a string for \"normalProject\", but found 1 instead"),
            ("workspace", r#""a""#, "expected an absolute path for \"workspace\", but found \"a\""),
            ("separator", r#""""#, "expected \"/\" or \"\\\" for \"separator\", but found \"\" instead"),
            ("idleMs", "", "expected a whole number for \"idleMs\", but found none"),
            ("idleMs", "1.5", "expected a whole number for \"idleMs\", but found 1.5 instead"),
        ] {
            assert_eq!(with(key, json), Err(message.into()), "{key}");
        }
        let unknown = with("hoem", r#""/""#).expect_err("refused");
        assert!(unknown.starts_with("unknown option \"hoem\": expected "), "{unknown}");
    }

    fn check(setup: &Setup, place: SessionLocation, shown: &str) {
        assert_eq!(setup.display_path(&place.folder()), shown);
        assert_eq!(setup.parse_place(shown, place.placement()), Some(place));
    }

    #[test]
    fn a_place_is_told_from_what_people_call_it() {
        let unix = setup("/home/ann/.leftoff", "/");
        let home = |project: &str| SessionLocation::Home { project: project.into(), id: "a".into() };
        let named =
            |root: &str| SessionLocation::Workspace { root: root.into(), day: "d".into(), name: "n".into() };
        check(&unix, home("0f"), "/home/ann/.leftoff/sessions/projects/0f/session-a");
        check(&unix, named("/work"), "/work/conversations/d/n/.session");
        check(&unix, named("/"), "/conversations/d/n/.session");
        check(&setup("/", "/"), home("0f"), "/sessions/projects/0f/session-a");
        let windows = setup("C:\\Users\\ann\\.leftoff", "\\");
        check(&windows, home("0f"), "C:\\Users\\ann\\.leftoff\\sessions\\projects\\0f\\session-a");
        check(&windows, named("D:\\"), "D:\\conversations\\d\\n\\.session");
    }

    #[test]
    fn no_session_lies_elsewhere() {
        let unix = setup("/home", "/");
        for path in [
            "/home",
            "/homes/sessions/projects/0/session-a",
            "/home/sessions/projects/session-a",
            "/home/sessions/projects/0/session-a/b",
        ] {
            assert_eq!(unix.parse_place(path, Placement::Home), None, "{path}");
        }
        for path in ["", "/a/b/.session", "/conversations/d/n", "/conversations//n/.session"] {
            assert_eq!(unix.parse_place(path, Placement::Workspace), None, "{path}");
        }
    }

    #[test]
    fn the_top_of_all_lies_in_itself() {
        let [unix, windows] = [setup("/", "/"), setup("C:\\", "\\")];
        assert_eq!(["/a/b", "/a", "/"].map(|path| unix.parent_folder(path)), ["/a", "/", "/"]);
        assert_eq!(
            ["C:\\a\\b", "C:\\a", "C:\\"].map(|path| windows.parent_folder(path)),
            ["C:\\a", "C:\\", "C:\\"]
        );
        assert!(
            unix.is_absolute("/a")
                && !unix.is_absolute("a")
                && windows.is_absolute("d:\\a")
                && unix.is_absolute("d:/a")
                && !windows.is_absolute("a")
        );
    }
}
