package hqhome

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// Submission is a job as hq submit describes it.
type Submission struct {
	Name, Dir, Log, Stdout, Stderr string
	CPUs                           int // of each node, if it has several
	GPUs                           float64
	Nodes                          int    // 0: the job is one process
	Mem                            int64  // bytes
	Time                           string // limit, as hq writes it
	Env                            []string
	Flags                          string // of a bag for jobs like this one, as a shell would have them
	Command                        []string
	Told                           string // the folder in which Nextflow looks for the end of the job, or ""
}

// mark begins the lines of a script that have options of hq submit.
const mark = "#HQ"

// parse reads the words behind hq submit. dir is the present folder.
func (c *Command) parse(args []string, dir string) (Submission, error) {
	s, f := Submission{Dir: dir}, c.options("hq submit")
	var resources []string
	cpus, directives := "", "auto"
	s.options(f, map[string]*string{"cpus": &cpus, "directives": &directives})
	f.StringArrayVar(&resources, "resource", nil, "")
	if err := f.Parse(args); err != nil {
		return s, job.ArgumentError("hq submit", err.Error(), "leave it out, or use berth bag, which has its own flags")
	}
	if s.Command = f.Args(); len(s.Command) == 0 {
		return s, job.ArgumentError("hq submit", "required: a command", "hq submit ./prog")
	}
	script := s.Command[0]
	if !filepath.IsAbs(script) && (strings.Contains(script, "/") || directives == "file") {
		script = filepath.Join(dir, script)
	}
	if directives == "file" || directives == "auto" && strings.HasSuffix(script, ".sh") {
		shell, words, err := readScript(script)
		if err != nil {
			return s, err
		}
		if err := f.Parse(words); err != nil {
			return s, job.ConfigError(script, err.Error(), "leave it out of the lines with "+mark+"; they can have flags of berth bag as in "+mark+" --berth-flags='-p short'")
		}
		_ = f.Parse(args) // once more, as the words of the command come before those of the script
		if s.Command = append(append(shell, script), s.Command[1:]...); filepath.Base(script) == ".command.run" {
			s.Told = filepath.Dir(script)
		}
	}
	s.Name = cmp.Or(s.Name, filepath.Base(script))
	if cpus != "" {
		resources = append(resources, "cpus="+cpus)
	}
	return s, s.finish(dir, resources)
}

// options adds the options of hq submit.
func (s *Submission) options(f *pflag.FlagSet, more map[string]*string) {
	ignored := ""
	maps.Copy(more, map[string]*string{
		"name": &s.Name, "cwd": &s.Dir, "stdout": &s.Stdout, "stderr": &s.Stderr, "time-limit": &s.Time, "log": &s.Log,
		"stream":       &s.Log, // a folder for logs of HyperQueue's own form; Nextflow names a file, which it reads as text
		"time-request": &ignored, "priority": &ignored, "max-fails": &ignored, "crash-limit": &ignored, "pin": &ignored, "weight": &ignored,
		"berth-flags": &s.Flags,
	})
	for name, to := range more {
		f.StringVar(to, name, *to, "")
	}
	f.StringArrayVar(&s.Env, "env", nil, "")
	f.IntVar(&s.Nodes, "nodes", 0, "")
}

// readScript returns the interpreter of a script, and the options in the lines before its first command.
func readScript(script string) (shell, words []string, err error) {
	text, err := os.ReadFile(script)
	if err != nil {
		return nil, nil, job.IOError(job.User, script, "the script cannot be read", err).Advice("name a script")
	}
	shell = []string{"/bin/bash"}
	if first, _, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(first, "#!") {
		shell = split(first[2:])
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			break
		}
		if rest, ok := strings.CutPrefix(line, mark+" "); ok {
			words = append(words, split(rest)...)
		}
	}
	return shell, words, nil
}

// finish reads resources and makes paths absolute.
func (s *Submission) finish(dir string, resources []string) error {
	for _, r := range resources {
		name, value, _ := strings.Cut(r, "=")
		value, _, _ = strings.Cut(strings.TrimSpace(value), " ") // which cores these are, as in "4 compact", is berth's business
		n, err := strconv.ParseFloat(strings.ReplaceAll(value, "_", ""), 64)
		switch {
		case err != nil || !(n >= 0 && n <= 1e18):
			return job.ArgumentError("--resource", fmt.Sprintf("%q is not NAME=NUMBER", r), "write --resource mem=1024, in MiB")
		case name == "mem":
			s.Mem = memory(n)
		case name == "cpus":
			s.CPUs = int(math.Ceil(min(n, math.MaxInt32)))
		case strings.HasPrefix(name, "gpus"):
			s.GPUs = n
		default:
			return job.ArgumentError("--resource", fmt.Sprintf("berth knows no resource %q", name), "it has cpus, mem and gpus")
		}
	}
	if s.Nodes < 0 {
		return job.ArgumentError("hq submit", "--nodes is not below 0", "")
	}
	if s.Nodes == 0 {
		s.CPUs = max(s.CPUs, 1)
	}
	for _, path := range []*string{&s.Dir, &s.Log, &s.Stdout, &s.Stderr} {
		if *path != "" && *path != job.Discard && !filepath.IsAbs(*path) {
			*path = filepath.Join(dir, *path)
		}
	}
	return nil
}

