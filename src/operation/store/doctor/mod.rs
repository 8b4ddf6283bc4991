//! The doctor: finds what is wrong with a store and its sessions, and mends it if asked. Without `fix` it changes no
//! byte.

mod checks;
mod cut_off;
mod mend;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::Store;
use super::places::FoundPlace;
use crate::json::request;
use crate::json::text::to_json;
use crate::layout::{self, File, Placement, Root, SessionLocation, pointer};
use crate::operation::join::join_in_batches;
use crate::operation::outgoing::find_stored_secrets;
use crate::operation::session_files::SessionFiles;
use crate::operation::{Io, Operation, Trouble, Work, unless_bug};
use crate::record::status::Health;

use checks::CachedNames;
use mend::{DoctorProblem, Finding, Mend, MendReport};

/// How many sessions are examined at once.
const MAX_PARALLEL_EXAMINATIONS: usize = 16;

/// What the doctor is asked to do.
#[derive(Default)]
struct DoctorRequest {
    fix: bool,
    secrets: bool,
    /// The caller wants progress reports.
    reports_progress: bool,
    /// The names in the cache, where it was listed: most sessions have nothing there.
    cached: Option<CachedNames>,
}

/// Progress, as a caller sees it: the session that is examined next, and how many came before it.
#[derive(Serialize)]
struct DoctorProgress<'a> {
    path: &'a str,
    done: usize,
    total: usize,
}

impl DoctorRequest {
    // Reports progress before a session, given by its folder's display path, if the caller wants it.
    async fn report_progress(
        &self,
        io: &Io,
        path: &str,
        (done, total): (usize, usize),
    ) -> Result<(), Trouble> {
        if self.reports_progress {
            io.write_page(to_json(&DoctorProgress { path, done, total }).into_bytes()).await?;
        }
        Ok(())
    }
}

/// The report on a session, or on the store itself. Each problem is JSON.
struct DoctorReport {
    id: String,
    path: String,
    health: Health,
    problems: Vec<String>,
    fixed: Vec<String>,
}

impl DoctorReport {
    fn to_json(&self) -> String {
        let DoctorReport { id, path, health, problems, fixed } = self;
        let parts = [
            format!("\"id\":{},\"path\":{}", to_json(id), to_json(path)),
            format!("\"health\":{},\"problems\":[{}]", to_json(health), problems.join(",")),
            format!("\"fixed\":{}", to_json(fixed)),
        ];
        format!("{{{}}}", parts.join(","))
    }
}

