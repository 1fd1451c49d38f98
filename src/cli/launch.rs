//! Processes that an MPI launcher started together, as in `mpirun -n 4 burnrank train ...`.

use super::ui;
use burnrank::distributed::{Failure, Member};

/// Where launchers tell a process its number: Open MPI, MPICH and Intel MPI, PMIx.
const RANKS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"];

/// Where some of them tell how many there are.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// Whether processes work together: in this build, unless BURNRANK_MPI=0 says that each works by itself.
fn is_wanted() -> bool {
    cfg!(feature = "mpi") && std::env::var_os("BURNRANK_MPI").is_none_or(|value| value != "0")
}

fn number(names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| std::env::var(name).ok()?.trim().parse().ok())
}

/// Whether this is one of several processes for a command that they run together, by its name on the command line.
fn is_together() -> bool {
    is_wanted() && std::env::args_os().nth(1).is_some_and(|word| word == "train" || word == "tune")
}

/// Before the command line is read: what is wrong with it is said by the first process alone.
pub fn hush() {
    if is_together() && number(&RANKS).is_some_and(|rank| rank > 0) {
        ui::set_silent();
    }
}

/// Reports a command line that is wrong to the other processes: theirs may be right.
pub fn report(code: u8, message: String) {
    if code != 0
        && is_together()
        && let Ok(Some(member)) = join()
    {
        member.end(Some(Failure { code, message }));
    }
}

/// Gives the first process time to say what went wrong: launchers end all processes as soon as one has failed.
pub fn linger() {
    if ui::is_silent() {
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}

/// This process as a member of those that were started together for a command; `None` if it was started alone.
pub fn member(command: &str) -> burnrank::Result<Option<Member>> {
    let member = if is_wanted() { join()? } else { None };
    match &member {
        Some(member) if !member.leads() => ui::set_silent(),
        None if !cfg!(feature = "mpi") && number(&RANKS) == Some(0) => {
            if let Some(size) = number(&SIZES).filter(|size| *size > 1) {
                ui::note(&format!(
                    "{size} processes were started, and each works by itself: for one run of all of them, build burnrank with \
                     --features mpi"
                ));
            }
        }
        _ => {}
    }
    member.as_ref().map_or(Ok(()), |member| member.same_program(command))?;
    Ok(member)
}

#[cfg(feature = "mpi")]
fn join() -> burnrank::Result<Option<Member>> {
    use burnrank::distributed::Mpi;
    Ok(if Mpi::is_launched() { Some(Member::of(std::sync::Arc::new(Mpi::start()?))) } else { None })
}

#[cfg(not(feature = "mpi"))]
fn join() -> burnrank::Result<Option<Member>> {
    Ok(None)
}

/// How the command ended, as all processes see it.
pub fn end(member: Option<&Member>, own: Option<Failure>) -> Option<Failure> {
    match member {
        Some(member) => member.end(own),
        None => own,
    }
}