// memory returns bytes. HyperQueue counts memory in MiB, and counted bytes before its version 0.17, as Nextflow did before
// 24.10: a number that would be more than a tebibyte in MiB is one of bytes.
func memory(n float64) int64 {
	if n <= 1<<20 {
		n *= 1 << 20
	}
	return int64(n)
}

// ofNodes tells the command of a job that asks for nodes which they are, as HyperQueue does. The job has one rank on each; one of a single
// rank has no file of hosts.
const ofNodes = `: "${BERTH_HOSTFILE:=$BERTH_TASK_DIR/nodes}"; [ -e "$BERTH_HOSTFILE" ] || uname -n >"$BERTH_HOSTFILE"; ` +
	`export HQ_NUM_NODES=${BERTH_NODES:-1} HQ_NODE_FILE=$BERTH_HOSTFILE HQ_HOST_FILE=$BERTH_HOSTFILE; `

// ofNextflow runs a script of Nextflow, which writes its exit status into a file that is all that Nextflow looks at. So does one that is told
// to end, although its task will be started again if its worker or allocation ended. So the file is withheld then, until hq job list knows that the
// task is over. A task whose worker was lost after Nextflow had been told is not made again below the hands of those that use its results.
const ofNextflow = `d=${0%/*}; [ ! -s "$d/.exitcode" ] || exit "$(cat "$d/.exitcode")"; rm -f "$d/.exitcode.held"; ` +
	`sed 's|/\.exitcode$|&.held|' "$0" >"$BERTH_TASK_DIR/run"; trap told=1 TERM; "$@" "$BERTH_TASK_DIR/run"; status=$?; ` +
	`[ -n "${told-}" ] && [ "$status" != 0 ] || mv "$d/.exitcode.held" "$d/.exitcode" 2>/dev/null || echo "$status" >"$d/.exitcode"; exit "$status"`

// Line returns the job as a line of berth add --tasks.
func (s *Submission) Line() (map[string]any, error) {
	line := map[string]any{"dir": s.Dir}
	begin := ""
	if s.CPUs > 0 { // else what the bag says, as a job of several nodes has all of their cores with HyperQueue
		line["cpus"] = s.CPUs
	}
	if s.Nodes > 0 {
		line["ranks"], line["ranks_per_node"], begin = s.Nodes, 1, ofNodes
	}
	if s.Log != "" && s.Stdout == "" && s.Stderr == "" {
		s.Stdout, s.Stderr, begin = s.Log, job.Discard, begin+"exec 2>&1; "
	}
	line["command"] = append([]string{"/bin/sh", "-c", begin + "exec \"$@\"", "hq"}, s.Command...)
	if script := len(s.Command) - 1; s.Told != "" {
		line["command"] = append([]string{"/bin/sh", "-c", begin + ofNextflow, s.Command[script]}, s.Command[:script]...)
	}
	for key, path := range map[string]string{"stdout": s.Stdout, "stderr": s.Stderr} {
		if path != "" {
			line[key] = path
		}
	}
	if s.Mem > 0 {
		line["mem"] = strconv.FormatInt((s.Mem+1<<20-1)>>20, 10) + "M"
	}
	if s.GPUs > 0 {
		line["gpus"] = s.GPUs
	}
	if len(s.Env) > 0 {
		env := make(map[string]string, len(s.Env))
		for _, kv := range s.Env {
			env[kv[:max(0, strings.IndexByte(kv, '='))]] = kv[strings.IndexByte(kv, '=')+1:]
		}
		line["env"] = env
	}
	if s.Time == "" {
		return line, nil
	}
	limit, err := parse.Duration("--time-limit", duration(s.Time))
	if line["time"] = strconv.FormatFloat(limit.Seconds(), 'f', -1, 64) + "s"; limit == 0 {
		delete(line, "time")
	}
	return line, err
}

// duration writes a duration of hq as berth reads it. A number alone is one of seconds, and units are words, as in "1hour 30min".
func duration(s string) string {
	if _, err := strconv.Atoi(s); err == nil {
		return s + "s"
	}
	return strings.NewReplacer(" ", "", "days", "d", "day", "d", "hours", "h", "hour", "h", "hrs", "h", "hr", "h",
		"minutes", "m", "minute", "m", "mins", "m", "min", "m", "seconds", "s", "second", "s", "secs", "s", "sec", "s").Replace(s)
}

// split splits a line into words as a shell does, without expansions.
func split(line string) []string {
	var words []string
	var word strings.Builder
	quote, inside := rune(0), false
	flush := func() {
		if inside {
			words = append(words, word.String())
			word.Reset()
			inside = false
		}
	}
	escaped := false
	for _, c := range line {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inside = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inside = c, true
		case quote == 0 && strings.ContainsRune(" \t\r\n", c):
			flush()
		default:
			word.WriteRune(c)
			inside = true
		}
	}
	flush()
	return words
}
