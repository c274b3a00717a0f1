package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/sys/statedir"
)

// streams measures the commands that print something for each task of a bag of a million tasks: how soon they begin, how long they take, and
// their largest memory, with what they add to that of the coordinator. Each task has printed a line, as no worker of the fleet writes any. The
// tasks are indices of an array, or lines of JSON with a name and a command each.
func streams(b *bed) (rows []row, err error) {
	tasks := min(b.o.many, 1_000_000)
	array := fmt.Sprintf("1-%d", tasks)
	lines := filepath.Join(b.o.dir, "lines")
	var text bytes.Buffer
	for i := range tasks {
		fmt.Fprintf(&text, `{"name":"sample-%06d","command":["true","sample-%06d.csv"]}`+"\n", i, i)
	}
	if err := os.WriteFile(lines, text.Bytes(), 0o600); err != nil {
		return nil, err
	}
	for _, of := range []struct {
		what string
		args []string
		plan []string
	}{
		{"tasks", []string{"--array", array, "--", "true"}, []string{"plan", "bag", "--array", array, "--", "true"}},
		{"lines", []string{"--tasks", lines}, nil}, // a plan has the whole text in memory
	} {
		id, _, err := b.berth(append([]string{"bag", "--detach", "-N", fmt.Sprint(b.o.workers)}, of.args...)...)
		if err != nil {
			return nil, err
		}
		if _, _, err := b.berth("wait", id); err != nil {
			return nil, err
		}
		if err := b.printed(job.ID(id), tasks); err != nil {
			return nil, err
		}
		for _, args := range [][]string{{"status", id, "--json"}, {"cat", id}, of.plan} {
			if args == nil {
				continue
			}
			if err := b.resetMemory(); err != nil {
				return nil, err
			}
			before, err := b.serverMemory()
			if err != nil {
				return nil, err
			}
			s, err := b.stream(args...)
			if err != nil {
				return nil, err
			}
			after, err := b.serverMemory()
			if err != nil {
				return nil, err
			}
			name := map[string]string{"status": "status JOB --json", "cat": "cat JOB", "plan": "plan bag"}[args[0]]
			rows = append(rows, row{fmt.Sprintf("`berth %s` of a bag of %d %s: memory, and what the coordinator adds; the first byte, and the last", name, tasks, of.what),
				fmt.Sprintf("%d MB, %d MB; %.2f s, %.1f s", s.memory>>20, (after-before)>>20, s.first.Seconds(), s.all.Seconds()), "≤ 100 MB, ≤ 0.5 s"})
		}
	}
	return rows, nil
}

// printed writes what the tasks of a bag would have printed, as a worker does.
func (b *bed) printed(id job.ID, tasks int) error {
	spec, err := statedir.Home{Dir: filepath.Join(b.o.dir, ".local", "state", "berth")}.Run(id).Spec()
	if err != nil {
		return err
	}
	w := collect.NewWriter(spec.Bag.CollectFolder(id))
	for i := range tasks {
		line := fmt.Appendf(nil, "task %d\n", i+1)
		out := io.NewSectionReader(bytes.NewReader(line), 0, int64(len(line)))
		if _, err := w.Add(job.Attempt{Job: id, Task: i, N: 1}, [2]*io.SectionReader{out, nil}); err != nil {
			return err
		}
	}
	return w.Close()
}

// streamed is what a command took whose output was read as it came.
type streamed struct {
	first, all time.Duration
	memory     int64 // the largest, in bytes
}

// stream runs a command and reads its output. Its memory is asked for while it runs, as what the kernel tells of a process that is over counts that of
// the one that started it.
func (b *bed) stream(args ...string) (s streamed, err error) {
	cmd := b.command(args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	over := make(chan struct{})
	asked := make(chan int64)
	go func() {
		var most int64
		for {
			select {
			case <-over:
				asked <- most
				return
			case <-time.After(5 * time.Millisecond):
				if n, err := memoryOf(cmd.Process.Pid); err == nil {
					most = max(most, n)
				}
			}
		}
	}()
	_, err = io.ReadFull(out, make([]byte, 1))
	s.first = time.Since(begun)
	_, rest := io.Copy(io.Discard, out)
	s.all = time.Since(begun)
	close(over)
	s.memory = <-asked
	if err := errors.Join(err, rest, cmd.Wait()); err != nil {
		return s, fmt.Errorf("berth %s: %w: %s", args[0], err, said.String())
	}
	return s, nil
}
