package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"berth/test/support/fleet"
)

// kind is a type of machine of the experiment.
type kind struct {
	Name  string  `json:"name"`
	Cores float64 `json:"cores"` // of this machine, as a quota
	Rate  int64   `json:"rate"`  // bytes/s of its link
	Price float64 `json:"price"` // for an hour
	Limit int     `json:"limit"` // number of machines of this kind

	Task   float64 `json:"task_s"` // computing time of a task, as measured
	Spread float64 `json:"spread"` // standard deviation of the task times, as a fraction of their mean, as measured
	Boot   float64 `json:"boot_s"` // from the command to the first task, as measured
}

// machines returns the available machines. Together they have little more than one core, so that they
// do not wait for each other's processor time.
func machines(quick bool) []kind {
	all := []kind{{Name: "small", Cores: 0.08, Rate: 600_000, Price: 36, Limit: 4}, {Name: "medium", Cores: 0.12, Rate: 1_000_000, Price: 61, Limit: 3},
		{Name: "large", Cores: 0.18, Rate: 2_000_000, Price: 80, Limit: 3}}
	if quick {
		for i := range all {
			all[i].Limit = 1
		}
	}
	return all
}

// unit is the billing unit in seconds, and server the bytes/s of the data server.
const (
	unit   = 5
	server = 1_500_000
)

// bench is the machines and what runs on them.
type bench struct {
	*options
	dir   string // temporary: the user's folder and state
	fleet *fleet.Fleet
	kinds []kind
	turn  int

	input, output float64 // mean bytes of a task in the last turn
}

func newBench(ctx context.Context, o *options, kinds []kind) (*bench, error) {
	dir, err := os.MkdirTemp("", "berth-fleet-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, dir: dir, kinds: kinds}
	if b.fleet, err = fleet.New(fleet.Options{Apart: true, Server: server}); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for _, k := range b.kinds {
		for i := range k.Limit {
			if err := ctx.Err(); err != nil {
				return nil, errors.Join(err, b.close())
			}
			h, err := b.fleet.Boot(fleet.Machine{Name: k.host(i), Rate: k.Rate, Cores: k.Cores})
			if err == nil {
				err = b.install(h)
			}
			if err != nil {
				return nil, errors.Join(err, b.close())
			}
		}
	}
	if err := b.fleet.Head(); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// install gives a machine its copy of berth, which a machine has after its first job.
func (b *bench) install(h *fleet.Host) error {
	program, err := os.ReadFile(b.berth)
	if err != nil {
		return err
	}
	dir := filepath.Join(h.Cache(), "berth")
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, fmt.Sprintf("berth-%x", sha256.Sum256(program))), program, 0o700))
}

func (k kind) host(i int) string { return fmt.Sprintf("%s%d", k.Name, i+1) }

func (b *bench) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := b.do(ctx, "server", "stop", "--force")
	return errors.Join(err, b.fleet.Close(), os.RemoveAll(b.dir))
}

// hosts lists the machines of a configuration for --hosts: one task at a time on each.
func (b *bench) hosts(counts []int) string {
	var all []string
	for i, k := range b.kinds {
		for n := range counts[i] {
			all = append(all, "1/"+k.host(n))
		}
	}
	return strings.Join(all, ",")
}

// name formats a configuration for --only.
func (b *bench) name(counts []int) string {
	var all []string
	for i, k := range b.kinds {
		if counts[i] > 0 {
			all = append(all, fmt.Sprintf("%s=%d", k.Name, counts[i]))
		}
	}
	return strings.Join(all, ",")
}

// command is a berth command of the user in the folder of this turn.
func (b *bench) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.berth, args...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "BERTH_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "XDG_STATE_HOME="+filepath.Join(b.dir, "state"), "BERTH_SSH="+b.fleet.Command, "SLURM_CONF=/dev/null", "NO_COLOR=1")
	cmd.Dir = b.dir
	return cmd
}

func (b *bench) do(ctx context.Context, args ...string) ([]byte, error) {
	var said bytes.Buffer
	cmd := b.command(ctx, args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("berth %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	return out, err
}

func (b *bench) ask(ctx context.Context, to any, args ...string) error {
	out, err := b.do(ctx, append(args, "--json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, to)
}

// view is the part of a job's record that is read; docs/json.md.
type view struct {
	ID        string    `json:"id"`
	Submitted time.Time `json:"submitted"`
	Ended     time.Time `json:"ended"`
	Rows      []struct {
		Node    string    `json:"node"`
		Outcome string    `json:"outcome"`
		Started time.Time `json:"started"`
		Ended   time.Time `json:"ended"`
	} `json:"rows"`
}

// makespan is the seconds from the request for machines until all tasks have ended.
func (v *view) makespan() float64 { return v.Ended.Sub(v.Submitted).Seconds() }

// convert runs a bag of conversions on machines, and checks that all outputs exist.
func (b *bench) convert(ctx context.Context, counts []int, tasks int) (v view, err error) {
	b.turn++
	work := filepath.Join(b.dir, fmt.Sprint("turn", b.turn))
	names, err := pictures(filepath.Join(work, "in"), tasks, b.turn)
	if err != nil {
		return v, err
	}
	err = errors.Join(os.WriteFile(filepath.Join(work, "names"), []byte(strings.Join(names, "\n")+"\n"), 0o600), os.Mkdir(filepath.Join(work, "out"), 0o700))
	if err != nil {
		return v, err
	}
	cmd := b.command(ctx, "bag", "--hosts", b.hosts(counts), "--idle-timeout", "10ms", "--each-line", "names", "--outputs", "out/{/.}.jpg", "--stdout", "none", "--",
		"/usr/bin/convert", "in/{}", "-blur", "0x20", "-quality", "80", "out/{/.}.jpg")
	cmd.Dir = work
	if out, err := cmd.CombinedOutput(); err != nil {
		return v, fmt.Errorf("berth bag on %s: %w: %s", b.name(counts), err, out)
	}
	done, err := filepath.Glob(filepath.Join(work, "out", "*.jpg"))
	if err == nil && len(done) != tasks {
		err = fmt.Errorf("%d of %d pictures are there", len(done), tasks)
	}
	b.input, b.output = meanSize(work, "in"), meanSize(work, "out")
	var list struct {
		Jobs []view `json:"jobs"`
	}
	if err == nil {
		err = b.ask(ctx, &list, "status", "--all")
	}
	if err == nil {
		err = b.ask(ctx, &v, "report", list.Jobs[len(list.Jobs)-1].ID, "--tasks")
	}
	return v, errors.Join(err, b.deserted(ctx), os.RemoveAll(work))
}

// deserted waits until the machines are released, because the next bag uses other machines.
func (b *bench) deserted(ctx context.Context) error {
	for {
		if left, _ := filepath.Glob(filepath.Join(b.dir, "state", "berth", "server", "ssh", "*")); len(left) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// meanSize returns the mean size of the files in a folder.
func meanSize(work, name string) (mean float64) {
	files, _ := filepath.Glob(filepath.Join(work, name, "*"))
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			mean += float64(st.Size()) / float64(len(files))
		}
	}
	return mean
}
