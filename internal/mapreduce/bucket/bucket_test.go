package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
	"berth/test/support/moto"
)

// use has this process use a server by way of address, a URL.
func use(t *testing.T, b *moto.Bucket, address string) {
	t.Helper()
	for _, v := range b.Env {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	t.Setenv("AWS_ENDPOINT_URL", address)
	made.clients = nil
	t.Cleanup(func() { made.clients = nil })
}

func lines(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d %s\n", i, strings.Repeat("x", r.IntN(300)))
	}
	return b.String()
}

// options are those with which a job's input is planned.
func options(t *testing.T) input.SplitOptions {
	return input.SplitOptions{Slots: 1,
		List: func(prefix string, each func(string, int64, string)) error { return List(t.Context(), prefix, each) },
		Tag:  func(name string) (string, error) { return Tag(t.Context(), name) }}
}

// readAll returns the lines of all splits of a job's input.
func readAll(t *testing.T, spec *job.MapReduceSpec) (string, int) {
	t.Helper()
	splits, _, err := input.PlanSplits(spec, options(t))
	if err != nil {
		t.Fatal(err)
	}
	open := func(ctx context.Context, s job.Split, i int) (input.File, error) {
		return Open(ctx, s.Ranges[i], func(int64) {})
	}
	var all bytes.Buffer
	for _, s := range splits {
		r, err := input.OpenSplit(t.Context(), s, spec, open, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&all, r); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all.String(), len(splits)
}

// cutter passes calls on to a server, and cuts every third answer with much in it off in its middle.
func cutter(t *testing.T, b *moto.Bucket) (address string, cuts *atomic.Int64) {
	t.Helper()
	to, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	var answers atomic.Int64
	cuts = new(atomic.Int64)
	pass := httputil.NewSingleHostReverseProxy(to)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		pass.ServeHTTP(answer, r)
		for k, v := range answer.Header() {
			w.Header()[k] = v
		}
		body := answer.Body.Bytes()
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.WriteHeader(answer.Code)
		if r.Method == http.MethodGet && len(body) > 10_000 && answers.Add(1)%3 == 1 {
			cuts.Add(1)
			_, _ = w.Write(body[:len(body)/2])
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL, cuts
}

// Ranges of objects give each line once, also where they cut lines and where answers are cut off.
func TestRead(t *testing.T) {
	b := moto.StartBucket(t)
	text := lines(20_000)
	b.Put("in/a", text)
	b.Put("in/empty", "")
	address, cuts := cutter(t, b)
	use(t, b, address)
	for _, size := range []int64{100_003, 1 << 20, 1 << 30} {
		got, splits := readAll(t, &job.MapReduceSpec{Inputs: []string{"s3://shelf/in"}, MaxSplit: size, OneFilePerSplit: true})
		if got != text {
			t.Errorf("%d splits of %d bytes: %d bytes are read of %d, or other ones", splits, size, len(got), len(text))
		}
	}
	if cuts.Load() == 0 {
		t.Error("no answer was cut off")
	}
}

// Inputs name objects as they name files.
func TestNames(t *testing.T) {
	b := moto.StartBucket(t)
	use(t, b, b.URL)
	for _, key := range []string{"d/a.txt", "d/b.log", "d/_hidden", "d/.x/y", "d/sub/c.txt", "d/sub/", "dd/e.txt"} {
		if strings.HasSuffix(key, "/") { // the mark of a folder
			b.Put(key, "")
			continue
		}
		b.Put(key, key+"\n")
	}
	tests := []struct{ input, want string }{
		{"d", "d/a.txt d/b.log d/sub/c.txt"}, {"d/a.txt", "d/a.txt"}, {"d/*.txt", "d/a.txt"}, {"d*", "d/a.txt d/b.log d/sub/c.txt dd/e.txt"},
		{"d*/*.txt", "d/a.txt dd/e.txt"}, {"d/{a,b}.*", "d/a.txt d/b.log"}, {"*/s?b", "d/sub/c.txt"}, {"d/_*", "d/_hidden"},
	}
	for _, tt := range tests {
		got, _ := readAll(t, &job.MapReduceSpec{Inputs: []string{"s3://shelf/" + tt.input}})
		if got := strings.Join(strings.Fields(got), " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.input, got, tt.want)
		}
	}
	for _, name := range []string{"s3://shelf/none", "s3://shelf/d/a", "s3://shelf/x*", "s3://nobucket/d"} {
		_, _, err := input.PlanSplits(&job.MapReduceSpec{Inputs: []string{name}}, options(t))
		if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v (class %v), want the user's error with the name", name, err, job.ClassOf(err))
		}
	}
}

// shelf is a small server with a bucket whose keys are kept as they are. listed returns the entity tag that its list has.
type shelf struct {
	mu      sync.Mutex
	objects map[string]string
	listed  func(tag string) string
	lax     bool // it ignores If-Match
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tagOf := func(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
	key, _ := strings.CutPrefix(r.URL.Path, "/shelf/")
	content, is := s.objects[key]
	switch tag := `"` + tagOf(content) + `"`; {
	case r.URL.Query().Has("list-type"):
		var list strings.Builder
		for _, k := range slices.Sorted(maps.Keys(s.objects)) {
			if strings.HasPrefix(k, r.URL.Query().Get("prefix")) {
				list.WriteString("<Contents><Key>")
				_ = xml.EscapeText(&list, []byte(k))
				fmt.Fprintf(&list, "</Key><Size>%d</Size>%s</Contents>", len(s.objects[k]), s.listed(tagOf(s.objects[k])))
			}
		}
		_, _ = io.WriteString(w, "<ListBucketResult>"+list.String()+"</ListBucketResult>")
	case !is:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
	case !s.lax && r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != tag:
		w.WriteHeader(http.StatusPreconditionFailed) // without a body, as some servers answer
	default:
		w.Header().Set("ETag", tag)
		r.Header.Del("If-Match")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
	}
}

func (s *shelf) put(key, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = content
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{objects: map[string]string{}, listed: func(tag string) string { return "<ETag>&quot;" + tag + "&quot;</ETag>" }}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	use(t, &moto.Bucket{Env: []string{"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_CONFIG_FILE=/dev/null"}}, server.URL)
	return s
}

// Keys are used as they are, whatever a path of them would mean. Left out are hidden names and the marks of folders.
func TestKeys(t *testing.T) {
	s := newShelf(t)
	read := []string{"logs/a", "logs//b", "logs///c//d", "logs/./e", "logs/../f", "logs/x/../../g", "logs/100%", "logs/%2F", "logs/a+b", "logs/a b", "logs/a&<b>'\"", "logs/é",
		"logs/日本", "logs/?q=1", "logs/#h", "logs/~", "logs/a:b,c", "logs//", "logs/n/", "logs/back\\slash"}
	for _, key := range read {
		s.put(key, key+"\n")
	}
	for _, key := range []string{"/logs/root", "//logs", "other//a"} {
		s.put(key, key+"\n")
	}
	for _, key := range []string{"logs/.hidden", "logs/_SUCCESS", "logs//_temporary/x", "logs/..x/y"} {
		s.put(key, "hidden\n")
	}
	for _, key := range []string{"logs/", "logs/sub/", "logs/sub//"} {
		s.put(key, "")
	}
	tests := []struct {
		input string
		want  []string
	}{
		{"/logs", read}, {"/logs/", []string{"logs//", "logs//b", "logs///c//d"}}, {"//logs", []string{"/logs/root"}}, {"/logs//b", []string{"logs//b"}}, {"///logs", []string{"//logs"}},
		{"/*r//a", []string{"other//a"}}, {"/logs/*/b", []string{"logs//b"}}, {"/logs/x/../../g", []string{"logs/x/../../g"}}, {"/logs/%2F", []string{"logs/%2F"}},
		{"/logs/a+b", []string{"logs/a+b"}}, {"/logs/..", []string{"logs/../f"}}, {"", append([]string{"/logs/root", "//logs", "other//a"}, read...)},
	}
	for _, tt := range tests {
		got, _ := readAll(t, &job.MapReduceSpec{Inputs: []string{"s3://shelf" + tt.input}})
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		slices.Sort(lines)
		want := slices.Sorted(slices.Values(tt.want))
		if !slices.Equal(lines, want) {
			t.Errorf("%q: %q\nwant %q", tt.input, lines, want)
		}
	}
}

// An object that was overwritten after it was listed is an error of the user's with its name, whether it is opened then or is being read, also where a server lists other tags
// than objects have, or none, or ignores If-Match. One that is written with the same content is the same.
func TestChanged(t *testing.T) {
	text := lines(20_000)
	servers := map[string]func(*shelf){
		"as Amazon's":              func(*shelf) {},
		"tags without quotes":      func(s *shelf) { s.listed = func(tag string) string { return "<ETag>" + tag + "</ETag>" } },
		"other tags in lists":      func(s *shelf) { s.listed = func(string) string { return "<ETag>&quot;e&quot;</ETag>" } },
		"no tags in lists":         func(s *shelf) { s.listed = func(string) string { return "" } },
		"a server without matches": func(s *shelf) { s.lax = true },
	}
	for name, change := range servers {
		s := newShelf(t)
		change(s)
		s.put("in/a", "first\n")
		s.put("in/b", text)
		spec := &job.MapReduceSpec{Inputs: []string{"s3://shelf/in"}, MaxSplit: 1 << 20, OneFilePerSplit: true}
		splits, _, err := input.PlanSplits(spec, options(t))
		if err != nil {
			t.Fatal(err)
		}
		b := splits[1].Ranges[0]
		for _, content := range []string{text, strings.ToUpper(text)} {
			f, err := Open(t.Context(), b, func(int64) {})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			s.put("in/b", content)
			_, err = f.ReadAt(make([]byte, 100), 2<<20)
			_, oerr := Open(t.Context(), b, func(int64) {})
			for _, err := range []error{err, oerr} {
				if is := errors.As(err, new(input.Difference)) && job.ClassOf(err) == job.User && strings.Contains(err.Error(), b.Path); is != (content != text) || err != nil && !is {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := Open(t.Context(), splits[0].Ranges[0], func(int64) {}); err != nil {
			t.Errorf("%s: the object that did not change: %v", name, err)
		}
	}
	if _, err := Open(t.Context(), job.Range{Path: "s3://shelf/none", Length: -1, Size: 1}, nil); job.ClassOf(err) != job.User {
		t.Errorf("an object that is gone gives %v, want the user's error", err)
	}
}

// A file is an object once its upload is finished, and not before; what is given up leaves nothing.
func TestWrite(t *testing.T) {
	b := moto.StartBucket(t)
	use(t, b, b.URL)
	for _, size := range []int{0, 100, partSize + 5} {
		content := strings.Repeat("0123456789\n", size/11+1)[:size]
		path := filepath.Join(t.TempDir(), "part")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, finish := range []bool{false, true} {
			u, err := Begin(t.Context(), "s3://shelf/out/part", path)
			if err != nil {
				t.Fatal(err)
			}
			if keys := b.Keys("out/"); keys != nil {
				t.Errorf("%d bytes: before it is finished there is %v", size, keys)
			}
			if !finish {
				u.Abort(t.Context())
			} else if err := u.Finish(t.Context()); err != nil {
				t.Error(err)
			}
			if n := b.Uploads(); n > 0 {
				t.Errorf("%d bytes: %d uploads are left", size, n)
			}
		}
		if got := b.Get("out/part"); got != content {
			t.Errorf("%d bytes: %d are written, or other ones", size, len(got))
		}
		if err := Remove(t.Context(), "s3://shelf/out/part"); err != nil {
			t.Error(err)
		}
	}
	b.BeginUpload("out/left")
	b.BeginUpload("other")
	if err := GiveUp(t.Context(), "s3://shelf/out/"); err != nil || b.Uploads() != 1 {
		t.Errorf("%d uploads are left after that of this output was ended (%v), want that of the other one", b.Uploads(), err)
	}
}

// Of two that want the mark of an output one makes it.
func TestMark(t *testing.T) {
	b := moto.StartBucket(t)
	use(t, b, b.URL)
	for i, want := range []bool{true, false} {
		if is, err := Mark(t.Context(), "s3://shelf/out/_temporary", true); is != want || err != nil {
			t.Errorf("try %d: %v, %v; want %v", i+1, is, err, want)
		}
	}
}

// What a job's environment says counts before that of the process.
func TestEnvironment(t *testing.T) {
	b := moto.StartBucket(t)
	use(t, b, "http://127.0.0.1:1")
	t.Setenv("AWS_REGION", "")
	b.Put("in/a", "x")
	if is, err := Any(With(t.Context(), b.Env), "s3://shelf/in"); !is || err != nil {
		t.Errorf("%v, %v", is, err)
	}
}

// Calls that are throttled are made again; where that does not help another attempt may, and where access is denied none does.
func TestErrors(t *testing.T) {
	var refusals atomic.Int64
	code, status := "SlowDown", http.StatusServiceUnavailable
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refusals.Add(-1) < 0 {
			_, _ = io.WriteString(w, "<ListBucketResult><Contents><Key>x</Key><Size>1</Size></Contents></ListBucketResult>")
			return
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>the test says so</Message></Error>", code)
	}))
	t.Cleanup(s.Close)
	use(t, &moto.Bucket{Env: []string{"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_CONFIG_FILE=/dev/null"}}, s.URL)
	refusals.Store(2)
	if is, err := Any(t.Context(), "s3://shelf/x"); !is || err != nil {
		t.Errorf("throttled twice: %v, %v", is, err)
	}
	refusals.Store(1000)
	if _, err := Any(t.Context(), "s3://shelf/x"); job.ClassOf(err) != job.Transient || !strings.Contains(err.Error(), "SlowDown") {
		t.Errorf("throttled: %v (class %v)", err, job.ClassOf(err))
	}
	code, status = "AccessDenied", http.StatusForbidden
	if _, err := Any(t.Context(), "s3://shelf/x"); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "s3://shelf/x") {
		t.Errorf("access denied: %v (class %v)", err, job.ClassOf(err))
	}
}

// Without a region or credentials no call is made.
func TestSettings(t *testing.T) {
	b := &moto.Bucket{Env: []string{"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_EC2_METADATA_DISABLED=true", "AWS_REGION=",
		"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY="}}
	use(t, b, "http://127.0.0.1:1")
	for _, want := range []string{"region", "credentials"} {
		if _, err := Any(t.Context(), "s3://shelf/x"); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want the user's error about %s", err, want)
		}
		t.Setenv("AWS_REGION", "eu-central-1")
	}
}
