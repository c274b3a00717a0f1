package ec2

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	"pgregory.net/rapid"

	"berth/internal/core/job"
)

func at(seconds float64) job.Time { return job.Time(seconds * float64(time.Second)) }

// TestBudget checks that, whatever machines cost and whenever they start and end, their total cost stays within the budget if a round runs every second and
// machines are ended when ends says so.
func TestBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := []job.Rented{
			{Name: "a", Count: rapid.IntRange(1, 4).Draw(t, "a"), Price: rapid.Float64Range(0.1, 50).Draw(t, "price a"), Unit: 1, Minimum: rapid.SampledFrom([]float64{0, 60}).Draw(t, "minimum")},
			{Name: "b", Count: rapid.IntRange(1, 4).Draw(t, "b"), Price: rapid.Float64Range(0.1, 50).Draw(t, "price b"), Unit: rapid.SampledFrom([]float64{60, 3600}).Draw(t, "unit")},
		}
		l := newLedger("a1", job.Rent{Machines: kinds, Budget: rapid.Float64Range(0.01, 20).Draw(t, "budget")})
		ended, next := job.Time(0), 0
		for now := 0.0; now < 7200 && l.lost() == ""; now++ {
			for _, o := range l.wants(at(now), 0, func() string { next++; return fmt.Sprint("t", next) }) {
				var got []instance
				for i := range o.Ranks {
					got = append(got, instance{ID: fmt.Sprint(o.Token, i), State: "running", Launched: at(now).Std(), Tags: []tag{{tagOrder, o.Token}}})
				}
				l.complete(o, got, nil, at(now))
			}
			for _, m := range l.live() {
				m.Up = at(now)
			}
			for _, m := range l.ends(at(now), 0) {
				m.Ended = at(now + 1) // the call takes a second
			}
			ended = at(now + 1)
		}
		if got := l.spent(ended); got > l.Rent.Budget+1e-9 {
			t.Errorf("it cost %v, with a budget of %v", got, l.Rent.Budget)
		}
	})
}

// TestUnknownOutcome checks that an order without a known result is repeated with the same token, and completed once all of its machines are seen.
func TestUnknownOutcome(t *testing.T) {
	l := newLedger("a1", job.Rent{Machines: []job.Rented{{Name: "a", Count: 2}}})
	o := l.wants(at(0), 0, func() string { return "t1" })[0]
	l.complete(o, nil, classed("rent", errors.New("connection reset")), at(1))
	if again := l.incomplete(at(2)); len(again) != 1 || again[0].Token != "t1" || len(l.wants(at(2), 0, nil)) > 0 {
		t.Errorf("it is repeated as %+v", again)
	}
	tags := []tag{{tagOrder, "t1"}}
	l.observe(at(2), []instance{{ID: "i1", State: "pending", Launched: at(1).Std(), Tags: tags}})
	if again := l.incomplete(at(2)); len(again) != 1 || len(l.wants(at(2), 0, nil)) > 0 {
		t.Errorf("with one of two machines seen it is repeated as %+v", again)
	}
	l.observe(at(3), []instance{{ID: "i2", Index: 1, State: "pending", Launched: at(1).Std(), Tags: tags}, {ID: "i1", State: "running", Launched: at(1).Std(), Tags: tags}})
	if len(l.Orders) > 0 || l.find("i1").Rank != 0 || l.find("i2").Rank != 1 {
		t.Errorf("%+v", l)
	}
	l.Over = true
	if ends := l.ends(at(4), 0); len(ends) != 2 {
		t.Errorf("an ended allocation ends %v", ends)
	}
}

// TestRefused checks when a machine that is not up is given up, what its user is told of it, and whether another one is rented.
func TestRefused(t *testing.T) {
	say := func(class job.Class, words string) error {
		return &job.Error{Class: class, What: "it cannot be used", Err: errors.New(words)}
	}
	denied, closed := say(job.User, "root@10.0.0.7: Permission denied (publickey)."), say(job.Transient, "ssh: connect to host 10.0.0.7 port 22: Connection refused")
	const login = "ssh cannot log in: root@machine: Permission denied (publickey). (user in the catalogue names the image's user)"
	for _, c := range []struct {
		name     string
		patience time.Duration
		heard    map[float64]error
		end      float64 // when it is ended
		why      string
		another  bool
	}{
		{"silent", 0, nil, 600, "it did not come up within 10m", true},
		{"closed", 0, map[float64]error{20: closed, 500: closed}, 600, "it did not come up within 10m: ssh: connect to host machine port 22: Connection refused", true},
		{"denied", 0, map[float64]error{20: closed, 30: denied, 31: denied, 89: denied}, 90, login, false},
		{"denied, and the key comes late", 0, map[float64]error{30: denied, 80: closed, 100: denied}, 160, login, false},
		{"denied, then away", 0, map[float64]error{30: denied, 80: closed}, 600, "it did not come up within 10m: ssh: connect to host machine port 22: Connection refused", true},
		{"little patience", 6 * time.Second, map[float64]error{3: denied}, 6, login, false},
		{"no ssh here", 0, map[float64]error{0: errors.New("no ssh")}, 600, "it did not come up within 10m: no ssh", true},
	} {
		l := newLedger("a1", job.Rent{Machines: []job.Rented{{Name: "a", Count: 1}}, Patience: c.patience})
		l.Machines = []machine{{ID: "i-0", Address: "10.0.0.7"}}
		for now := 0.0; now <= 700; now++ {
			m := l.find("i-0")
			if err := c.heard[now]; err != nil {
				m.hear(at(now), err)
			}
			if len(l.ends(at(now), 0)) == 0 {
				continue
			}
			m.Ended = at(now)
			if another := len(l.wants(at(now), 0, func() string { return "t" })) > 0; now != c.end || m.Why != c.why || another != c.another || another == strings.Contains(l.lost(), c.why) {
				t.Errorf("%s: ended after %g s: %q, another one %v, %q", c.name, now, m.Why, another, l.lost())
			}
			break
		}
		if l.find("i-0").Ended == 0 {
			t.Errorf("%s: it is kept", c.name)
		}
	}
}

