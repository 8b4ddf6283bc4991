//! Reads and writes the settings files: that of the home, and over it that of the project.

use alloc::string::String;
use alloc::vec::Vec;

use super::Setup;
use crate::layout::{self, File, Root};
use crate::operation::join::join_both;
use crate::operation::{Io, Operation, Trouble};
use crate::settings::{self, EffectiveSettings, SettingSource, SettingsFile};

impl Setup {
    /// Reads the effective settings, for a caller that is about to open the store.
    pub fn settings(&self) -> Operation<'static, EffectiveSettings> {
        let setup = self.clone();
        Operation::new(|io| async move { setup.read_settings(&io).await })
    }

    /// Writes a setting, JSON, into the home's file, or the project's; without a value it is removed.
    pub fn write_setting(
        &self,
        key: String,
        value: Option<String>,
        is_of_project: bool,
    ) -> Operation<'static, ()> {
        let setup = self.clone();
        Operation::new(move |io| async move {
            let place = |(root, source)| (layout::settings(root), source);
            let (home, project) = (place(HOME_SETTINGS), place(PROJECT_SETTINGS));
            // If the project folder is the one that holds the home, both files are the same.
            let is_one = setup.display_path(&home.0) == setup.display_path(&project.0);
            let (file, source) = if is_of_project && !is_one { project } else { home };
            let found = setup.read_settings_file(&io, &file, source).await?;
            match settings::write_setting(&key, value.as_deref(), &found)? {
                Some(text) => io.replace(&file, text.into_bytes(), None).await,
                None => Ok(()),
            }
        })
    }

    pub(super) async fn read_settings(&self, io: &Io) -> Result<EffectiveSettings, Trouble> {
        let places = [HOME_SETTINGS, PROJECT_SETTINGS].map(|(root, source)| (layout::settings(root), source));
        let [home, project] = &places;
        let found = join_both(
            self.read_settings_file(io, &home.0, home.1),
            self.read_settings_file(io, &project.0, project.1),
        )
        .await;
        let mut files = Vec::from([found.0?, found.1?]);
        // If the project folder is the one that holds the home, both files are the same.
        files.dedup_by(|one, other| one.path == other.path);
        Ok(settings::read(&files))
    }

    async fn read_settings_file(
        &self,
        io: &Io,
        file: &File,
        source: SettingSource,
    ) -> Result<SettingsFile, Trouble> {
        let (text, problem) = match io.read_all(file).await {
            Ok(bytes) => (bytes.map(|bytes| String::from_utf8_lossy(&bytes).into()), None),
            Err(trouble) if trouble.is_bug() => return Err(trouble),
            Err(trouble) => (None, Some(trouble.message().into())),
        };
        Ok(SettingsFile { path: self.display_path(file), source, text, problem })
    }
}

const HOME_SETTINGS: (Root, SettingSource) = (Root::Home, SettingSource::Home);
const PROJECT_SETTINGS: (Root, SettingSource) = (Root::Project, SettingSource::Project);
