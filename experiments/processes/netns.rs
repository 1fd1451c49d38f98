//! Two network namespaces connected by a virtual cable: TCP as between two machines, on one machine.

use std::path::Path;
use std::process::Command;

/// The namespaces; dropping this value deletes them.
pub struct Cable;

const ADDRESSES: [&str; 2] = ["10.9.0.1", "10.9.0.2"];

impl Cable {
    /// Creates the namespaces, or returns `None` if that is not permitted.
    pub fn create() -> Option<Self> {
        // Remove leftovers of a killed run.
        drop(Cable);
        let cable = Cable;
        let steps = [
            "netns add burnrank-a",
            "netns add burnrank-b",
            "link add cable-a netns burnrank-a type veth peer name cable-b netns burnrank-b",
            "-n burnrank-a addr add 10.9.0.1/24 dev cable-a",
            "-n burnrank-b addr add 10.9.0.2/24 dev cable-b",
            "-n burnrank-a link set lo up",
            "-n burnrank-b link set lo up",
            "-n burnrank-a link set cable-a up",
            "-n burnrank-b link set cable-b up",
        ];
        let done =
            |step: &&str| Command::new("ip").args(step.split(' ')).output().is_ok_and(|ran| ran.status.success());
        steps.iter().all(done).then_some(cable)
    }

    /// Returns a launcher of one process on each side; writes a script to `folder`.
    pub fn launcher(&self, folder: &Path) -> anyhow::Result<Command> {
        let agent = folder.join("agent");
        // Replaces a remote shell: called with a host and a command.
        std::fs::write(&agent, "#!/bin/sh\nshift\nexec ip netns exec burnrank-b sh -c \"$*\"\n")?;
        #[cfg(unix)]
        std::fs::set_permissions(&agent, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let mut command = Command::new("ip");
        command.args(["netns", "exec", "burnrank-a", "mpirun", "-n", "2", "-host", &ADDRESSES.join(",")]);
        // Both sides are on this machine: each would bind its process to the first core.
        command.args(["--bind-to", "none", "--mca", "btl", "tcp,self", "--mca", "plm_rsh_agent"]).arg(agent);
        let network = "10.9.0.0/24";
        command.args(["--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network]);
        Ok(command)
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        for side in ["burnrank-a", "burnrank-b"] {
            let _ = Command::new("ip").args(["netns", "del", side]).output();
        }
    }
}
