package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/sys/procattr"
)

// Tools runs the commands of a batch system. The implementations of System embed it.
type Tools struct {
	User     []string      // the user's environment
	Path     string        // the folders of the commands, as in PATH; "": those in User
	Env      []string      // environment of Output's calls
	Needed   []string      // the commands without which the batch system is not installed
	Variable string        // that shows that this machine belongs to a cluster, as does Config
	Config   string        // a file
	Load     string        // what users can do if a command is in none of them
	Patience time.Duration // the longest run time of a command

	// Classify returns the error of a command that failed, made from its standard error, or from its output if that is empty, and its exit status.
	Classify func(name, said string, status int) error
	// ID finds the job's id, its first group, in a line of the submitting command.
	ID func() *regexp.Regexp
}

// Call is one call of a command.
type Call struct {
	Name string
	Args []string
	Env  []string
	In   string   // its standard input
	Out  *os.File // to which its standard output goes directly; nil: Run returns the output
}

// find returns the file of a command, "" if it is not there.
func (t *Tools) find(name string) string {
	return procattr.LookPath(cmp.Or(t.Path, job.Getenv(t.User, "PATH")), "/", name)
}

// Missing returns the error for a command that is not there.
func (t *Tools) Missing(name string) error {
	return job.ConfigError(name, "the command is not on PATH", t.Load)
}

// Run runs a command and returns its standard output and standard error. The command ends with ctx, and after Patience. It writes to files in
// memory, so that a process which it leaves behind with its output open keeps nobody waiting, and nothing that it wrote is read too late.
func (t *Tools) Run(ctx context.Context, c Call) (out, said string, err error) {
	path := t.find(c.Name)
	if path == "" {
		return "", "", t.Missing(c.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, t.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, c.Args...)
	cmd.Args[0] = c.Name // its messages begin with this name
	cmd.Env, cmd.Dir, cmd.WaitDelay = withFolders(c.Env), "/", time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it may be a script, whose commands end with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	printed, err := memoryFile()
	if err != nil {
		return "", "", err
	}
	defer printed.Close()
	wrote, err := memoryFile()
	if err != nil {
		return "", "", err
	}
	defer wrote.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.In), cmp.Or(c.Out, printed), wrote
	err = cmd.Run()
	out, said = content(printed), content(wrote)
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return out, said, t.failure(ctx, cmd, cmp.Or(said, out), err) // Grid Engine's qdel prints why it fails
	}
	return out, said, nil
}

// memoryFile returns an empty file without a name.
func memoryFile() (*os.File, error) {
	if fd, err := unix.MemfdCreate("berth-command", unix.MFD_CLOEXEC); err == nil {
		return os.NewFile(uintptr(fd), "output"), nil
	}
	f, err := os.CreateTemp("", "berth-command-") // Linux before 3.17
	if err != nil {
		return nil, job.IOError(job.Transient, os.TempDir(), "no file can be made for the output of a command", err)
	}
	return f, os.Remove(f.Name())
}

// content returns what is in a file. It leaves the file's offset to those that still write.
func content(f *os.File) string {
	b, _ := io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
	return string(b)
}

// withFolders returns an environment without the folders for temporary files that are gone, or that others own: the
// user's command may have had that of a batch job which has ended since.
func withFolders(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, dir, _ := strings.Cut(kv, "=")
		return slices.Contains(process.Temporary, name) && unix.Access(dir, unix.W_OK|unix.X_OK) != nil
	})
}

// failure returns the error of a failed command.
func (t *Tools) failure(ctx context.Context, cmd *exec.Cmd, said string, err error) error {
	name := cmd.Args[0]
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return job.TransientError(name, fmt.Sprintf("no answer within %v", t.Patience), ErrAway)
	case ctx.Err() != nil:
		return job.TransientError(name, "interrupted", ctx.Err())
	case !errors.As(err, &exit):
		return job.FatalError(cmd.Path, "cannot be run", err)
	}
	return t.Classify(name, said, exit.ExitCode())
}

// Submit runs the submitting command, whose standard output goes directly to c.Out, and returns the job's id.
func (t *Tools) Submit(ctx context.Context, c Call) (id string, err error) {
	_, said, err := t.Run(ctx, c)
	if err != nil {
		return "", err
	}
	if text, err := os.ReadFile(c.Out.Name()); err == nil {
		if id := t.JobID(string(text)); id != "" {
			return id, nil
		}
	}
	return "", job.TransientError(c.Name, "it printed no job id: "+strings.TrimSpace(said), ErrAway)
}

// A Kind is a kind of failures, with texts that messages of it contain. Bars separate them.
type Kind struct {
	Err      error  // ErrAway, ErrGone or ErrLater; nil: it is the user's error
	Of       string // the commands of which it may be; "": of all
	Contains string
	Do       string // what the user can do; "": nothing is known
}

// NoConnection are texts of the system about connections.
const NoConnection = "Connection refused|Connection reset|Connection timed out|No route to host|Network is unreachable|Broken pipe"

// containsAny reports whether what was said contains one of the texts.
func containsAny(said, texts string) bool {
	return slices.ContainsFunc(strings.Split(texts, "|"), func(text string) bool { return strings.Contains(said, text) })
}

// Failure makes an error from a command's message, with what it means in the batch system's own words. It is of the first kind that matches,
// and transient then unless the job is gone; else it is the user's error.
func Failure(kinds []Kind, name, said, what string) *job.Error {
	for _, k := range kinds {
		switch {
		case k.Of != "" && !slices.Contains(strings.Split(k.Of, "|"), name), !containsAny(said, k.Contains):
		case k.Err == nil:
			return job.ConfigError(name, what, k.Do)
		case errors.Is(k.Err, ErrGone):
			return job.UserError(name, what, "").Because(k.Err)
		default:
			return job.TransientError(name, what, k.Err)
		}
	}
	return job.ConfigError(name, what, "")
}

// OneLine returns a command's messages in one line, without the prefixes, which bars separate. A prefix is removed once from each line, in this
// order. rest returns what is left of a line, "" if it says nothing.
func OneLine(said, prefixes string, rest func(line string) string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for prefix := range strings.SplitSeq(prefixes, "|") {
			line = strings.TrimPrefix(line, prefix)
		}
		if line = rest(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "the command failed without a message"
	}
	return strings.Join(lines, "; ")
}
