//! Makes the disk confirm names: confirming a file's bytes says nothing of its name.

use std::fs::File;
use std::path::Path;

use rustix::fs::Access;
use rustix::io::Errno;

use super::Disk;
use crate::fs::refusal::Fault;
use crate::fs::tree::{Tree, reopen_to_list};

impl Disk {
    /// Makes the disk confirm the name of a file, and that of each folder above it that may be new.
    pub(super) fn name(&mut self, tree: &Tree, path: &Path) -> Result<(), Fault> {
        sync(tree, path)?;
        for folder in path.ancestors().skip(1).take_while(|folder| folder.parent().is_some()) {
            let is_fresh = self.new_folders.contains(folder);
            if !is_fresh && (self.confirmed_folders.contains(folder) || !may_be_ours(folder)?) {
                continue;
            }
            sync(tree, folder)?;
            self.new_folders.remove(folder);
            self.confirmed_folders.insert(folder.into());
        }
        Ok(())
    }
}

/// Makes the disk confirm a name.
pub(super) fn sync(tree: &Tree, path: &Path) -> Result<(), Fault> {
    let folder = tree.hold_parent(path)?;
    match File::from(reopen_to_list(&folder)?).sync_all() {
        // A filesystem that cannot flush folders says EINVAL; nothing more can be asked of it.
        Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => Ok(()),
        synced => Ok(synced?),
    }
}

// Whether a process like this one may have made the folder, and died before it was flushed.
fn may_be_ours(folder: &Path) -> Result<bool, Fault> {
    let ours = rustix::fs::stat(folder).and_then(|stat| {
        let parent = folder.parent().unwrap_or(folder);
        let is_ours = stat.st_mode & 0o777 == 0o700;
        if is_ours { rustix::fs::access(parent, Access::WRITE_OK).map(|()| true) } else { Ok(false) }
    });
    match ours {
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Ok(false),
        ours => Ok(ours?),
    }
}
