package worker

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
	"berth/internal/node/process"
	"berth/internal/wire"
)

// What breaks a job where the coordinator runs is a failed attempt elsewhere, if it may be
// that node's alone.
func TestJudge(t *testing.T) {
	gone := job.Split{Ranges: []job.Range{{Path: filepath.Join(t.TempDir(), "none"), Length: 1, Size: 1}}}
	r, err := input.OpenSplit(t.Context(), gone, &job.MapReduceSpec{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, missing := io.ReadAll(r)
	tests := []struct {
		name       string
		err        error
		here, away event.Outcome
	}{
		{"an input file that is not there", missing, event.Broken, event.Failed},
		{"an input file that changed", &input.InputError{Err: input.Changed("in", "it grew")}, event.Broken, event.Broken},
		{"an output folder that is not writable", &job.Error{Class: job.User, Code: job.CodeIO, Err: unix.EROFS}, event.Broken, event.Failed},
		{"a file server that is gone", unix.ESTALE, event.Failed, event.Failed},
		{"a disk that fails", unix.EIO, event.Broken, event.Failed},
		{"a full disk", &job.Error{Class: job.Fatal, Code: job.CodeIO, Err: unix.ENOSPC}, event.Broken, event.Broken},
		{"berth's own fault", process.Broken("berth's own fault"), event.Broken, event.Broken},
		{"a program that failed", process.Failed("exit status 1"), event.Failed, event.Failed},
	}
	for _, tt := range tests {
		w := &worker{}
		here := w.outcome(tt.err)
		w.away.Store(true)
		away := w.outcome(tt.err)
		if here.Outcome != tt.here || away.Outcome != tt.away || here.Reason != away.Reason {
			t.Errorf("%s: %v here and %v away, want %v and %v (%s; %s)", tt.name, here.Outcome, away.Outcome, tt.here, tt.away, here.Reason, away.Reason)
		}
	}
}

// The same of a whole map attempt, whose program reads its input through a pipe.
func TestMissingInput(t *testing.T) {
	for away, want := range map[bool]event.Outcome{false: event.Broken, true: event.Failed} {
		c := newCoord(t)
		w, err := newWorker(c.config("a1/0"))
		if err != nil {
			t.Fatal(err)
		}
		w.away.Store(away)
		s := streaming(t, fruit, []string{"cat"}, count)
		sp := split(s, 0, 100)
		if err := os.Remove(sp.Ranges[0].Path); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		w.learn(&wire.Job{Spec: b, RunDir: t.TempDir(), Maps: 1, Reduces: 1})
		w.start(startMap(s, 0, 1, sp), 0)
		w.attend.Wait()
		m, told := w.link.unacked[try(s.ID, 0, 1)]
		if !told || m.Outcome != want || !strings.Contains(m.Reason, sp.Ranges[0].Path) {
			t.Errorf("away %t: ended %+v, want %v", away, m, want)
		}
		w.scratch.close()
	}
}

func TestSameMachine(t *testing.T) {
	at := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 1} }
	tests := []struct {
		a, b net.Addr
		want bool
	}{
		{at("127.0.0.1"), at("127.0.0.1"), true},
		{at("127.0.0.1"), at("127.0.1.1"), true}, // a machine's own name in Debian's hosts file
		{at("10.0.0.1"), at("10.0.0.1"), true},
		{at("10.0.0.1"), at("::ffff:10.0.0.1"), true},
		{at("10.0.0.2"), at("10.0.0.1"), false},
		{at("10.0.0.2"), at("127.0.0.1"), false},
		{&net.UnixAddr{}, &net.UnixAddr{}, true},
		{nil, at("127.0.0.1"), false}, // a stream of a tunnel
	}
	for _, tt := range tests {
		if got := sameMachine(tt.a, tt.b); got != tt.want {
			t.Errorf("%v and %v: %t", tt.a, tt.b, got)
		}
	}
}
