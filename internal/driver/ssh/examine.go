package ssh

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/driver"
	"berth/internal/sys/gpus"
	"berth/internal/wire"
)

// cacheText is the folder in which a host keeps copies of berth, as a word of the shell.
const cacheText = "${XDG_CACHE_HOME:-$HOME/.cache}/berth"

// machine is what a host reports about itself.
type machine struct {
	system, arch string // as uname prints it
	cpus         int
	mem          int64 // bytes
	model        string
	has          bool // it has the copy of berth
	sees         bool // it sees the folder
	gpus         gpus.Devices
}

// mark precedes the relevant output of the script. Output of the shell's start-up files comes before it.
const mark = "berth-host"

// quote returns a path as a word of the shell without single quotes, with each byte as an octal number.
func quote(path string) string {
	var b strings.Builder
	b.WriteString(`"$(printf "`)
	for _, c := range []byte(path) {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	b.WriteString(`")"`)
	return b.String()
}

// Answers returns an error if a host does not answer or cannot run this program.
func Answers(ctx context.Context, r *wire.Remote) error {
	_, err := examine(ctx, r, "none", "")
	return err
}

// gpuScript prints the GPUs of a host in three lines, as gpus.Reported reads them: what BERTH_GPUS says, the numbers of those of
// NVIDIA, AMD and Intel, and the model of one of the first. It looks where package gpus does.
const gpuScript = `echo "$` + gpus.Override + `"; n=0; a=0; i=0; for f in /proc/driver/nvidia/gpus/*/information; do [ -e "$f" ] && n=$((n+1)); done; ` +
	`[ $n -gt 0 ] || for f in /dev/nvidia[0-9] /dev/nvidia[0-9][0-9]; do [ -e "$f" ] && n=$((n+1)); done; ` +
	`for f in /sys/class/kfd/kfd/topology/nodes/*/gpu_id; do [ -e "$f" ] && [ "$(cat "$f")" != 0 ] && a=$((a+1)); done; ` +
	`for f in /sys/class/drm/renderD*/device; do case "$(readlink -f "$f")" in *` + gpus.Integrated + `) ;; *) ` +
	`[ -e "$f/vendor" ] && [ "$(cat "$f/vendor")" = 0x8086 ] && i=$((i+1)) ;; esac; done; echo "$n $a $i"; ` +
	`cat /proc/driver/nvidia/gpus/*/information 2>/dev/null | grep -m 1 Model: || echo; `

// examine asks a host for its system, cores, memory and GPUs, whether it has a file in its cache, and whether it sees a folder ("" names none).
func examine(ctx context.Context, r *wire.Remote, file, folder string) (machine, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTime)
	defer cancel()
	script := `echo ` + mark + `; uname -s; uname -m; nproc 2>/dev/null || getconf _NPROCESSORS_ONLN; ` +
		`while read -r name size unit; do [ "$name" = MemTotal: ] && echo "$size"; done </proc/meminfo; ` +
		`[ -x "` + cacheText + `/` + file + `" ] && echo yes || echo no; [ -d ` + quote(folder) + ` ] && echo yes || echo no; ` + gpuScript + `grep -m 1 "model name" /proc/cpuinfo; true`
	out, err := output(ctx, r, script)
	if err != nil {
		return machine{}, err
	}
	_, text, _ := strings.Cut(out, mark+"\n")
	lines := strings.Split(text, "\n")
	bad := job.IOError(job.Transient, "host "+r.Host.Name, fmt.Sprintf("its answer is not understood: %q", strings.TrimSpace(out)), nil)
	if len(lines) < 9 {
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
	m.gpus = gpus.Reported(lines[6], lines[7], lines[8])
	if len(lines) > 9 {
		_, m.model, _ = strings.Cut(lines[9], ":")
	}
	return m, m.check(r)
}

// architectures maps Go's names of architectures to uname's.
const architectures driver.Table = `
amd64 = x86_64
arm64 = aarch64
386 = i686
ppc64le = ppc64le
riscv64 = riscv64
s390x = s390x
`

// check returns an error if this program cannot run on the host.
func (m machine) check(r *wire.Remote) error {
	mine := architectures.Of(runtime.GOARCH)
	if m.system == "Linux" && m.arch == mine {
		return nil
	}
	return job.ConfigError("host "+r.Host.Name, fmt.Sprintf("the host runs %s on %s, but this berth is built for Linux on %s", m.system, m.arch, mine), "remove the host from --hosts, or start the job on a machine of the host's architecture, with a berth built for it")
}

// capacity returns the resources of a worker on the host.
func (m machine) capacity(h job.Host) job.Resources {
	return job.Resources{CPUs: cmp.Or(h.CPUs, m.cpus), Mem: m.mem, GPUs: m.gpus.Count, GPUType: m.gpus.Type}
}

// nodeType returns the host's type (see predict.NodeType).
func (m machine) nodeType() string { return predict.NodeType(strings.TrimSpace(m.model), m.cpus) }
