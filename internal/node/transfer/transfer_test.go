package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/mpack"
	"berth/internal/node/collect"
	"berth/internal/node/files"
	"berth/internal/node/process"
	"berth/internal/sys/statedir"
)

// rig is a server of one bag and a client with a cache, connected by the loopback interface.
type rig struct {
	t      *testing.T
	dir    string // the job's folder
	spec   *job.Spec
	server *Server
	client *Client
	cache  *Cache
	passed atomic.Int64 // bytes that the client has received
	cut    atomic.Int64 // the connection is cut after so many; 0: never
}

const bagID = job.ID("bag-1")

// one is the jobs of a rig.
type one struct {
	spec    *job.Spec
	entries []job.Entry
	over    bool
}

func (o *one) Check(job.ID) error {
	if o.over {
		return lost("it is over")
	}
	return nil
}
func (o *one) Open(job.ID) (*Job, error) {
	return &Job{Spec: o.spec, Tasks: statedir.Tasks{Entries: statedir.EntriesOf(o.entries...)}}, nil
}

func newRig(t *testing.T, bag job.BagSpec, entries ...job.Entry) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	if bag.Stdout == "" {
		bag.Stdout, bag.Stderr = "out/{task}", job.Discard
	}
	r.spec = &job.Spec{ID: bagID, Kind: job.Bag, Dir: r.dir, Bag: &bag}
	r.server = NewServer(&one{spec: r.spec, entries: entries}, filepath.Join(t.TempDir(), "notes"), slog.New(slog.DiscardHandler))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	r.ok(err)
	s := &http.Server{Handler: r.server}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); r.server.Close() })
	r.client = NewClient(func(context.Context) (net.Conn, error) {
		c, err := net.Dial("tcp", l.Addr().String())
		return &counted{c, r}, err
	})
	r.cache, err = OpenCache(filepath.Join(t.TempDir(), "cache"), "h1")
	r.ok(err)
	return r
}

// counted counts what comes in, and cuts the connection.
type counted struct {
	net.Conn
	r *rig
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if all := c.r.passed.Add(int64(n)); c.r.cut.Load() > 0 && all > c.r.cut.Load() {
		return 0, errors.Join(errors.New("cut"), c.Close())
	}
	return n, err
}

func (r *rig) ok(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) commit(at job.Attempt, names []string, s Stamp, left time.Duration) error {
	_, err := r.client.Commit(r.t.Context(), at, names, nil, s, left)
	return err
}

func (r *rig) write(name, text string) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	r.ok(os.MkdirAll(filepath.Dir(path), 0o755))
	r.ok(os.WriteFile(path, []byte(text), 0o644))
	return path
}

// fetch fetches what a task needs, and returns the names and texts of what came.
func (r *rig) fetch(task int) (dir string, files []string, err error) {
	r.t.Helper()
	n, err := r.client.Needs(r.t.Context(), attempt(task, 1))
	if err != nil {
		return "", nil, err
	}
	dir = r.t.TempDir()
	if _, err := r.cache.Populate(r.t.Context(), r.client, bagID, n, dir); err != nil {
		return dir, nil, err
	}
	r.ok(filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			text, _ := os.ReadFile(path)
			files = append(files, strings.TrimPrefix(path, dir+"/")+"="+string(text))
		}
		return err
	}))
	return dir, files, nil
}

func attempt(task, n int) job.Attempt { return job.Attempt{Job: bagID, Task: task, N: n} }

