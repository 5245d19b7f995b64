//! Checks that no other user owns a project's file, can write it, or can replace it.

use std::path::Path;

/// Returns why a file should not be read, if another user could have changed it.
///
/// The commands in such a file would run with the rights of the current user. A shared
/// folder is enough: programs look for configurations in all folders above the current
/// one, so a file that any user can create in the folder for temporary files would be
/// found by everyone who works below it.
#[cfg(unix)]
pub(super) fn check_ownership(path: &Path) -> Result<(), String> {
    let chain = unix::path_chain(path)?;
    unix::check_chain(&chain, &unix::ProcessIdentity::current())
}

/// Other systems have other mechanisms, which are not checked.
#[cfg(not(unix))]
pub(super) fn check_ownership(_: &Path) -> Result<(), String> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::{
        collections::VecDeque,
        fs, io,
        os::unix::fs::MetadataExt as _,
        path::{Component, Path, PathBuf},
    };

    /// The user that reads the file.
    #[derive(Clone, Copy)]
    pub(super) struct ProcessIdentity {
        pub(super) uid: u32,
        pub(super) gid: u32,
        /// The owner of the root folder, who can do anything anyway. In some containers
        /// that is not the superuser.
        pub(super) root_owner: u32,
        /// The ID that the system shows for users without one, as in some containers.
        /// Several users may share it.
        pub(super) overflow_uid: u32,
    }

    /// The metadata of a file or folder.
    #[derive(Clone, Copy)]
    pub(super) struct FileMetadata {
        pub(super) uid: u32,
        pub(super) gid: u32,
        pub(super) mode: u32,
        pub(super) is_link: bool,
        pub(super) is_dir: bool,
    }

    const STICKY: u32 = 0o1000;
    const GROUP_WRITE: u32 = 0o020;
    const OTHER_WRITE: u32 = 0o002;
    /// The same limit as in Linux.
    const MAX_LINKS: usize = 40;
    /// The default in Linux.
    const DEFAULT_OVERFLOW_UID: u32 = 65534;

    impl ProcessIdentity {
        pub(super) fn current() -> Self {
            Self {
                uid: rustix::process::geteuid().as_raw(),
                gid: rustix::process::getegid().as_raw(),
                root_owner: fs::metadata("/").map_or(0, |root| root.uid()),
                overflow_uid: fs::read_to_string("/proc/sys/kernel/overflowuid")
                    .ok()
                    .and_then(|text| text.trim().parse().ok())
                    .unwrap_or(DEFAULT_OVERFLOW_UID),
            }
        }

        /// Returns whether this user is trusted. The overflow ID may be any user: it
        /// may own the folders of a container, including its root, but no file or link
        /// in it.
        fn trusts(&self, uid: u32, is_folder: bool) -> bool {
            if uid == self.overflow_uid {
                return is_folder && uid == self.root_owner;
            }
            uid == self.uid || uid == 0 || uid == self.root_owner
        }

        /// Returns whether anyone but the user and the superuser may write it. Many
        /// systems give every user a group with the same ID, which may write the user's
        /// files. Group 0 is not the superuser: in some containers every user is in it.
        fn is_shared(&self, metadata: FileMetadata) -> bool {
            let own_group = metadata.gid == self.gid && self.gid == self.uid;
            let by_group = metadata.mode & GROUP_WRITE != 0 && !own_group;
            by_group || metadata.mode & OTHER_WRITE != 0
        }
    }

    impl FileMetadata {
        fn read(path: &Path) -> io::Result<Self> {
            let metadata = fs::symlink_metadata(path)?;
            Ok(Self {
                uid: metadata.uid(),
                gid: metadata.gid(),
                mode: metadata.mode() & 0o7777,
                is_link: metadata.is_symlink(),
                is_dir: metadata.is_dir(),
            })
        }
    }

    /// Returns a file, first, and everything that leads to it: folders, and links with
    /// the folders that contain them. Each of these could be replaced by anyone who can
    /// write the folder that contains it, so checking only the start and the end of the
    /// chain is not enough.
    ///
    /// Missing files have no owner and are left out.
    pub(super) fn path_chain(path: &Path) -> Result<Vec<(PathBuf, FileMetadata)>, String> {
        let failed = |path: &Path, error: &io::Error| format!("{}: {error}", path.display());
        let path = std::path::absolute(path).map_err(|error| failed(path, &error))?;
        let mut pending: VecDeque<PathBuf> = parts(&path).collect();
        let (mut current, mut chain, mut links) = (PathBuf::new(), Vec::new(), 0);
        while let Some(part) = pending.pop_front() {
            if part == Path::new("..") {
                current.pop();
                continue;
            }
            let next = current.join(&part);
            let metadata = match FileMetadata::read(&next) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(failed(&next, &error)),
            };
            chain.push((next.clone(), metadata));
            if !metadata.is_link {
                current = next;
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(format!("more than {MAX_LINKS} symbolic links lead to it"));
            }
            let target = fs::read_link(&next).map_err(|error| failed(&next, &error))?;
            for part in parts(&target).rev() {
                pending.push_front(part);
            }
        }
        chain.reverse();
        Ok(chain)
    }

    /// Returns the components of a path. The root is one, and joined to any path it is
    /// the root again.
    fn parts(path: &Path) -> impl DoubleEndedIterator<Item = PathBuf> {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        parts.map(|part| PathBuf::from(part.as_os_str()))
    }

    /// Checks a file, which comes first, and the folders above it.
    pub(super) fn check_chain(
        chain: &[(PathBuf, FileMetadata)],
        identity: &ProcessIdentity,
    ) -> Result<(), String> {
        for (current, (path, metadata)) in chain.iter().enumerate() {
            let subject = match (current, metadata.is_link, metadata.is_dir) {
                (0, _, false) => "it".to_owned(),
                (_, true, _) => format!("the link {}", path.display()),
                _ => format!("the folder {}", path.display()),
            };
            if !identity.trusts(metadata.uid, metadata.is_dir) {
                return Err(format!(
                    "{subject} belongs to another user ({})",
                    metadata.uid
                ));
            }
            // The permissions of a link are those of its target.
            if metadata.is_link || !identity.is_shared(*metadata) {
                continue;
            }
            // In a sticky folder, such as the one for temporary files, users can only
            // replace their own files; and the files in it were already checked.
            if metadata.is_dir && metadata.mode & STICKY != 0 {
                continue;
            }
            return Err(format!(
                "other users can write {subject} (mode {:o})",
                metadata.mode
            ));
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const ME: ProcessIdentity = ProcessIdentity {
            uid: 1000,
            gid: 1000,
            root_owner: 0,
            overflow_uid: DEFAULT_OVERFLOW_UID,
        };

        #[track_caller]
        fn check(identity: ProcessIdentity, chain: &[(u32, u32, u32)], expected: Result<(), &str>) {
            let names = ["/w/p/.mcp.json", "/w/p", "/w", "/"];
            let chain: Vec<_> = names
                .iter()
                .zip(chain)
                .enumerate()
                .map(|(current, (name, &(uid, gid, mode)))| {
                    let is_link = mode == 0o777_777;
                    let is_folder = current > 0 && !is_link;
                    let mode = mode & 0o7777;
                    (
                        PathBuf::from(name),
                        FileMetadata {
                            uid,
                            gid,
                            mode,
                            is_link,
                            is_dir: is_folder,
                        },
                    )
                })
                .collect();
            let result = check_chain(&chain, &identity);
            assert_eq!(result.as_ref().map_err(String::as_str).copied(), expected);
        }

        #[test]
        fn only_what_nobody_else_can_change_is_read() {
            let root = (0, 0, 0o755);
            let mine = (1000, 1000, 0o755);
            let file = (1000, 1000, 0o644);
            check(ME, &[file, mine, mine, root], Ok(()));
            check(ME, &[(0, 0, 0o644), root, root, root], Ok(()));
            let theirs = Err("it belongs to another user (1001)");
            check(ME, &[(1001, 1001, 0o644), mine, mine, root], theirs);
            let open = Err("other users can write it (mode 666)");
            check(ME, &[(1000, 1000, 0o666), mine, mine, root], open);
            // The user's own group is the user; a team's is not.
            check(ME, &[(1000, 1000, 0o664), mine, mine, root], Ok(()));
            let team = Err("other users can write it (mode 664)");
            check(ME, &[(1000, 50, 0o664), mine, mine, root], team);
            let of_users = ProcessIdentity { gid: 100, ..ME };
            let users = (1000, 100, 0o664);
            check(of_users, &[users, mine, mine, root], team);
        }

        #[test]
        fn folders_above_count() {
            let root = (0, 0, 0o755);
            let mine = (1000, 1000, 0o755);
            let file = (1000, 1000, 0o644);
            let open = Err("other users can write the folder /w (mode 777)");
            check(ME, &[file, mine, (1000, 1000, 0o777), root], open);
            check(ME, &[file, mine, (0, 0, 0o777), root], open);
            // As that for temporary files.
            check(ME, &[file, mine, (0, 0, 0o1777), root], Ok(()));
            check(ME, &[file, (0, 0, 0o1777), root, root], Ok(()));
            let theirs = Err("it belongs to another user (1001)");
            let planted = (1001, 1001, 0o644);
            check(ME, &[planted, (0, 0, 0o1777), root, root], theirs);
            let folder = Err("the folder /w belongs to another user (1001)");
            check(ME, &[file, mine, (1001, 1001, 0o755), root], folder);
            let team = Err("other users can write the folder /w/p (mode 2775)");
            check(ME, &[file, (1000, 50, 0o2775), root, root], team);
        }

        #[test]
        fn a_link_is_as_good_as_its_owner() {
            let root = (0, 0, 0o755);
            let mine = (1000, 1000, 0o755);
            let link = |uid| (uid, uid, 0o777_777);
            check(ME, &[link(1000), mine, mine, root], Ok(()));
            let theirs = Err("it belongs to another user (1001)");
            check(ME, &[link(1001), (0, 0, 0o1777), root, root], theirs);
        }

        #[test]
        fn whoever_owns_the_root_is_as_good_as_the_superuser() {
            let nobody = (65534, 65534, 0o755);
            let file = (1000, 1000, 0o644);
            let mine = (1000, 1000, 0o755);
            let contained = ProcessIdentity {
                root_owner: 65534,
                ..ME
            };
            check(contained, &[file, mine, nobody, nobody], Ok(()));
            let folder = Err("the folder /w belongs to another user (65534)");
            check(ME, &[file, mine, nobody, (0, 0, 0o755)], folder);
        }

        #[test]
        fn the_overflow_user_may_be_anybody() {
            let nobody = (DEFAULT_OVERFLOW_UID, DEFAULT_OVERFLOW_UID, 0o755);
            let mine = (1000, 1000, 0o755);
            let contained = ProcessIdentity {
                root_owner: DEFAULT_OVERFLOW_UID,
                ..ME
            };
            let theirs = Err("it belongs to another user (65534)");
            let planted = (DEFAULT_OVERFLOW_UID, DEFAULT_OVERFLOW_UID, 0o644);
            check(contained, &[planted, mine, nobody, nobody], theirs);
            let link = (DEFAULT_OVERFLOW_UID, DEFAULT_OVERFLOW_UID, 0o777_777);
            check(contained, &[link, (0, 0, 0o1777), nobody, nobody], theirs);
            // Also for those who are behind it themselves.
            let one_of_them = ProcessIdentity {
                uid: DEFAULT_OVERFLOW_UID,
                gid: DEFAULT_OVERFLOW_UID,
                ..contained
            };
            check(one_of_them, &[planted, mine, nobody, nobody], theirs);
        }

        #[test]
        fn the_group_of_the_superuser_is_a_group() {
            let (root, mine) = ((0, 0, 0o755), (1000, 1000, 0o755));
            let group = Err("other users can write it (mode 664)");
            check(ME, &[(1000, 0, 0o664), mine, mine, root], group);
            let folder = Err("other users can write the folder /w (mode 775)");
            let file = (1000, 1000, 0o644);
            check(ME, &[file, mine, (0, 0, 0o775), root], folder);
            let superuser = ProcessIdentity {
                uid: 0,
                gid: 0,
                ..ME
            };
            check(superuser, &[(0, 0, 0o664), root, root, root], Ok(()));
        }
    }
}
