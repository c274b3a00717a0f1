package dashboard

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"

	"berth/internal/server/report"
	"berth/internal/sys/crowd"
	"berth/internal/sys/statedir"
)

func testServer(t *testing.T) *Server {
	return New(Source{
		Home: statedir.Home{Dir: t.TempDir()},
		List: func(context.Context) ([]report.JobView, int, error) { return nil, 0, nil },
		View: func(context.Context, statedir.Run) (report.JobView, error) { return report.JobView{}, nil },
	})
}

// TestGuard: nobody gets anything but who has the address, or the cookie that it gave.
func TestGuard(t *testing.T) {
	s := testServer(t)
	page, cookie := s.guard.path+"/", cookieName+"="+s.guard.secret
	for _, c := range []struct {
		name, method, path string
		header             string // "Name: value"
		cookie, host       string
		want               int
	}{
		{name: "the printed address", path: s.guard.address(), want: 200},
		{name: "with the cookie", path: page, cookie: cookie, want: 200},
		{name: "a file", path: page + "assets/main.js", cookie: cookie, want: 200},
		{name: "a document", path: page + "view?page=jobs", cookie: cookie, want: 200},
		{name: "no such file", path: page + "assets/none.js", cookie: cookie, want: 404},
		{name: "through a tunnel", path: page, cookie: cookie, host: "localhost:8080", want: 200},
		{name: "from this page", path: page + "view", cookie: cookie, header: "Origin: http://127.0.0.1:4711", want: 200},
		{name: "no cookie", path: page, want: 403},
		{name: "no cookie for a file", path: page + "assets/main.js", want: 403},
		{name: "no cookie for a document", path: page + "view", want: 403},
		{name: "no cookie for events", path: page + "events", want: 403},
		{name: "another cookie", path: page, cookie: cookieName + "=AAAA", want: 403},
		{name: "an empty cookie", path: page, cookie: cookieName + "=", want: 403},
		{name: "another token", path: page + "?token=AAAA", want: 403},
		{name: "the token for a document", path: page + "view?token=" + s.guard.secret, want: 403},
		{name: "no path", path: "/", cookie: cookie, want: 403},
		{name: "another path", path: "/AAAA/view", cookie: cookie, want: 403},
		{name: "a name that leads here", path: page, cookie: cookie, host: "evil.example:4711", want: 403},
		{name: "the token by such a name", path: s.guard.address(), host: "evil.example", want: 403},
		{name: "a page of another site", path: page + "view", cookie: cookie, header: "Origin: http://evil.example", want: 403},
		{name: "a page of another port", path: page + "view", cookie: cookie, header: "Origin: http://127.0.0.1:4712", want: 403},
		{name: "a script of another port", path: page + "view", cookie: cookie, header: "Sec-Fetch-Site: same-site", want: 403},
		{name: "no origin to tell", path: page + "view", cookie: cookie, header: "Origin: null", want: 403},
		{name: "a post", method: http.MethodPost, path: page + "view", cookie: cookie, want: 405},
		{name: "a delete", method: http.MethodDelete, path: page, cookie: cookie, want: 405},
		{name: "options", method: http.MethodOptions, path: page, cookie: cookie, want: 405},
		{name: "a way out", path: page + "assets/../../guard.go", cookie: cookie, want: 404},
	} {
		r := httptest.NewRequest(c.method, "http://127.0.0.1:4711"+c.path, nil)
		if c.host != "" {
			r.Host = c.host
		}
		if c.cookie != "" {
			r.Header.Set("Cookie", c.cookie)
		}
		if name, value, is := strings.Cut(c.header, ": "); is {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != c.want && (c.want != 404 || w.Code < 300 || w.Code == 403) {
			t.Errorf("%s: %d, want %d", c.name, w.Code, c.want)
		}
		if w.Code != 200 && strings.Contains(w.Body.String(), s.guard.secret) {
			t.Errorf("%s: the answer has the secret", c.name)
		}
	}
}

// TestCookie: the cookie is for no script, no other site and no other path, and the page loads nothing from elsewhere.
func TestCookie(t *testing.T) {
	s := testServer(t)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest("", "http://127.0.0.1:4711"+s.guard.address(), nil))
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies", len(cookies))
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != s.guard.path+"/" || c.Domain != "" || c.Value != s.guard.secret {
		t.Errorf("the cookie is %v", c)
	}
	if w.Header().Get("Content-Security-Policy") != policy || w.Header().Get("Referrer-Policy") != "no-referrer" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", w.Header())
	}
	if other := testServer(t); other.guard == s.guard || len(s.guard.secret) < 20 || len(s.guard.path) < 20 {
		t.Error("secrets are not random")
	}
}

// TestLoopbackOnly: no other machine can connect.
func TestLoopbackOnly(t *testing.T) {
	s := testServer(t)
	l, address, err := s.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") || address != "http://"+l.Addr().String()+s.guard.address() {
		t.Errorf("listens on %s, address %s", l.Addr(), address)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	resp, err := http.Get(address)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%v %v", resp, err)
	}
	_ = resp.Body.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, _, err := s.Listen(99999); err == nil {
		t.Error("there is no such port")
	}
}

// TestStrangersAtThePage: of connections on which nobody has shown the address only so many are kept. They push out each other, and no reader.
func TestStrangersAtThePage(t *testing.T) {
	s := testServer(t)
	l, address, err := s.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = s.Serve(ctx, l) }()
	get := func(c *http.Client) (reused bool) {
		t.Helper()
		traced := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
		req, err := http.NewRequestWithContext(traced, http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%v %v", resp, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is kept
		_ = resp.Body.Close()
		return reused
	}
	reader := &http.Client{Transport: &http.Transport{}}
	get(reader)
	var strangers []net.Conn
	for range crowd.Most + 20 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		strangers = append(strangers, c)
	}
	if !get(reader) {
		t.Error("strangers pushed out a reader")
	}
	get(&http.Client{Transport: &http.Transport{}}) // one who comes after all of them
	if _, err := strangers[0].Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the oldest stranger is still there, or was told something: %v", err)
	}
	resp, err := http.Get("http://" + l.Addr().String())
	if err != nil || resp.StatusCode != http.StatusForbidden || !resp.Close {
		t.Errorf("a request without the address keeps its connection: %v %v", resp, err)
	}
}
