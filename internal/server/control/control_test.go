package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/leader"
	"berth/internal/sys/statedir"
)

// The test binary, started by launch as a coordinator, is one that says what the
// variable holds, once the file of another variable is there.
const (
	saysEnv  = "BERTH_TEST_SAYS"
	afterEnv = "BERTH_TEST_AFTER"
)

func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv(silentEnv); ok {
		beSilent(statedir.Home{Dir: dir})
	}
	if says, ok := os.LookupEnv(saysEnv); ok && len(os.Args) > 1 && os.Args[1] == "server" {
		for after := os.Getenv(afterEnv); after != ""; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(after); err == nil {
				break
			}
		}
		ready := os.NewFile(ReadyFD, "ready")
		_, _ = ready.WriteString(says)
		_ = ready.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve answers on the home's socket until the test ends.
func serve(t *testing.T, h statedir.Home, handler http.Handler) {
	t.Helper()
	l, err := Listen(h.Socket())
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	var wait sync.WaitGroup
	wait.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() {
		_ = s.Close()
		wait.Wait()
	})
}

func newHome(t *testing.T, under ...string) statedir.Home {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", filepath.Join(append([]string{t.TempDir()}, under...)...))
	h, err := statedir.Open()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// answering is a coordinator that answers every call with v.
func answering(status int, v any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	})
}

// TestLongPath: a state folder may be deeper than a socket's address is long.
func TestLongPath(t *testing.T) {
	h := newHome(t, strings.Repeat("x", 200), strings.Repeat("y", 200))
	serve(t, h, answering(http.StatusOK, Hello{Version: Version, PID: 7}))
	hello, err := NewClient(h).Hello(t.Context())
	if err != nil || hello.PID != 7 {
		t.Errorf("hello %+v, %v", hello, err)
	}
	st, err := os.Stat(h.Socket())
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", st, err)
	}
}

// TestErrorsCross: an error arrives as it was told, whether it has a cause or not.
func TestErrorsCross(t *testing.T) {
	h := newHome(t)
	cause := errors.New("no space left")
	for _, sent := range []error{
		&job.Error{Class: job.User, Code: job.CodeOutputExists, Where: "out", What: "is there", Do: "remove it"},
		&job.Error{Class: job.Transient, Code: job.CodeIO, Where: "disk", What: "cannot write", Do: "make room", Err: cause},
		fmt.Errorf("wrapped: %w", &job.Error{Class: job.User, Code: job.CodeConfig, What: "a value"}),
		cause,
	} {
		got := Failure(sent)
		if got.Error() != sent.Error() || job.ClassOf(got) != job.ClassOf(sent) || job.CodeOf(got) != job.CodeOf(sent) {
			t.Errorf("sent %v (%v, %d), got %v (%v, %d)", sent, job.ClassOf(sent), job.CodeOf(sent), got, job.ClassOf(got), job.CodeOf(got))
		}
	}
	sent := &job.Error{Class: job.User, Code: job.CodeOutputExists, Where: "out", What: "is there", Do: "remove it"}
	serve(t, h, answering(http.StatusUnprocessableEntity, Failure(sent)))
	err := NewClient(h).Cancel(t.Context(), "bag-1", "")
	var got *job.Error
	if !errors.As(err, &got) || *got != *sent {
		t.Errorf("the call returned %v, want %v", err, sent)
	}
}

// TestAnswers: what is no answer of a coordinator is an error that says so.
func TestAnswers(t *testing.T) {
	tests := []struct {
		name    string
		handler http.Handler
		says    string
	}{
		{"another version", answering(http.StatusOK, Hello{Version: Version + 1}), "another version"},
		{"ending", answering(http.StatusServiceUnavailable, Failure(errors.New("ending"))), ErrLost.Error()},
		{"no text", answering(http.StatusInternalServerError, nil), "500"},
		{"hangs up", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = c.Close()
			}
		}), ErrLost.Error()},
	}
	for _, tt := range tests {
		h := newHome(t)
		serve(t, h, tt.handler)
		if _, err := NewClient(h).Hello(t.Context()); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.says)
		}
	}
}