// TestNeeds: what the command and --inputs name is sent, and nothing else.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		name string
		bag  job.BagSpec
		want string
	}{
		{"words", job.BagSpec{Command: []string{"./fit", "-o", "{}", "--config=conf/c"}}, "conf/c fit in/a"},
		{"folder", job.BagSpec{Command: []string{"ls", "in"}}, "in/a in/b"},
		{"shell", job.BagSpec{Command: []string{`./fit <"{}" && cat conf/*;true`}, Shell: true}, "conf/c conf/d fit in/a"},
		{"sh -c", job.BagSpec{Command: []string{"sh", "-c", "cd conf; cat c"}}, "conf/c conf/d in/a"},
		{"a command a task", job.BagSpec{Command: []string{"/bin/sh", "-c", "{}"}}, "in/a"},
		{"inputs", job.BagSpec{Command: []string{"true"}, Inputs: []string{"{/}.note", "conf/?"}}, "a.note conf/c conf/d in/a"},
		{"what tasks leave", job.BagSpec{Command: []string{"cat", "in"}, Outputs: []string{"in/b"}}, "in/a"},
		{"not the whole folder", job.BagSpec{Command: []string{"ls", ".", "..", "/bin/ls", "nothing"}}, "in/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.bag, job.Entry{"in/a"})
			for _, n := range []string{"fit", "in/a", "in/b", "in/.b.bag-7.1.1.part", "conf/c", "conf/d", "a.note", "b.note"} {
				r.write(n, n)
			}
			_, files, err := r.fetch(0)
			var names []string
			for _, f := range files {
				name, text, _ := strings.Cut(f, "=")
				if names = append(names, name); name != text {
					t.Errorf("%s has %q", name, text)
				}
			}
			if got := strings.Join(names, " "); err != nil || got != c.want {
				t.Errorf("sent are %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// TestNames: names are bytes, any but NUL and the slash.
func TestNames(t *testing.T) {
	odd := "in/\xff %41+&=\"'\n{}"
	r := newRig(t, job.BagSpec{Command: []string{"cat", "{}"}, Outputs: []string{"out/{/}"}}, job.Entry{odd})
	r.write(odd, "text")
	dir, files, err := r.fetch(0)
	if err != nil || len(files) != 1 || files[0] != odd+"=text" {
		t.Fatalf("%q, %v", files, err)
	}
	made := "out" + odd[2:]
	s, err := r.client.Send(t.Context(), attempt(0, 1), made, filepath.Join(dir, odd))
	r.ok(err)
	r.ok(r.commit(attempt(0, 1), []string{made}, s, time.Hour))
	if got, err := os.ReadFile(filepath.Join(r.dir, made)); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestRefused: what leads out of the job's folder is refused, with its name.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ word, says string }{
		{"../secret", "outside of the job's folder"},
		{"away/secret", "outside of the job's folder"},
		{"away", "leads to"},
		{"{dir}/in", "write in"},
	} {
		r := newRig(t, job.BagSpec{Command: []string{"cat", "{}"}}, job.Entry{""})
		r.write("in", "")
		r.ok(os.WriteFile(filepath.Join(r.dir, "..", "secret"), []byte("x"), 0o600))
		r.ok(os.Symlink("..", filepath.Join(r.dir, "away")))
		r.server.jobs.(*one).entries[0][0] = strings.ReplaceAll(c.word, "{dir}", r.dir)
		if _, files, err := r.fetch(0); len(files) > 0 || err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), strings.TrimPrefix(c.word, "{dir}/")) {
			t.Errorf("%s: %v, %v", c.word, files, err)
		}
	}
	r := newRig(t, job.BagSpec{Command: []string{"cat", "d"}}, job.Entry{})
	r.write("d/x", "x")
	r.ok(os.Symlink("/etc/passwd", filepath.Join(r.dir, "d", "p"))) // in a folder that is sent a link goes as it is
	dir, _, err := r.fetch(0)
	if to, lerr := os.Readlink(filepath.Join(dir, "d", "p")); err != nil || lerr != nil || to != "/etc/passwd" {
		t.Errorf("a link in a folder: %q, %v, %v", to, err, lerr)
	}
	if _, err := r.client.Content(t.Context(), bagID, strings.Repeat("0", 64), 0); err == nil {
		t.Error("a content that no task needs was sent")
	}
	if _, err := r.client.Needs(t.Context(), attempt(1, 1)); err == nil {
		t.Error("a task that is not there needs something")
	}
	r.server.jobs.(*one).over = true
	if _, _, err := r.fetch(0); err == nil {
		t.Error("files of a job that is over were sent")
	}
}

// TestAttemptsOfALiar: a host that invents numbers of attempts gets an error at once, as each earlier attempt would take time.
func TestAttemptsOfALiar(t *testing.T) {
	r := newRig(t, job.BagSpec{Command: []string{"true"}}, job.Entry{})
	if err := r.client.DropOthers(t.Context(), attempt(0, 3), 5); err != nil {
		t.Errorf("attempt 3: %v", err)
	}
	if err := r.client.DropOthers(t.Context(), attempt(0, maxAttempt+1), 1); err == nil {
		t.Error("an attempt that no task can have is believed")
	}
}

// TestResume: a file whose transfer is cut at random moments goes on from the byte reached.
func TestResume(t *testing.T) {
	r := newRig(t, job.BagSpec{Command: []string{"cat", "big"}}, job.Entry{})
	rng := rand.New(rand.NewPCG(3, 3))
	text := make([]byte, 8<<20)
	for i := range text {
		text[i] = byte(rng.Uint32())
	}
	r.write("big", string(text))
	tries := 0
	for r.cut.Store(1); ; tries++ {
		r.cut.Store(r.passed.Load() + 1 + rng.Int64N(3<<20))
		dir, _, err := r.fetch(0)
		if err == nil {
			if got, _ := os.ReadFile(filepath.Join(dir, "big")); !bytes.Equal(got, text) {
				t.Error("it is not what was sent")
			}
			break
		}
		if process.FailureOf(err).Outcome != event.Lost {
			t.Fatal(err)
		}
	}
	if all := r.passed.Load(); tries < 3 || all > int64(len(text))*3/2 {
		t.Errorf("%d bytes came for a file of %d, in %d tries", all, len(text), tries)
	}
}

// TestCacheRemoved: files are fetched again after something has removed the whole cache, as cleaners of ~/.cache do.
func TestCacheRemoved(t *testing.T) {
	r := newRig(t, job.BagSpec{Command: []string{"cat", "a"}}, job.Entry{})
	r.write("a", "text")
	for range 2 {
		if _, files, err := r.fetch(0); err != nil || len(files) != 1 || files[0] != "a=text" {
			t.Errorf("%v, %v", files, err)
		}
		r.ok(os.RemoveAll(r.cache.dir))
	}
}

// TestCache: a content goes over the connection once, also for another name, and again once a task has written to it.
func TestCache(t *testing.T) {
	r := newRig(t, job.BagSpec{Command: []string{"cat", "{}"}, Inputs: []string{"lib"}}, job.Entry{"a"}, job.Entry{"b"})
	text := strings.Repeat("text", 1<<18)
	r.write("a", text)
	r.write("b", text)
	r.write("lib", text)
	for range 2 {
		dir, _, err := r.fetch(0)
		r.ok(err)
		r.ok(os.WriteFile(filepath.Join(dir, "a"), []byte("mine"), 0o600)) // what the entry names is the task's own
		dir, files, err := r.fetch(1)
		if err != nil || len(files) != 2 || files[0] != "b="+text || files[1] != "lib="+text {
			t.Errorf("%v, %v", len(files), err)
		}
		if n := r.passed.Load(); n < int64(len(text)) || n > 2*int64(len(text)) {
			t.Errorf("%d bytes came", n)
		}
		r.ok(os.Chmod(filepath.Join(dir, "lib"), 0o600))
		r.ok(os.WriteFile(filepath.Join(dir, "lib"), []byte(strings.ToUpper(text)), 0o600))
		r.passed.Store(0)
	}
	if held, _ := os.ReadDir(r.cache.parts()); len(held) > 0 {
		t.Errorf("%d parts stay", len(held))
	}
}

// TestCacheDamaged: a content in which the disk has flipped a byte since it was verified is not given to a task of a later worker; it is
// fetched again. One that is whole is not.
func TestCacheDamaged(t *testing.T) {
	r := newRig(t, job.BagSpec{Command: []string{"cat", "a"}}, job.Entry{})
	text := strings.Repeat("text", 1<<16)
	r.write("a", text)
	first := func() (fetched int64) {
		t.Helper()
		r.passed.Store(0)
		var err error
		r.cache, err = OpenCache(r.cache.dir, "h1") // as a further worker does
		r.ok(err)
		if _, files, err := r.fetch(0); err != nil || len(files) != 1 || files[0] != "a="+text {
			t.Errorf("%d files, and not what was sent: %v", len(files), err)
		}
		return r.passed.Load()
	}
	if n := first(); n < int64(len(text)) {
		t.Fatalf("%d bytes came", n)
	}
	if n := first(); n >= int64(len(text)) {
		t.Errorf("%d bytes came for a content that is there", n)
	}
	held, err := filepath.Glob(filepath.Join(r.cache.contents(), "*"))
	if err != nil || len(held) != 1 {
		t.Fatal(held, err)
	}
	damaged := []byte(text)
	damaged[rand.IntN(len(damaged))] ^= 0x10
	r.ok(errors.Join(os.Chmod(held[0], 0o600), os.WriteFile(held[0], damaged, 0o600), os.Chtimes(held[0], unchanged, unchanged)))
	if n := first(); n < int64(len(text)) {
		t.Errorf("%d bytes came for a content that is damaged", n)
	}
}

// TestRemoveOld: what was not used for longest is removed first, never what a task has, wants or is fetching.
func TestRemoveOld(t *testing.T) {
	c, err := OpenCache(t.TempDir(), "h1")
	if err != nil {
		t.Fatal(err)
	}
	sum := func(i int) string { return fmt.Sprintf("%064x", i) }
	for i := range 6 {
		path := filepath.Join(c.contents(), sum(i))
		if err := errors.Join(os.WriteFile(path, make([]byte, 100), 0o444), os.Chtimes(path, time.Unix(int64(1000+i), 0), unchanged)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(c.contents(), sum(0)), filepath.Join(t.TempDir(), "of a task")); err != nil {
		t.Fatal(err)
	}
	part, err := c.openPart(t.Context(), sum(7))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = part.Close() }()
	c.want(sum(1), 1)
	c.mu.Lock()
	freed, err := c.removeOld(100, 300) // of 900 bytes half are the cache's
	c.mu.Unlock()
	var left []string
	for _, dir := range []string{c.contents(), c.parts()} {
		names, _ := os.ReadDir(dir)
		for _, n := range names {
			left = append(left, strings.TrimLeft(n.Name(), "0"))
		}
	}
	if want := []string{"", "1", "5", "7"}; err != nil || freed != 300 || !slices.Equal(left, want) {
		t.Errorf("%d freed, %v; left are %v, want %v", freed, err, left, want)
	}
}

// TestOutputs: what an attempt sends is in place whole or not at all.
func TestOutputs(t *testing.T) {
	r := newRig(t, job.BagSpec{Command: []string{"true"}, Outputs: []string{"made/*", "dir"}}, job.Entry{})
	src := filepath.Join(t.TempDir(), "src")
	send := func(at job.Attempt, name, text string) (Stamp, error) {
		r.ok(os.WriteFile(src, []byte(text), 0o755))
		s, err := r.client.Send(t.Context(), at, name, src)
		return s, err
	}
	for _, name := range []string{"in", "../x", "/etc/x", "made/../in", "made", "", "away/x", "."} {
		if _, err := send(attempt(0, 1), name, "bad"); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	r.ok(os.Symlink(t.TempDir(), filepath.Join(r.dir, "dir")))
	if _, err := send(attempt(0, 1), "dir/x", "bad"); err == nil || !strings.Contains(err.Error(), "dir") {
		t.Errorf("through a link that leads out: %v", err)
	}
	for n, text := range []string{"first", "second"} {
		at := attempt(0, n+1)
		_, err := send(at, "made/a", text)
		r.ok(err)
		s, err := send(at, files.Stdout, text+"\n")
		r.ok(err)
		if err := r.commit(at, []string{"made/a", "made/b"}, s, time.Hour); err == nil {
			t.Error("an output that was not sent was committed")
		}
		if err := r.commit(at, []string{"made/a", files.Stdout}, s, -time.Since(s.at)); err == nil || !strings.Contains(err.Error(), "lapsed") {
			t.Errorf("a commit after its lease: %v", err)
		}
		if n == 0 {
			if _, err := os.Stat(filepath.Join(r.dir, "made/a")); err == nil {
				t.Error("it is in place without a commit")
			}
			r.ok(r.client.Drop(t.Context(), at))
			continue
		}
		r.ok(r.commit(at, []string{"made/a", files.Stdout}, s, time.Hour))
		r.ok(r.client.Sync(t.Context()))
	}
	_, err := send(attempt(0, 3), "made/a", "never") // the connection ends before it is committed
	r.ok(err)
	r.server.Close()
	got := ""
	r.ok(filepath.WalkDir(r.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			st, _ := e.Info()
			got += fmt.Sprintf("%s=%s %t ", strings.TrimPrefix(path, r.dir+"/"), text, st.Mode()&0o100 != 0)
		}
		return err
	}))
	if want := "made/a=second true out/1=second\n false "; got != want {
		t.Errorf("there are %q, want %q", got, want)
	}
}