impl Store {
    /// Examines all sessions and the store itself, or the one session that `id` means:
    /// `{"id","fix","secrets","onProgress"}`, JSON, all optional. With `fix`, mends what can be mended; no complete line
    /// of a log is ever touched. With `secrets`, also finds secrets in the files. With `onProgress`, a page before each
    /// session reports progress as `{"path","done","total"}`. Answer:
    /// `[{"id","path","health","problems":[{"file","code","start","end","message"}],"fixed"}]`, JSON; `start` and
    /// `end` are bytes.
    pub fn doctor(self: &Rc<Store>, request: String) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(|io| async move {
            let (mut fields, bad) =
                (request::parse(&request, "id, fix, secrets or onProgress")?, &mut Vec::new());
            let id: Option<String> = fields.take("id", bad);
            let mut take_flag = |name| fields.take(name, bad).unwrap_or_default();
            let request = DoctorRequest {
                fix: take_flag("fix"),
                secrets: take_flag("secrets"),
                reports_progress: take_flag("onProgress"),
                cached: None,
            };
            request::reject_bad(bad)?;
            if request.secrets {
                // Fails here if a host's rules are missing, since that is a fault of the request, not of a session.
                io.find_secrets(Vec::from([String::new()])).await?;
            }
            let reports = match id {
                None => Box::pin(store.examine_all(&io, request)).await?,
                Some(id) => {
                    let found = Box::pin(store.list_without_changes(&io, true)).await?;
                    let one = store.pick_session(&id, &found)?;
                    let place = store.session_place(&one.path, one.entry.placement)?;
                    request.report_progress(&io, &one.path, (0, 1)).await?;
                    store.examine_session(&io, &place, &request).await?.into_iter().collect()
                }
            };
            Ok(format!("[{}]", reports.iter().map(DoctorReport::to_json).collect::<Vec<_>>().join(",")))
        })
    }

    /// Mends a session, given by its folder's display path. Answer: its report, as `doctor` gives it, JSON; null where
    /// the session no longer exists.
    pub fn mend(self: &Rc<Store>, shown: String, placement: Placement) -> Operation<'static, String> {
        let store = self.clone();
        Operation::new(move |io| async move {
            let place = store.session_place(&shown, placement)?;
            let request = DoctorRequest { fix: true, ..DoctorRequest::default() };
            let report = store.examine_session(&io, &place, &request).await?;
            Ok(report.map_or("null".into(), |report| report.to_json()))
        })
    }

    async fn examine_all(&self, io: &Io, mut request: DoctorRequest) -> Result<Vec<DoctorReport>, Trouble> {
        // Read folders again, whatever failed before.
        self.unreadable.take();
        let cut = self.find_cut_off(io).await?;
        let cut = self.mend_if(io, cut, request.fix).await?;
        let places = self.all_places(io, false).await?;
        let cached = unless_bug(io.list(&layout::cache()).await)?;
        request.cached = cached.map(|found| found.into_iter().flatten().map(|entry| entry.name).collect());
        let (places, request) = (&places, &request);
        let works = places.iter().enumerate().map(|(done, FoundPlace { place, .. })| {
            let examined = async move {
                let path = self.setup.display_path(&place.folder());
                request.report_progress(io, &path, (done, places.len())).await?;
                self.examine_session(io, place, request).await
            };
            Box::pin(examined) as Work<'_, Option<DoctorReport>>
        });
        // Sessions are mended one after another.
        let most = if request.fix { 1 } else { MAX_PARALLEL_EXAMINATIONS };
        let reports = join_in_batches(works, most).await?;
        let mut reports: Vec<DoctorReport> = reports.into_iter().flatten().collect();
        let ids: BTreeSet<&str> = reports.iter().map(|report| &*report.id).collect();
        let findings = self.find_store_problems(io, &ids).await?;
        let MendReport { fixed, failed } = self.mend_if(io, findings, request.fix).await?;
        let (problems, fixed) = ([cut.failed, failed].concat(), [cut.fixed, fixed].concat());
        // A sound store needs no report.
        if !problems.is_empty() || !fixed.is_empty() {
            let path = self.setup.home.clone();
            reports.push(DoctorReport { id: "store".into(), path, health: Health::Ok, problems, fixed });
        }
        Ok(reports)
    }

    // Examines a session; none where there is no session.
    async fn examine_session(
        &self,
        io: &Io,
        place: &SessionLocation,
        request: &DoctorRequest,
    ) -> Result<Option<DoctorReport>, Trouble> {
        let files = self.unopened_session(place, "");
        let opened = files.open_files(io).await;
        let id = match (&opened, place) {
            (Ok(()), _) => files.id(),
            (Err(_), SessionLocation::Home { id, .. }) => id.clone(),
            (Err(_), SessionLocation::Workspace { name, .. }) => name.clone(),
        };
        let found = match opened {
            Ok(()) => self.examine_opened(io, place, &files, request).await,
            Err(trouble) => Err(trouble),
        };
        match found {
            Err(trouble) if trouble.is_bug() => Err(trouble),
            Err(trouble) => {
                let problems = [DoctorProblem::new("-", trouble.code(), trouble.message().into()).to_json()];
                let (path, health) = (files.shown_folder(), Health::Unreadable);
                Ok(Some(DoctorReport { id, path, health, problems: problems.into(), fixed: Vec::new() }))
            }
            done => done,
        }
    }

    async fn examine_opened(
        &self,
        io: &Io,
        place: &SessionLocation,
        files: &Rc<SessionFiles>,
        request: &DoctorRequest,
    ) -> Result<Option<DoctorReport>, Trouble> {
        let mut found = files.build_health_report(io).await?;
        if files.is_empty() && found.problems.is_empty() {
            return Ok(None);
        }
        let kept = if request.secrets { find_stored_secrets(io, &place.folder()).await? } else { Vec::new() };
        let findings =
            self.find_session_problems(io, place, files, (&found.problems, request.cached.as_ref())).await?;
        let mended = if request.fix && !findings.is_empty() {
            let mended = match files.reject_newer() {
                Ok(()) => self.mend_all(io, findings).await?,
                Err(trouble) => MendReport::all_failed(&findings, &trouble),
            };
            found = files.build_health_report(io).await?;
            mended
        } else {
            // Drop torn tails, which the health report has already.
            let news = findings.into_iter().filter(|one| !matches!(one.mend, Mend::Seal { .. }));
            MendReport { fixed: Vec::new(), failed: news.map(|one| one.problem.to_json()).collect() }
        };
        let mut problems: Vec<String> = found.problems.iter().map(to_json).collect();
        problems.extend(mended.failed.into_iter().chain(kept));
        let (id, path, health) = (files.id(), files.shown_folder(), found.health);
        Ok(Some(DoctorReport { id, path, health, problems, fixed: mended.fixed }))
    }

    async fn find_store_problems(&self, io: &Io, ids: &BTreeSet<&str>) -> Result<Vec<Finding>, Trouble> {
        let mut findings = Vec::new();
        let damaged = self.read_index(io).await?.damaged_lines;
        if damaged > 0 {
            let message = format!("expected lines of an index, but found {damaged} that are none");
            let problem = DoctorProblem::new("index.jsonl", "bad_index", message);
            findings.push(Finding { problem, mend: Mend::Index { damaged } });
        }
        let home = File::new(Root::Home, "");
        let (projects, outputs) = (layout::projects().folder(), layout::outputs());
        let folders = [layout::cache(), layout::search_index(), projects, pointer::file().folder(), outputs];
        for folder in [home].into_iter().chain(folders) {
            findings.extend(self.find_temporary_files(io, &folder, &[]).await?);
        }
        findings.extend(self.find_abandoned_runs(io).await?);
        let not_read = self.unreadable.borrow().clone();
        if not_read.is_empty() {
            findings.extend(self.find_orphaned_files(io, ids).await?);
        }
        findings.extend(not_read.into_iter().map(|(path, trouble)| Finding::by_hand(&path, trouble)));
        if let Some(pointer) = self.read_pointer(io).await?
            && !self.may_exist(io, &pointer.path).await?
        {
            let message = format!("expected a session at \"{}\", but found none", pointer.path);
            let problem = DoctorProblem::new(pointer::file().name(), "dangling_pointer", message);
            findings.push(Finding { problem, mend: Mend::Pointer });
        }
        Ok(findings)
    }

    // Whether there is something at a path. Yes for paths outside home and project, of which that is not known.
    async fn may_exist(&self, io: &Io, path: &str) -> Result<bool, Trouble> {
        let at = |root: Root, folder: &str| {
            let below = self.setup.path_below(path, folder)?.replace(&*self.setup.separator, "/");
            Some(File::new(root, below))
        };
        let file = at(Root::Home, &self.setup.home).or_else(|| at(Root::Project, &self.setup.project));
        let Some(file) = file else { return Ok(true) };
        Ok(unless_bug(io.stat(&file).await)?.is_none_or(|found| found.is_some()))
    }
}