// TestRefusal checks that a machine is never ended while ssh may still get in, and is paid for a minute at most once that is certain.
func TestRefusal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger("a1", job.Rent{Machines: []job.Rented{{Name: "a", Count: 1}}})
		l.Machines = []machine{{ID: "i-0"}}
		since := -1.0
		for now := 1.0; now < 900; now++ {
			if class := rapid.SampledFrom([]job.Class{job.User, job.User, job.User, job.Transient}).Draw(t, "class"); rapid.IntRange(0, 99).Draw(t, "heard") < 10 {
				l.Machines[0].hear(at(now), &job.Error{Class: class})
				if class == job.Transient {
					since = -1
				} else if since < 0 {
					since = now
				}
			}
			if ended, want := len(l.ends(at(now), 0)) > 0, since >= 0 && now-since >= 60 || now >= 600; ended != want {
				t.Fatalf("after %g s, refused since %g: ended %v", now, since, ended)
			} else if ended {
				return
			}
		}
	})
}

// TestSurplus checks that a machine that appears when no job needs it any more is ended.
func TestSurplus(t *testing.T) {
	l := newLedger("a1", job.Rent{Machines: []job.Rented{{Name: "a", Count: 1}}})
	l.observe(at(1), []instance{{ID: "late", State: "running", Launched: at(0).Std(), Tags: []tag{{tagOrder, "unknown"}}}})
	if ends := l.ends(at(2), 0); len(ends) != 1 || ends[0].ID != "late" {
		t.Errorf("%+v", ends)
	}
}

// TestClasses checks which errors of the provider may pass and which need the user's action.
func TestClasses(t *testing.T) {
	for word, want := range map[string]job.Class{"InsufficientInstanceCapacity": job.Transient, "VcpuLimitExceeded": job.User, "RequestLimitExceeded": job.Transient,
		"UnauthorizedOperation": job.User, "InvalidAMIID.NotFound": job.User, "InternalError": job.Transient, "ServiceUnavailable": job.Transient} {
		if got := job.ClassOf(classed("rent", &smithy.GenericAPIError{Code: word})); got != want {
			t.Errorf("%s is of class %v, want %v", word, got, want)
		}
	}
	if job.ClassOf(classed("rent", context.DeadlineExceeded)) != job.Transient || classed("rent", nil) != nil {
		t.Error("other errors")
	}
}

// TestWatchdog runs the script of the user data. It shuts the machine down after a long time without a worker, and not while a worker runs.
func TestWatchdog(t *testing.T) {
	text := userData("ssh-ed25519 AAAA berth", 0)
	_, script, _ := strings.Cut(text, "[ sh, -c, '")
	script, _, _ = strings.Cut(script, "' ]")
	dir := t.TempDir()
	for name, body := range map[string]string{
		"sleep": "n=$(cat n 2>/dev/null); n=$((${n:-0} + 1)); echo $n >n; [ $n -lt 100 ]", // ends the loop at last
		"pgrep": "[ $(cat n) -lt $BUSY ]",
		// each round the machine has been up for a minute more
		"shutdown": "cat n >shut; kill $PPID",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	script = strings.Replace(script, "read -r now rest </proc/uptime;", "now=$(($(cat n) * 60)).5;", 1)
	script = strings.TrimSuffix(strings.TrimSpace(script), "&")
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "BUSY=30")
	_ = cmd.Run() // it is killed by its own shutdown
	shut, _ := os.ReadFile(filepath.Join(dir, "shut"))
	if got := strings.TrimSpace(string(shut)); got != "39" { // the last worker was seen in round 29
		t.Errorf("the machine was shut down in round %q, want ten minutes after the last worker", got)
	}
}