// TestNobodyThere: no folder, no socket and a socket that nobody listens on all mean
// that no coordinator runs; a folder that cannot be one is told.
func TestNobodyThere(t *testing.T) {
	h := newHome(t)
	abandoned := statedir.Home{Dir: t.TempDir()}
	if err := os.Mkdir(abandoned.Server(), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(abandoned.Socket())
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []statedir.Home{{Dir: filepath.Join(h.Dir, "none")}, h, abandoned} {
		if _, err := NewClient(h).Hello(t.Context()); !errors.Is(err, ErrNoServer) {
			t.Errorf("%s: %v", h.Dir, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = NewClient(statedir.Home{Dir: file}).Hello(t.Context())
	if errors.Is(err, ErrNoServer) || job.CodeOf(err) != job.CodeIO || !strings.Contains(err.Error(), "XDG_STATE_HOME") {
		t.Errorf("a file for a state folder: %v", err)
	}
}

// TestWatch: views arrive in order, and a coordinator that goes away in between is told from a job that ends.
func TestWatch(t *testing.T) {
	stream := func(last Watched) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			enc := json.NewEncoder(w)
			for i := range 3 {
				var v Watched
				v.View.TasksDone = i
				_ = enc.Encode(v)
			}
			if last.Final || last.Error != nil {
				_ = enc.Encode(last)
			}
		})
	}
	final := Watched{Final: true}
	final.View.TasksDone = 3
	tests := []struct {
		name string
		last Watched
		seen int
		err  error
	}{
		{"ends", final, 4, nil},
		{"goes away", Watched{}, 3, ErrLost},
		{"cannot go on", Watched{Error: &job.Error{Code: job.CodeIO, What: "disk full"}}, 3, &job.Error{Code: job.CodeIO, What: "disk full"}},
	}
	for _, tt := range tests {
		h := newHome(t)
		serve(t, h, stream(tt.last))
		seen := 0
		err := NewClient(h).Watch(t.Context(), "bag-1", func(w Watched) {
			if w.View.TasksDone != seen {
				t.Errorf("%s: view %d came as number %d", tt.name, w.View.TasksDone, seen)
			}
			seen++
		})
		if seen != tt.seen || fmt.Sprint(err) != fmt.Sprint(tt.err) {
			t.Errorf("%s: %d views, error %v; want %d, %v", tt.name, seen, err, tt.seen, tt.err)
		}
	}
}

// TestCancelledCall: who is interrupted gets the interrupt, not an error of the line.
func TestCancelledCall(t *testing.T) {
	h := newHome(t)
	ctx, cancel := context.WithCancel(t.Context())
	serve(t, h, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-ctx.Done()
	}))
	if _, err := NewClient(h).List(ctx, false, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestLaunch: what a coordinator says as it starts decides what its launcher tells,
// also when several launch at once.
func TestLaunch(t *testing.T) {
	refusal, err := json.Marshal(&job.Error{Class: job.User, Code: job.CodeIO, What: "the journal is damaged"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		says string
		want func(error) bool
	}{
		{Ready, func(err error) bool { return err == nil }},
		{string(refusal), func(err error) bool {
			return job.CodeOf(err) == job.CodeIO && strings.Contains(err.Error(), "the journal is damaged; its log is ")
		}},
		{"", func(err error) bool { return errors.Is(err, ErrLost) }},
		{"rea", func(err error) bool { return errors.Is(err, ErrLost) }},
	}
	for _, tt := range tests {
		h := newHome(t)
		t.Setenv(saysEnv, tt.says)
		errs := make([]error, 3)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = launch(h) })
		}
		all.Wait()
		for _, err := range errs {
			if !tt.want(err) {
				t.Errorf("it said %q: error %v", tt.says, err)
			}
		}
	}
}

// TestWaitIsTold: who waits for a coordinator to end, so that another one can start, is told which one that is.
func TestWaitIsTold(t *testing.T) {
	h := newHome(t)
	host, err := os.Hostname()
	if err == nil {
		err = statedir.WriteJSON(filepath.Join(h.Server(), "owner"), leader.Owner{PID: 123, Host: host})
	}
	if err != nil {
		t.Fatal(err)
	}
	lock, err := statedir.TryLock(h.Lock())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	told := filepath.Join(t.TempDir(), "told")
	t.Setenv(saysEnv, `{"what":"it was waited for"}`)
	t.Setenv(afterEnv, told)
	ctx := WithNotice(t.Context(), func(text string) {
		_ = os.WriteFile(told+".part", []byte(text), 0o600)
		_ = os.Rename(told+".part", told)
	})
	_, err = Ensure(ctx, h)
	if text, _ := os.ReadFile(told); !strings.Contains(string(text), "(process 123 on "+host) || err == nil || !strings.Contains(err.Error(), "it was waited for") {
		t.Errorf("told %q; error %v", text, err)
	}
}

// TestEnsureFindsOne: where a coordinator listens none is started.
func TestEnsureFindsOne(t *testing.T) {
	h := newHome(t)
	serve(t, h, answering(http.StatusOK, Hello{Version: Version}))
	t.Setenv(saysEnv, `{"what":"a second one was started"}`)
	if _, err := Ensure(t.Context(), h); err != nil {
		t.Error(err)
	}
}

// TestStrangerCannotConnect: the way to the socket leads through a folder of mode 0700.
func TestStrangerCannotConnect(t *testing.T) {
	h := newHome(t)
	serve(t, h, answering(http.StatusOK, Hello{Version: Version}))
	for _, d := range []string{h.Dir, h.Server()} {
		st, err := os.Stat(d)
		if err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, st.Mode(), err)
		}
	}
	if _, err := exec.LookPath("setpriv"); err != nil || os.Getuid() != 0 {
		return // the modes are what keeps others out; only root can try it as another user
	}
	out, err := exec.Command("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "ls", h.Server()).CombinedOutput()
	if err == nil {
		t.Errorf("another user sees %s", out)
	}
}

// TestServerEnv: a relative folder for temporary files is one of the command's, not of the coordinator's.
func TestServerEnv(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for tmp, want := range map[string]string{"tmp": here + "/tmp", "./x/../tmp": here + "/tmp", "/tmp": "/tmp", "": ""} {
		got, _ := job.LookupEnv(serverEnv([]string{"A=b", "BERTH_NODE=a1/0", "TMPDIR=" + tmp}), "TMPDIR")
		if got != want {
			t.Errorf("TMPDIR=%s becomes %s, want %s", tmp, got, want)
		}
	}
	if env := serverEnv([]string{"A=b", "BERTH_NODE=a1/0"}); !slices.Equal(env, []string{"A=b"}) {
		t.Errorf("%q", env)
	}
}
