//! What is wrong with a store and its sessions. Without `fix`, no byte is changed by looking.

mod cut_off;
mod mending;
mod upkeep;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::Store;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{self, File, Place, Placement, Root, pointer};
use crate::operation::leaving::kept_secrets;
use crate::operation::live::Live;
use crate::operation::{Io, Operation, Trouble, unless_bug};
use crate::record::status::Health;

use mending::{Finding, Mend, Mended, Problem};

/// What is asked for.
#[derive(Clone, Copy, Default)]
struct Asked {
    fix: bool,
    secrets: bool,
}

/// What is said of a session, or of the store itself. Problems are JSON each.
struct Report {
    id: String,
    path: String,
    health: Health,
    problems: Vec<String>,
    fixed: Vec<String>,
}

impl Report {
    fn to_json(&self) -> String {
        let Report { id, path, health, problems, fixed } = self;
        let parts = [
            format!("\"id\":{},\"path\":{}", to_json(id), to_json(path)),
            format!("\"health\":{},\"problems\":[{}]", to_json(health), problems.join(",")),
            format!("\"fixed\":{}", to_json(fixed)),
        ];
        format!("{{{}}}", parts.join(","))
    }
}

impl Store {
    /// What is wrong with all sessions and the store itself, or with the one session that `id` means: `{"id","fix","secrets"}`,
    /// JSON, all optional. With `fix`, what can be mended is: no complete line of a log is ever touched; with `secrets`, also
    /// what secrets are in the files. Answer: `[{"id","path","health","problems":[{"file","code","start","end","message"}],
    /// "fixed"}]`, JSON; places are bytes.
    pub fn doctor(self: &Rc<Store>, asked: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let (mut fields, bad) = (request::read(&asked, "id, fix or secrets")?, &mut Vec::new());
            let id: Option<String> = fields.take("id", bad);
            let fix = fields.take("fix", bad).unwrap_or_default();
            let asked = Asked { fix, secrets: fields.take("secrets", bad).unwrap_or_default() };
            request::refuse_bad(bad)?;
            if asked.secrets {
                // Where a host's rules are missing nothing is wrong with any session, but with what was asked.
                io.secrets(Vec::from([String::new()])).await?;
            }
            let reports = match id {
                None => Box::pin(store.reports(&io, asked)).await?,
                Some(id) => {
                    let found = Box::pin(store.looked_for(&io, true)).await?;
                    let one = store.meant(&id, &found)?;
                    let place = store.session_place(&one.path, one.entry.placement)?;
                    store.report(&io, &place, asked).await?.into_iter().collect()
                }
            };
            Ok(format!("[{}]", reports.iter().map(Report::to_json).collect::<Vec<_>>().join(",")))
        })
    }

    /// Mends what can be mended of a session, by its folder as people call it. Answer: what `doctor` says of it, JSON; null
    /// where it is there no longer.
    pub fn mend(self: &Rc<Store>, shown: String, placement: Placement) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(move |io| async move {
            let place = store.session_place(&shown, placement)?;
            let report = store.report(&io, &place, Asked { fix: true, secrets: false }).await?;
            Ok(report.map_or("null".into(), |report| report.to_json()))
        })
    }

    async fn reports(&self, io: &Io, asked: Asked) -> Result<Vec<Report>, Trouble> {
        // As it is now, whatever was told before.
        self.not_read.take();
        let cut = self.cut_off(io).await?;
        let cut = self.mended_if(io, cut, asked.fix).await?;
        let mut reports = Vec::new();
        for found in self.all_places(io, false).await? {
            reports.extend(self.report(io, &found.place, asked).await?);
        }
        let ids: BTreeSet<&str> = reports.iter().map(|report| &*report.id).collect();
        let findings = self.of_store(io, &ids).await?;
        let Mended { fixed, failed } = self.mended_if(io, findings, asked.fix).await?;
        let (problems, fixed) = ([cut.failed, failed].concat(), [cut.fixed, fixed].concat());
        // Of a sound one there is nothing to say.
        if !problems.is_empty() || !fixed.is_empty() {
            let path = self.setup.home.clone();
            reports.push(Report { id: "store".into(), path, health: Health::Ok, problems, fixed });
        }
        Ok(reports)
    }

    // Of a session; nothing where there is none.
    async fn report(&self, io: &Io, place: &Place, asked: Asked) -> Result<Option<Report>, Trouble> {
        let live = self.unread(place, "");
        let opened = live.opened(io).await;
        let id = match (&opened, place) {
            (Ok(()), _) => live.id(),
            (Err(_), Place::Home { id, .. }) => id.clone(),
            (Err(_), Place::Workspace { name, .. }) => name.clone(),
        };
        let found = match opened {
            Ok(()) => self.examined(io, place, &live, asked).await,
            Err(trouble) => Err(trouble),
        };
        match found {
            Err(trouble) if trouble.is_bug() => Err(trouble),
            Err(trouble) => {
                let problems = [Problem::new("-", trouble.code(), trouble.message().into()).to_json()];
                let (path, health) = (live.shown(), Health::Unreadable);
                Ok(Some(Report { id, path, health, problems: problems.into(), fixed: Vec::new() }))
            }
            done => done,
        }
    }

    async fn examined(
        &self,
        io: &Io,
        place: &Place,
        live: &Rc<Live>,
        asked: Asked,
    ) -> Result<Option<Report>, Trouble> {
        let mut found = live.examined(io).await?;
        if live.is_empty() && found.problems.is_empty() {
            return Ok(None);
        }
        let kept = if asked.secrets { kept_secrets(io, &place.folder()).await? } else { Vec::new() };
        let findings = self.of_session(io, place, live, &found.problems).await?;
        let mended = if asked.fix && !findings.is_empty() {
            let mended = match live.refuse_newer() {
                Ok(()) => self.mended(io, findings).await?,
                Err(trouble) => Mended::refused(&findings, &trouble),
            };
            found = live.examined(io).await?;
            mended
        } else {
            // What is torn, the examination says.
            let news = findings.into_iter().filter(|one| !matches!(one.mend, Mend::Seal { .. }));
            Mended { fixed: Vec::new(), failed: news.map(|one| one.problem.to_json()).collect() }
        };
        let mut problems: Vec<String> = found.problems.iter().map(to_json).collect();
        problems.extend(mended.failed.into_iter().chain(kept));
        let (id, path, health) = (live.id(), live.shown(), found.health);
        Ok(Some(Report { id, path, health, problems, fixed: mended.fixed }))
    }

    async fn of_store(&self, io: &Io, ids: &BTreeSet<&str>) -> Result<Vec<Finding>, Trouble> {
        let mut findings = Vec::new();
        let damaged = self.read_index(io).await?.damaged;
        if damaged > 0 {
            let message = format!("expected lines of an index, but found {damaged} that are none");
            let problem = Problem::new("index.jsonl", "bad_index", message);
            findings.push(Finding { problem, mend: Mend::Index { damaged } });
        }
        let home = File::new(Root::Home, "");
        let (projects, outputs) = (layout::projects().folder(), layout::outputs());
        let folders = [layout::cache(), layout::recall(), projects, pointer::file().folder(), outputs];
        for folder in [home].into_iter().chain(folders) {
            findings.extend(self.left_over(io, &folder).await?);
        }
        findings.extend(self.of_runs(io).await?);
        let not_read = self.not_read.borrow().clone();
        if not_read.is_empty() {
            findings.extend(self.of_nobody(io, ids).await?);
        }
        findings.extend(not_read.into_iter().map(|(path, trouble)| Finding::by_hand(&path, trouble)));
        if let Some(pointer) = self.pointed(io).await?
            && !self.may_lie(io, &pointer.path).await?
        {
            let message = format!("expected a session at \"{}\", but found none", pointer.path);
            let problem = Problem::new(pointer::file().name(), "dangling_pointer", message);
            findings.push(Finding { problem, mend: Mend::Pointer });
        }
        Ok(findings)
    }

    // Whether there is something at a path. What lies elsewhere, nobody can tell.
    async fn may_lie(&self, io: &Io, path: &str) -> Result<bool, Trouble> {
        let at = |root: Root, folder: &str| {
            let below = self.setup.below(path, folder)?.replace(&*self.setup.separator, "/");
            Some(File::new(root, below))
        };
        let file = at(Root::Home, &self.setup.home).or_else(|| at(Root::Project, &self.setup.project));
        let Some(file) = file else { return Ok(true) };
        Ok(unless_bug(io.stat(&file).await)?.is_none_or(|found| found.is_some()))
    }
}
