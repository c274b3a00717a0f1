package ssh

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/wire"
)

// cacheText is where a host keeps copies of berth, in words of the shell.
const cacheText = "${XDG_CACHE_HOME:-$HOME/.cache}/berth"

// machine is what a host says of itself.
type machine struct {
	system, arch string // as uname says it
	cpus         int
	mem          int64 // bytes
	model        string
	has          bool // the copy of berth that was asked for
	sees         bool // the folder that was asked for
}

// lookMark begins what the script prints that counts: what the shell's own start-up files print comes before it.
const lookMark = "berth-host"

// quote writes a path in words of the shell that have no single quotes: each byte by its number.
func quote(path string) string {
	var b strings.Builder
	b.WriteString(`"$(printf "`)
	for _, c := range []byte(path) {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	b.WriteString(`")"`)
	return b.String()
}

// Answers returns an error where a host does not answer, or cannot be used by this program.
func Answers(ctx context.Context, r *wire.Remote) error {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTime)
	defer cancel()
	_, err := look(ctx, r, "none", "")
	return err
}

// look asks a host what it is, whether it has a file in its cache, and whether it sees a folder; "" is none.
func look(ctx context.Context, r *wire.Remote, file, folder string) (machine, error) {
	script := `echo ` + lookMark + `; uname -s; uname -m; nproc 2>/dev/null || getconf _NPROCESSORS_ONLN; ` +
		`while read -r name size unit; do [ "$name" = MemTotal: ] && echo "$size"; done </proc/meminfo; ` +
		`[ -x "` + cacheText + `/` + file + `" ] && echo yes || echo no; [ -d ` + quote(folder) + ` ] && echo yes || echo no; grep -m 1 "model name" /proc/cpuinfo; true`
	out, err := output(ctx, r, script)
	if err != nil {
		return machine{}, err
	}
	_, said, _ := strings.Cut(out, lookMark+"\n")
	lines := strings.Split(said, "\n")
	bad := &job.Error{Class: job.Transient, Code: job.CodeIO, Where: "host " + r.Host.Name, What: fmt.Sprintf("it does not say what it is, but %q", strings.TrimSpace(out))}
	if len(lines) < 6 {
		return machine{}, bad
	}
	m := machine{system: lines[0], arch: lines[1], has: lines[4] == "yes", sees: lines[5] == "yes"}
	var kib int64
	if m.cpus, err = strconv.Atoi(lines[2]); err == nil {
		kib, err = strconv.ParseInt(lines[3], 10, 64)
	}
	if err != nil || m.cpus < 1 {
		return machine{}, bad
	}
	m.mem = kib << 10
	if len(lines) > 6 {
		_, m.model, _ = strings.Cut(lines[6], ":")
	}
	return m, m.check(r)
}

// architectures are uname's names of what Go calls otherwise.
var architectures = map[string]string{"amd64": "x86_64", "arm64": "aarch64", "386": "i686", "ppc64le": "ppc64le", "riscv64": "riscv64", "s390x": "s390x"}

// check returns an error where this program cannot run on the host.
func (m machine) check(r *wire.Remote) error {
	mine := architectures[runtime.GOARCH]
	if m.system == "Linux" && m.arch == mine {
		return nil
	}
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: "host " + r.Host.Name,
		What: fmt.Sprintf("it is a machine with %s on %s, and this berth is for Linux on %s", m.system, m.arch, mine),
		Do:   "leave the host out of --hosts, or start the job on a machine of its kind, with a berth built there"}
}

// capacity returns what a worker has on the host.
func (m machine) capacity(h job.Host) job.Resources {
	if h.CPUs > 0 {
		return job.Resources{CPUs: h.CPUs, Mem: m.mem}
	}
	return job.Resources{CPUs: m.cpus, Mem: m.mem}
}

// nodeType returns the name of the host's type, see predict.NodeType.
func (m machine) nodeType() string { return predict.NodeType(strings.TrimSpace(m.model), m.cpus) }
