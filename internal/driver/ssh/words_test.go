package ssh

import (
	"errors"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// TestWordsOfHosts checks what is told of hosts that cannot be used, from what OpenSSH 9.2, dash, bash, coreutils, shadow's nologin and Go print.
func TestWordsOfHosts(t *testing.T) {
	const changed = "@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\nHost key for [127.0.0.1]:30422 has changed and you have requested strict checking.\r\n"
	const user, later = job.User, job.Transient
	for _, c := range []struct {
		status    int
		out, errs string
		class     job.Class
		what, do  string
	}{
		{255, "", "root@h: Permission denied (publickey,keyboard-interactive).\r\n", user, "root@h: Permission denied (publickey,keyboard-interactive).", "ssh h work without a question"},
		{255, "", "Received disconnect from h port 22:2: Too many authentication failures\r\nDisconnected from h port 22\r\n", user, "Received disconnect from h port 22:2: Too many authentication failures", "IdentitiesOnly"},
		{255, "", "This private key will be ignored.\r\nLoad key \"me\": bad permissions\r\nroot@h: Permission denied (publickey).\r\n", user, "Load key \"me\": bad permissions", "chmod 600"},
		{255, "", "Host key verification failed.\r\n", user, "Host key verification failed.", "log in once by hand"},
		{255, "", changed + "Host key verification failed.\r\n", user, "Host key verification failed.", "log in once by hand"},
		{255, "", "command-line: line 0: Bad configuration option: foo\r\n", user, "command-line: line 0: Bad configuration option: foo", "BERTH_SSH"},
		{255, "", "ssh: Could not resolve hostname h: Name or service not known\r\n", later, "ssh: Could not resolve hostname h: Name or service not known", "check the name"},
		{255, "", "ssh: connect to host h port 22: Connection refused\r\n", later, "ssh: connect to host h port 22: Connection refused", ""},
		{255, "", "Connection timed out during banner exchange\r\nConnection to h port 22 timed out\r\n", later, "Connection to h port 22 timed out", ""},
		{255, "", "ssh: connect to host berth-1 port 22: No route to host\r\n", later, "ssh: connect to host berth-1 port 22: No route to host", ""},
		{255, "Welcome!\n", "Connection to h closed by remote host.\r\n", later, "Connection to h closed by remote host.", ""},
		{1, "This account is currently not available.\n", "", user, "This account is currently not available.", "account with a shell"},
		{1, "This account is currently not available.\n", "Authorized use only.\n", user, "This account is currently not available.", "account with a shell"},
		{1, "Cluster h is closed until Monday.\n", "", later, "Cluster h is closed until Monday.", ""},
		{1, "This service allows sftp connections only.\n", "", user, "This service allows sftp connections only.", "account with a shell"},
		{1, "", "Authorized use only.\n", later, "Authorized use only.", ""},
		{1, "", "", later, "exit status", ""},
		{126, "", "/bin/sh: 1: exec: /c/berth/berth-1f: Permission denied\n", user, "/bin/sh: 1: exec: /c/berth/berth-1f: Permission denied", "noexec"},
		{126, "", "bash: /c/berth/berth-1f: Permission denied\nbash: exec: /c/berth/berth-1f: cannot execute: Permission denied\n", user, "bash: exec: /c/berth/berth-1f: cannot execute: Permission denied", "XDG_CACHE_HOME"},
		{2, "", "fatal error: failed to reserve page summary memory\n\nruntime stack:\nruntime.throw({0x1, 0x2})\n\t/go/asm_amd64.s:373 +0x123\n", user, "fatal error: failed to reserve page summary memory", "ulimit -v"},
		{2, "", "runtime: failed to create new OS thread (have 2 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc\n", user, "runtime: failed to create new OS thread (have 2 already; errno=11)", "ulimit -u"},
		{1, "", "\ngzip: stdout: No space left on device\n", user, "gzip: stdout: No space left on device", "free space"},
		{1, "", "mkdir: cannot create directory ‘/proc/no’: No such file or directory\n", user, "mkdir: cannot create directory ‘/proc/no’: No such file or directory", "XDG_CACHE_HOME"},
		{127, "", "/bin/sh: 1: gzip: not found\n", user, "/bin/sh: 1: gzip: not found", "gzip"},
		{7, "welcome\n" + mark + "\nLinux\n", "late\n", later, "late", ""},
	} {
		err := unreached(&wire.Remote{Host: job.Host{Name: "h"}}, errors.New("exit status"), said(c.status, c.out, c.errs))
		var e *job.Error
		if !errors.As(err, &e) || e.Class != c.class || e.Err.Error() != c.what || !strings.Contains(e.Do, c.do) || c.do == "" && e.Do != "" {
			t.Errorf("%q, %q: class %v, %v", c.out, c.errs, job.ClassOf(err), err)
		}
	}
}
