package ssh

import (
	"errors"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/wire"
)

// words are what ssh, a shell or berth says of a host that cannot be used, and what its user can do: HOST is its name. The first that is found counts.
// Without one the host may come back by itself.
const words driver.Table = `
bad permissions = chmod 600 the key
Host key verification failed = make ssh HOST work without a question: log in once by hand, and use keys or an agent
Permission denied ( = make ssh HOST work without a question: log in once by hand, and use keys or an agent
Permission denied, please try again = make ssh HOST work without a question: log in once by hand, and use keys or an agent
Too many authentication failures = make ssh HOST work without a question: log in once by hand, and use keys or an agent; IdentitiesOnly=yes in ~/.ssh/config offers one key only
assword change required = log in once by hand, and change the password
our password has expired = log in once by hand, and change the password
ccount has expired = ask the host's administrators for an account with a shell, or remove the host from --hosts
account is currently not available = ask the host's administrators for an account with a shell, or remove the host from --hosts
sftp connections only = ask the host's administrators for an account with a shell, or remove the host from --hosts
Could not resolve hostname = check the name in --hosts and in ~/.ssh/config
Bad configuration option = correct ~/.ssh/config or BERTH_SSH
executable file not found = install ssh, or name the program that reaches hosts in BERTH_SSH
failed to reserve page summary memory = raise the limit of address space on the host (ulimit -v)
cannot allocate memory = raise the limit of address space on the host (ulimit -v)
failed to create new OS thread = raise the limit of processes on the host (ulimit -u)
fatal error: = look at the limits of memory and processes on the host (ulimit -a)
No space left on device = free space on the host, or set XDG_CACHE_HOME in the start-up file of the host's shell to a folder with space
quota exceeded = free space on the host, or set XDG_CACHE_HOME in the start-up file of the host's shell to a folder with space
cannot create directory = set XDG_CACHE_HOME in the start-up file of the host's shell to a folder that can be written
failed to create file = set XDG_CACHE_HOME in the start-up file of the host's shell to a folder that can be written
exec: = if programs may not run in that folder (noexec), set XDG_CACHE_HOME in the start-up file of the host's shell to a folder where they may
not found = install it on the host: berth needs sh, gzip and sha256sum there
`

// unresolved is what ssh says of a name that may come back with the network.
const unresolved = "Could not resolve hostname"

// said returns what tells why a command failed on a host. A shell that lets nobody in says so on standard output; ssh's own failures have the status 255.
func said(status int, out, errs string) string {
	if status == 255 || strings.Contains(out, mark) {
		return errs
	}
	return errs + "\n" + out
}

// unreached returns the error of a host on which a command failed, of class User if its user must do something. text is what ssh and the host's
// shell said; the line with the reason is the one with a known word, else the last.
func unreached(r *wire.Remote, err error, text string) error {
	if strings.TrimSpace(text) == "" {
		text = err.Error()
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	why := lines[len(lines)-1]
	e := job.IOError(job.Transient, "host "+r.Host.Name, "it cannot be used", nil)
	for say, do := range words.All() {
		if i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, say) }); i >= 0 {
			why, e.Do = lines[i], strings.ReplaceAll(do, "HOST", r.Host.Name)
			if say != unresolved {
				e.Class = job.User
			}
			break
		}
	}
	e.Err = errors.New(strings.TrimSpace(why))
	return e
}
