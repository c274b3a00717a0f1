package command

import (
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/hits/plant"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newTrace() *cobra.Command {
	return group(command("trace", nil, nil), newTraceStats())
}

func newTraceStats() *cobra.Command {
	var o struct {
		Out       string  `flag:"output,o" usage:"write the result to this file; standard output and standard error then belong to the program"`
		All       bool    `flag:"all" usage:"print all functions, including those that were never called"`
		Threshold float64 `flag:"threshold" usage:"count only functions whose calls in earlier runs were at most this multiple of the mean; tasks use 1"`
		Part      string  `flag:"part" usage:"count only functions whose hash is in this range, LO-HI in hexadecimal digits: to find one that does harm"`
	}
	c := command("trace stats", func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return job.ArgumentError("", "no program is given", "write the program after --: berth trace stats -- COMMAND")
		}
		return nil
	}, func(cmd *cobra.Command, args []string) error {
		chosen, err := partOf(o.Part)
		if err != nil {
			return err
		}
		return traceStats(cmd, args, &plant.Planter{Dir: traceDir(), Threshold: o.Threshold},
			plant.Options{Exact: o.Threshold == 0, All: o.Threshold == 0, Chosen: chosen}, o.Out, o.All)
	})
	addFlags(c.Flags(), &o)
	_ = c.Flags().MarkHidden("part") // the flag is there
	return c
}

// partOf returns what --part chooses: those of a range of hashes, LO ≤ hash < HI, or all.
func partOf(text string) (func(string, uint64) bool, error) {
	if text == "" {
		return nil, nil
	}
	from, to, _ := strings.Cut(text, "-")
	lo, err1 := strconv.ParseUint(from, 16, 64)
	hi, err2 := strconv.ParseUint(to, 16, 64)
	if err1 != nil || err2 != nil {
		return nil, job.ArgumentError("--part", fmt.Sprintf("%q is not a range", text), "write a range as in 0-80000000")
	}
	return func(id string, entry uint64) bool {
		h := fnv.New32a()
		fmt.Fprintf(h, "%s/%x", id, entry)
		sum := uint64(h.Sum32())
		return lo <= sum && sum < hi
	}, nil
}

func traceStats(cmd *cobra.Command, args []string, p *plant.Planter, o plant.Options, out string, all bool) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return job.UserError(args[0], "there is no such program", "").Because(err)
	}
	w, err := resultFile(cmd, out)
	if err != nil {
		return err
	}
	s, status, err := tracedRun(p, path, args, o, wantJSON(cmd) && out == "")
	if err != nil {
		return job.UserError(path, "cannot be run", "").Because(err)
	}
	v := ui.TraceStats(s, status, all)
	s.Close()
	if wantJSON(cmd) {
		err = ui.JSON(w, v)
	} else {
		err = v.Print(w)
	}
	if w, is := w.(io.Closer); is && out != "" && err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	code := v.Exit
	if v.Signal != 0 {
		code = 128 + v.Signal
	}
	if code != 0 {
		return &exitError{code: code}
	}
	return nil
}

func resultFile(cmd *cobra.Command, path string) (io.Writer, error) {
	switch {
	case path == "" && wantJSON(cmd):
		return cmd.OutOrStdout(), nil
	case path == "":
		return cmd.ErrOrStderr(), nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, job.IOError(job.User, path, "cannot be written", err)
	}
	return f, nil
}

// traceDir returns the folder of statistics, "" if there is none: the program is run all the same.
func traceDir() string {
	h, err := statedir.Open()
	if err != nil {
		return ""
	}
	return h.Trace()
}

// tracedRun runs the program. An interrupt from the terminal goes to the program as well, which says what becomes
// of it; what asks berth to end is passed on.
func tracedRun(p *plant.Planter, path string, args []string, o plant.Options, quiet bool) (*plant.Session, unix.WaitStatus, error) {
	var pid atomic.Int64
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP)
	defer func() { signal.Stop(signals); close(signals) }()
	go func() {
		for sig := range signals {
			if n := int(pid.Load()); n != 0 && (sig == unix.SIGTERM || sig == unix.SIGHUP) {
				_ = unix.Kill(n, sig.(unix.Signal)) // it may have ended
			}
		}
	}()
	files := []uintptr{0, 1, 2}
	if quiet {
		files[1] = 2
	}
	return p.Run(path, args, &syscall.ProcAttr{Env: os.Environ(), Files: files}, o, func(n int) { pid.Store(int64(n)) })
}
