package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// bed is a coordinator, its workers, and who commands it.
type bed struct {
	o       options
	ctx     context.Context
	cancel  context.CancelFunc
	fleet   *fleet
	server  *exec.Cmd
	program string   // the path from which the coordinator was started, and where it finds the program of workers
	pipe    string   // through which that hands over their configurations
	end     *os.File // once it is closed the processes of workers end
}

// setUp starts the coordinator, on one core, and what answers for its workers.
func setUp(ctx context.Context, o options) (*bed, error) {
	b := &bed{o: o, fleet: &fleet{}, program: filepath.Join(o.dir, "bin", "berth"), pipe: filepath.Join(o.dir, "workers")}
	b.fleet.task.Store(int64(o.task))
	b.ctx, b.cancel = context.WithCancel(ctx)
	if err := os.MkdirAll(filepath.Dir(b.program), 0o755); err != nil {
		return nil, err
	}
	for _, path := range []string{b.pipe, b.pipe + ".end"} {
		if err := unix.Mkfifo(path, 0o600); err != nil {
			return nil, err
		}
	}
	var err error
	if b.end, err = os.OpenFile(b.pipe+".end", os.O_RDWR, 0); err != nil {
		return nil, err
	}
	script := fmt.Sprintf("#!/bin/sh\necho \"$3\" > %s\nexec cat %s.end\n", b.pipe, b.pipe)
	if err := os.WriteFile(b.program+".worker", []byte(script), 0o755); err != nil {
		return nil, err
	}
	if err := copyFile(o.berth, b.program+".server"); err != nil {
		return nil, err
	}
	go func() {
		if err := b.fleet.serve(b.ctx, b.pipe); err != nil && b.ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "load:", err)
		}
	}()
	return b, b.start()
}

// start starts the coordinator and waits until it listens. Afterwards the script stands in the place of its program, which is gone: a
// renamed one would still be found by the coordinator.
func (b *bed) start() error {
	if err := os.Remove(b.program); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := copyFile(b.program+".server", b.program); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(b.o.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	b.server = exec.Command(b.program, "server", "run")
	b.server.Env, b.server.Stderr, b.server.Stdout = append(b.env(), "GOMAXPROCS=1"), log, log
	if err := b.server.Start(); err != nil {
		return err
	}
	listens := func() bool { // the command succeeds also if none is running
		out, _, err := b.berth("server", "status")
		return err == nil && !strings.HasPrefix(out, "no coordinator is running")
	}
	if err := b.until("the coordinator listens", listens); err != nil {
		return err
	}
	if err := os.Link(b.program+".worker", b.program+".next"); err != nil {
		return err
	}
	return os.Rename(b.program+".next", b.program)
}

// kill ends the coordinator without warning.
func (b *bed) kill() {
	_ = b.server.Process.Kill()
	_ = b.server.Wait()
}

func (b *bed) tearDown() {
	_ = b.command("server", "stop", "--force").Run()
	b.cancel()
	b.kill()
	_ = b.end.Close()
}

// env is the environment of the coordinator and of commands: nothing of the user's berth.
func (b *bed) env() []string {
	return []string{"HOME=" + b.o.dir, "PATH=" + os.Getenv("PATH"), "BERTH_ON=local"}
}

func (b *bed) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.ctx, b.o.berth, args...)
	cmd.Dir, cmd.Env = b.o.dir, b.env()
	return cmd
}

// berth runs a command and returns what it prints on standard output, and how long it took.
func (b *bed) berth(args ...string) (string, time.Duration, error) {
	var said strings.Builder
	cmd := b.command(args...)
	cmd.Stderr = &said
	begun := time.Now()
	out, err := cmd.Output()
	took := time.Since(begun)
	if err != nil {
		return "", took, fmt.Errorf("berth %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	return strings.TrimSpace(string(out)), took, nil
}

// until waits for a condition, at most ten minutes.
func (b *bed) until(what string, holds func() bool) error {
	for end := time.Now().Add(10 * time.Minute); !holds(); {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("it did not come to pass that %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// serverCPU returns how long the coordinator has used processors.
func (b *bed) serverCPU() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", b.server.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	var ticks int64
	for _, i := range []int{11, 12} { // utime and stime, proc(5)
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100, nil
}

// serverMemory returns the largest memory of the coordinator so far, in bytes.
func (b *bed) serverMemory() (int64, error) { return memoryOf(b.server.Process.Pid) }

// memoryOf returns the largest memory of a process so far, in bytes.
func memoryOf(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	var kb int64
	_, line, _ := strings.Cut(string(text), "VmHWM:")
	_, err = fmt.Sscan(line, &kb)
	return kb << 10, err
}

// resetMemory has serverMemory begin anew (proc(5), clear_refs).
func (b *bed) resetMemory() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", b.server.Process.Pid), []byte("5"), 0)
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if cerr := dst.Close(); err == nil {
		err = cerr
	}
	return err
}