// TestRuns: a host has files only of jobs that name it, or of those that rent machines where it is rented, and of none that is over.
func TestRuns(t *testing.T) {
	h := statedir.Home{Dir: t.TempDir()}
	run := func(n int, on job.Remote) job.ID {
		r := h.Run(job.ID(fmt.Sprintf("bag-%d", n)))
		spec := &job.Spec{ID: r.ID, Kind: job.Bag, Bag: &job.BagSpec{}, Request: job.Request{On: "auto", Remote: on}}
		if err := errors.Join(os.MkdirAll(r.Dir, 0o700), r.Save(spec, statedir.Tasks{Entries: statedir.EntriesOf(job.Entry{"a"})})); err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	local, named, rented := run(1, job.Remote{}), run(2, job.Remote{Hosts: []job.Host{{Name: "h1"}, {Name: "h2"}}}), run(3, job.Remote{Rent: job.Rent{Machines: []job.Rented{{Name: "m1"}}}})
	for _, c := range []struct {
		at Runs
		id job.ID
		ok bool
	}{
		{Runs{Host: "h2"}, named, true}, {Runs{Host: "h3"}, named, false}, {Runs{Host: "h2"}, local, false}, {Runs{Host: "h2"}, rented, false},
		{Runs{Host: "i-1", Rented: true}, rented, true}, {Runs{Host: "i-1", Rented: true}, local, false}, {Runs{Host: "i-1", Rented: true}, named, false},
		{Runs{Host: "h2"}, "bag-9", false},
	} {
		c.at.Home = h
		if j, err := c.at.Open(c.id); (err == nil) != c.ok || c.ok && j.Tasks.Entries.Len() != 1 {
			t.Errorf("%+v of %s: %v", c.at, c.id, err)
		}
	}
	at := Runs{Home: h, Host: "h2"}
	if err := at.Check(named); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(h.Run(named).Summary(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []job.ID{named, "../bag-2", "bag-02", ""} {
		if at.Check(id) == nil {
			t.Errorf("%q is served", id)
		}
	}
}

// TestNotes: what a server that was killed left is removed by the next one.
func TestNotes(t *testing.T) {
	r := newRig(t, job.BagSpec{Command: []string{"true"}, Outputs: []string{"a"}}, job.Entry{})
	_, err := r.client.Send(t.Context(), attempt(0, 1), "a", r.write("src", "text"))
	r.ok(err)
	NewServer(r.server.jobs, r.server.site.Parts.Root, slog.New(slog.DiscardHandler))
	if left, _ := filepath.Glob(filepath.Join(r.dir, ".*.part")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// FuzzNeeds: nothing that a server may answer leads out of a task's folder.
func FuzzNeeds(f *testing.F) {
	for _, n := range []Needs{{[]Item{{Path: "a", Kind: Folder}, {Path: "a/b", Kind: Link, Target: "/"}, {Path: "a/b/c", Kind: Folder}}}, {[]Item{{Path: "../a", Kind: Folder}}}} {
		text, err := mpack.Append(nil, n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var n Needs
		if mpack.Decode(text, &n) != nil || n.Check() != nil {
			return
		}
		links := map[string]bool{}
		for _, i := range n.Items {
			if !filepath.IsLocal(i.Path) || i.Path == "." {
				t.Errorf("%q", i.Path)
			}
			for l := range links {
				if strings.HasPrefix(i.Path, l+"/") {
					t.Errorf("%q goes through %q", i.Path, l)
				}
			}
			if i.Kind == Link {
				links[i.Path] = true
			}
		}
	})
}

// FuzzOutputs: no name that a host may send has a file made outside of what the job says.
func FuzzOutputs(f *testing.F) {
	for _, name := range []string{"made/a", "../made/a", "made//a", "/made/a", "made/./a", "link/a", files.Stdout, "\x00", "made/../in"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		dir := t.TempDir()
		spec := &job.Spec{ID: bagID, Kind: job.Bag, Dir: filepath.Join(dir, "work"), Bag: &job.BagSpec{Command: []string{"true"}, Stdout: "out/{task}", Stderr: job.Discard, Outputs: []string{"made/*", "link/*"}}}
		if err := errors.Join(os.Mkdir(spec.Dir, 0o700), os.Mkdir(filepath.Join(dir, "else"), 0o700), os.Symlink("../else", filepath.Join(spec.Dir, "link"))); err != nil {
			t.Fatal(err)
		}
		s := NewServer(&one{spec: spec, entries: []job.Entry{{}}}, filepath.Join(dir, "notes"), slog.New(slog.DiscardHandler))
		defer s.Close()
		r, err := http.NewRequest(http.MethodPut, "http://files/jobs/bag-1/tasks/0/attempts/1/outputs", strings.NewReader("text"))
		if err != nil {
			t.Fatal(err)
		}
		q := r.URL.Query()
		q.Set("name", name)
		q.Set("mode", "644")
		r.URL.RawQuery = q.Encode()
		s.ServeHTTP(&discard{http.Header{}}, r)
		_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			in := strings.HasPrefix(path, spec.Dir+"/.") && strings.Contains(path, ".outputs.part/") || strings.HasPrefix(path, filepath.Join(spec.Dir, "out")+"/.")
			if err == nil && e.Type().IsRegular() && !in {
				t.Errorf("%q made %s", name, path)
			}
			return nil
		})
	})
}

// discard takes an answer.
type discard struct{ h http.Header }

func (d *discard) Header() http.Header         { return d.h }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// TestCollectedOutputs: what a task on a host prints is added to its job's file by the commit, and the files in which it came are gone.
func TestCollectedOutputs(t *testing.T) {
	r := newRig(t, job.BagSpec{Command: []string{"true"}, Collect: true, Stdout: job.DefaultStdout, Stderr: job.DefaultStderr}, job.Entry{}, job.Entry{})
	src := filepath.Join(t.TempDir(), "src")
	for i, text := range []string{"first\n", ""} {
		at := attempt(i, 1)
		var s Stamp
		for _, name := range []string{files.Stderr, files.Stdout} {
			r.ok(os.WriteFile(src, []byte(text), 0o600))
			var err error
			s, err = r.client.Send(t.Context(), at, name, src)
			r.ok(err)
		}
		r.ok(r.commit(at, []string{files.Stderr, files.Stdout}, s, time.Hour))
	}
	r.ok(r.client.Sync(t.Context()))
	folder := filepath.Join(r.dir, string(bagID))
	x := collect.NewIndex(folder)
	defer x.Close()
	for i, want := range []string{"first\n", ""} {
		for _, stream := range []collect.Stream{collect.Stdout, collect.Stderr} {
			in, err := x.Open(i, 1, stream)
			r.ok(err)
			if got, err := io.ReadAll(in); string(got) != want || err != nil {
				t.Errorf("of task %d there is %q (%v), want %q", i, got, err, want)
			}
		}
	}
	if files, err := os.ReadDir(folder); len(files) != 1 || err != nil {
		t.Errorf("%v are there (%v), want one file", files, err)
	}
}

// TestOutputsOfOtherJobs checks that outputs which belong to other jobs are left beside their places, where the answer says, and stay there, and
// that the number of a path is the same for all names that lead to it.
func TestOutputsOfOtherJobs(t *testing.T) {
	r := newRig(t, job.BagSpec{Command: []string{"cat", "{}"}, Outputs: []string{"made/*"}}, job.Entry{"in"})
	at := attempt(0, 1)
	text := r.write("text", "of a later job's\n")
	var s Stamp
	names := []string{"made/a", files.Stdout}
	r.ok(os.Mkdir(filepath.Join(r.dir, "made"), 0o700))
	r.ok(os.Symlink("made", filepath.Join(r.dir, "link")))
	for i, name := range names {
		var err error
		s, err = r.client.Send(t.Context(), at, name, text)
		r.ok(err)
		if want := files.PathNumber(filepath.Join(r.dir, "link/a")); i == 0 && s.File != want {
			t.Errorf("made/a has the number %d, and as link/a %d", s.File, want)
		}
	}
	beside, err := r.client.Commit(t.Context(), at, names, []int32{0, 1}, s, time.Hour)
	r.ok(err)
	if len(beside) != 2 {
		t.Fatalf("beside their places: %q", beside)
	}
	for _, path := range beside {
		if b, err := os.ReadFile(path); err != nil || string(b) != "of a later job's\n" {
			t.Errorf("%s has %q, %v", path, b, err)
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "made/a")); err == nil {
		t.Error("an output of another job is in place")
	}
}
