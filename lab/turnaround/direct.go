package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// puller is the program of requests that are made without berth: two workers a node take one task after the other from a folder, and
// then reduces, until none is left.
const puller = `cd "$1" || exit 1
least() { n=$1; shift; [ $# -ge "$n" ]; }
work() {
	i=0
	while read -r line; do
		i=$((i + 1))
		mkdir "claims/m$i" 2>/dev/null || continue
		sleep "${line##* }"
		: >"out/m$i"
	done <input
	[ "$3" -eq 0 ] || until least "$2" out/m*; do sleep 0.3; done
	i=0
	while [ "$i" -lt "$3" ]; do
		i=$((i + 1))
		mkdir "claims/r$i" 2>/dev/null || continue
		sleep "$4"
		: >"out/r$i"
	done
}
work "$@" &
work "$@" &
wait
`

// requests are equal requests that are made at the same time.
type requests struct {
	shape
	copies int
}

// narrow is as many requests of one node as habit c has nodes.
func narrow(s *situation) requests {
	return requests{shape{1, s.maxMinutes()}, min(s.maxNodes(), max(s.job.tasks(), s.job.reduces))}
}

// wide is one request for as many nodes.
func wide(s *situation) requests {
	n := narrow(s)
	return requests{shape{n.copies, n.minutes}, 1}
}

// byTestOnly is torc's rule: the batch system is asked when each of the two would start, and the wide one is requested unless the
// narrow ones would start before it.
func byTestOnly(ctx context.Context, p *site, s *situation) (requests, error) {
	w, n := wide(s), narrow(s)
	begins := [2]string{}
	for i, r := range []requests{w, n} {
		said, err := p.both(ctx, append([]string{"sbatch", "--test-only"}, p.words(s, r.shape)[1:]...))
		m := testOnly.FindStringSubmatch(said)
		if m == nil {
			return w, fmt.Errorf("sbatch --test-only: %w: %s", err, said)
		}
		begins[i] = m[1]
	}
	if begins[1] < begins[0] {
		return n, nil
	}
	return w, nil
}

var testOnly = regexp.MustCompile(`to start at (\S+)`)

// words is the command that makes a request without berth.
func (p *site) words(s *situation, r shape) []string {
	w := s.job
	words := []string{"sbatch", "--parsable", "--job-name", "direct", "--output", "/dev/null", "--nodes", strconv.Itoa(r.nodes), "--exclusive",
		"--ntasks-per-node", "1", "--time", strconv.Itoa(r.minutes)}
	if s.short {
		words = append(words, "--partition", p.short)
	}
	return append(words, "--wrap", fmt.Sprintf("srun sh %s %s %d %d %g", filepath.Join(filepath.Dir(filepath.Dir(p.work)), "programs", "pull.sh"),
		p.work, w.tasks(), w.reduces, w.reduceTo))
}

// direct runs the job in requests that are made without berth.
func (b *bench) direct(ctx context.Context, p *site, s *situation, st *strategy, o *outcome) error {
	if _, err := s.job.write(p.work, "", seedRun, nil); err != nil {
		return err
	}
	for _, d := range []string{"claims", "out"} {
		if err := os.Mkdir(filepath.Join(p.work, d), 0o700); err != nil {
			return err
		}
	}
	begun := time.Now()
	r, err := st.direct(ctx, p, s)
	if err != nil {
		return err
	}
	o.Request = fmt.Sprintf("%d × %s", r.copies, r.shape)
	for range r.copies {
		if err := p.run(ctx, p.words(s, r.shape)); err != nil {
			return err
		}
	}
	for {
		done, err := os.ReadDir(filepath.Join(p.work, "out"))
		if err == nil && len(done) == s.job.tasks()+s.job.reduces {
			break
		}
		if !pause(ctx, 200*time.Millisecond) {
			return fmt.Errorf("the job did not end within %.0f s: %w", time.Since(begun).Seconds(), ctx.Err())
		}
	}
	o.Wall = time.Since(begun).Seconds()
	o.Turnaround = o.Wall
	return p.run(ctx, []string{"scancel", "--name", "direct"})
}

// settings are Slurm's.
func (c *cluster) settings() (map[string]string, error) {
	out, err := c.output(context.Background(), "scontrol", "show", "config")
	all := map[string]string{}
	for line := range strings.Lines(out) {
		if name, value, found := strings.Cut(line, "="); found {
			all[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all, err
}
