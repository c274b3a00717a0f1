package dashboard

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/crowd"
)

//go:embed assets
var assets embed.FS

// Server serves the page.
type Server struct {
	documents documents
	guard     guard
	crowd     *crowd.Crowd  // connections on which nobody has shown a secret yet
	streams   chan struct{} // has one element for each open stream
}

// New returns a server for the jobs of the source, with new secrets.
func New(src Source) *Server {
	return &Server{
		documents: documents{Source: src, readTime: readTime},
		guard:     newGuard(),
		crowd:     crowd.New(),
		streams:   make(chan struct{}, maxStreams),
	}
}

// Listen listens on a port of the loopback interface, 0 for any free one, and returns the address to open.
func (s *Server) Listen(port int) (net.Listener, string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, "", job.ConfigError("--port", "cannot listen on port "+strconv.Itoa(port), "name another, or none for any that is free").Because(err)
	}
	return l, "http://" + l.Addr().String() + s.guard.address(), nil
}

// Serve answers requests until the context is done.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			s.crowd.Enter(ctx.Done(), c)
			return context.WithValue(ctx, known{}, func() { s.crowd.Leave(c) })
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				s.crowd.Leave(c)
			}
		},
	}
	stop := context.AfterFunc(ctx, func() { _ = h.Close() })
	defer stop()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Handler returns the handler of all requests.
func (s *Server) Handler() http.Handler {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.FileServerFS(files))
	mux.Handle("GET /assets/", http.StripPrefix("/assets", http.FileServerFS(files)))
	mux.HandleFunc("GET /view", s.whole)
	mux.HandleFunc("GET /events", s.stream)
	mux.HandleFunc("GET /printed", s.printed)
	return s.guard.protect(mux)
}
