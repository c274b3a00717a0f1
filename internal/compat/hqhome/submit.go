package hqhome

import (
	"fmt"
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
	CPUs, GPUs                     int
	Mem                            int64  // bytes
	Time                           string // limit, as hq writes it
	Env                            []string
	Command                        []string
}

// mark begins the lines of a script that have options of hq submit.
const mark = "#HQ"

// ParseSubmit reads the words behind hq submit. dir is the present folder.
func ParseSubmit(args []string, dir string) (Submission, error) {
	s := Submission{CPUs: 1, Dir: dir}
	var resources []string
	directives := "auto"
	flags := s.flags(&resources, &directives)
	if err := flags.Parse(args); err != nil {
		return s, job.ArgumentError("hq submit", err.Error(), "leave it out, or use berth bag, which has its own flags")
	}
	if s.Command = flags.Args(); len(s.Command) == 0 {
		return s, job.ArgumentError("hq submit", "required: a command", "hq submit ./prog")
	}
	script := s.Command[0]
	if !filepath.IsAbs(script) && (strings.Contains(script, "/") || directives == "file") {
		script = filepath.Join(dir, script)
	}
	if directives == "file" || directives == "auto" && strings.HasSuffix(script, ".sh") {
		if err := s.directives(script, flags); err != nil {
			return s, err
		}
		s.Command = append([]string{"/bin/bash", script}, s.Command[1:]...)
	}
	return s, s.finish(dir, resources)
}

func (s *Submission) flags(resources *[]string, directives *string) *pflag.FlagSet {
	f := pflag.NewFlagSet("hq submit", pflag.ContinueOnError)
	f.SetInterspersed(false)
	f.Usage = func() {}
	ignored := ""
	for name, to := range map[string]*string{
		"name": &s.Name, "cwd": &s.Dir, "stdout": &s.Stdout, "stderr": &s.Stderr, "time-limit": &s.Time, "directives": directives, "log": &s.Log,
		"stream":       &s.Log, // a folder for logs of HyperQueue's own form; Nextflow names a file, which it reads as text
		"time-request": &ignored, "priority": &ignored, "max-fails": &ignored, "crash-limit": &ignored, "pin": &ignored,
	} {
		f.StringVar(to, name, *to, "")
	}
	f.StringArrayVar(&s.Env, "env", nil, "")
	f.IntVar(&s.CPUs, "cpus", 1, "")
	f.StringArrayVar(resources, "resource", nil, "")
	return f
}

// directives reads the options in a script.
func (s *Submission) directives(script string, flags *pflag.FlagSet) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return job.IOError(job.User, script, "the script cannot be read", err).Advice("name a script")
	}
	var words []string
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, mark+" "); ok {
			words = append(words, split(rest)...)
		}
	}
	command := s.Command
	if err := flags.Parse(words); err != nil {
		return job.ConfigError(script, err.Error(), "leave it out of the lines with "+mark)
	}
	s.Command = command
	return nil
}

// finish reads resources and makes paths absolute.
func (s *Submission) finish(dir string, resources []string) error {
	for _, r := range resources {
		name, value, _ := strings.Cut(r, "=")
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil || n < 0:
			return job.ArgumentError("--resource", fmt.Sprintf("%q is not NAME=NUMBER", r), "write --resource mem=1024, in MiB")
		case name == "mem":
			s.Mem = memory(n)
		case strings.HasPrefix(name, "gpus"):
			s.GPUs = int(n)
		default:
			return job.ArgumentError("--resource", fmt.Sprintf("berth knows no resource %q", name), "it has mem and gpus, and --cpus")
		}
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

// Line returns the job as a line of berth add --tasks.
func (s *Submission) Line() (map[string]any, error) {
	line := map[string]any{"dir": s.Dir, "cpus": s.CPUs}
	begin := ""
	if s.Log != "" && s.Stdout == "" && s.Stderr == "" {
		s.Stdout, s.Stderr, begin = s.Log, job.Discard, "exec 2>&1; "
	}
	line["command"] = append([]string{"/bin/sh", "-c", begin + "exec \"$@\"", "hq"}, s.Command...)
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
	limit, err := parse.Duration("--time-limit", strings.NewReplacer("secs", "s", "sec", "s", "mins", "m", "min", "m").Replace(s.Time))
	if line["time"] = strconv.FormatFloat(limit.Seconds(), 'f', -1, 64) + "s"; limit == 0 {
		delete(line, "time")
	}
	return line, err
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
