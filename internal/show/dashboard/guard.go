package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard admits only requests of those who know the printed address. A browser sends the cookies of a host name to all
// of its ports, and another user may listen on one of them. So the page has a path that cannot be guessed, and the
// cookie is limited to that path.
type guard struct {
	path   string // "/" and a random word
	secret string
}

// known is the key of a request's value that is called once the request was admitted.
type known struct{}

// cookieName is the name of the cookie that proves that a browser has opened the address.
const cookieName = "berth-dashboard"

func newGuard() guard { return guard{path: "/" + rand.Text(), secret: rand.Text()} }

// address returns the path to open. It contains the secret that becomes the cookie.
func (g guard) address() string { return g.path + "/?token=" + g.secret }

// policy limits what the page may load to this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// protect rejects requests that are not allowed, and passes the others to next without the path of the guard.
func (g guard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if r.Method != http.MethodGet {
			h.Set("Allow", http.MethodGet)
			http.Error(w, "only GET requests are allowed", http.StatusMethodNotAllowed)
			return
		}
		rest, below := strings.CutPrefix(r.URL.Path, g.path+"/")
		token := below && rest == "" && same(r.URL.Query().Get("token"), g.secret)
		if !below || !local(r) || !token && !g.known(r) {
			h.Set("Connection", "close")
			http.Error(w, "open the address that berth dashboard has printed", http.StatusForbidden)
			return
		}
		if show, is := r.Context().Value(known{}).(func()); is {
			show()
		}
		if token {
			http.SetCookie(w, &http.Cookie{Name: cookieName, Value: g.secret, Path: g.path + "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		}
		http.StripPrefix(g.path, next).ServeHTTP(w, r)
	})
}

// known reports whether the request has the cookie, and does not come from a page of another server.
func (g guard) known(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	c, err := r.Cookie(cookieName)
	return err == nil && same(c.Value, g.secret)
}

// same compares in a time that does not depend on the contents.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// local reports whether the request is addressed to this machine by a name that cannot be made to resolve to another
// one, and comes from our page or from none. The port may differ from ours: it may be that of an ssh tunnel.
func local(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	if !slices.Contains([]string{"127.0.0.1", "localhost", "::1", "[::1]"}, host) {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Host == r.Host
}
