// Package mcp is the side of the Model Context Protocol that offers tools, on a pair of streams.
//
// The libraries for it, modelcontextprotocol/go-sdk and mark3labs/mcp-go, would make the program larger by 1.7 and 1.5 million
// bytes, for all that a side can do besides. The client of the former tests this one.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
)

// versions of the protocol in which the messages below mean the same, the newest first.
func versions() []string { return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} }

// Offer is what a client can get.
type Offer struct {
	Name, Version string // of the program
	Instructions  string // for whoever chooses among the tools
	Tools         []Tool
}

// Tool is what a client can call.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Input       any    `json:"inputSchema"` // a JSON Schema of the arguments
	Hints       Hints  `json:"annotations"`

	Call func(ctx context.Context, arguments map[string]json.RawMessage) Result `json:"-"`
}

// Hints say what a call can do, so that clients know whether to ask their users.
type Hints struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
}

// Result is what a call came to.
type Result struct {
	Content []Text `json:"content"`
	Failed  bool   `json:"isError,omitempty"`
}

// Text is a part of a result.
type Text struct {
	Type string `json:"type"` // text
	Text string `json:"text"`
}

// Add appends a text to a result.
func (r *Result) Add(text string) { r.Content = append(r.Content, Text{"text", text}) }

// Codes of errors, by JSON-RPC.
const (
	notJSON   = -32700
	noRequest = -32600
	noMethod  = -32601
	badParams = -32602
)

type request struct {
	ID     json.RawMessage `json:"id"` // nil: it wants no answer
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

type answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *failure        `json:"error,omitempty"`
}

type failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type server struct {
	Offer
	mu      sync.Mutex
	out     *json.Encoder
	running map[string]context.CancelFunc // calls by the ids of their requests
	calls   sync.WaitGroup
}

// Serve answers requests until there are no more and all calls have ended.
func Serve(ctx context.Context, in io.Reader, out io.Writer, offer Offer) error {
	s := &server{Offer: offer, out: json.NewEncoder(out), running: map[string]context.CancelFunc{}}
	defer s.calls.Wait()
	for dec := json.NewDecoder(in); ; {
		var r request
		var mistyped *json.UnmarshalTypeError
		switch err := dec.Decode(&r); {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &mistyped):
			s.answer(nil, nil, &failure{noRequest, err.Error()})
		case err != nil:
			s.answer(nil, nil, &failure{notJSON, err.Error()})
			return err
		default:
			s.take(ctx, r)
		}
	}
}

func (s *server) answer(id json.RawMessage, result any, f *failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.out.Encode(answer{"2.0", id, result, f}) // a client that has gone sends no more requests either
}

// take answers a request, or begins its call.
func (s *server) take(ctx context.Context, r request) {
	switch {
	case r.Method == "notifications/cancelled":
		var p struct {
			ID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(r.Params, &p) // else no call has that id
		s.mu.Lock()
		defer s.mu.Unlock()
		if stop := s.running[string(p.ID)]; stop != nil {
			stop()
		}
	case r.ID == nil || r.Method == "": // further notifications, and answers
	case r.Method == "initialize":
		s.answer(r.ID, s.hello(r.Params), nil)
	case r.Method == "ping":
		s.answer(r.ID, struct{}{}, nil)
	case r.Method == "tools/list":
		s.answer(r.ID, map[string]any{"tools": s.Tools}, nil)
	case r.Method == "tools/call":
		s.call(ctx, r)
	default:
		s.answer(r.ID, nil, &failure{noMethod, "there is no method " + r.Method})
	}
}

func (s *server) hello(params json.RawMessage) any {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &p) // else the newest is offered
	if known := versions(); !slices.Contains(known, p.Version) {
		p.Version = known[0]
	}
	return map[string]any{
		"protocolVersion": p.Version, "capabilities": map[string]any{"tools": struct{}{}},
		"serverInfo": map[string]string{"name": s.Name, "version": s.Version}, "instructions": s.Instructions,
	}
}

// call runs a tool, beside others.
func (s *server) call(ctx context.Context, r request) {
	var p struct {
		Name      string                     `json:"name"`
		Arguments map[string]json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(r.Params, &p); err != nil {
		s.answer(r.ID, nil, &failure{badParams, err.Error()})
		return
	}
	i := slices.IndexFunc(s.Tools, func(t Tool) bool { return t.Name == p.Name })
	if i < 0 {
		s.answer(r.ID, nil, &failure{badParams, "there is no tool " + p.Name})
		return
	}
	ctx, stop := context.WithCancel(ctx)
	s.mu.Lock()
	s.running[string(r.ID)] = stop
	s.mu.Unlock()
	s.calls.Go(func() {
		defer stop()
		result := s.Tools[i].Call(ctx, p.Arguments)
		s.mu.Lock()
		delete(s.running, string(r.ID)) // before the answer, after which the id may be that of another call
		s.mu.Unlock()
		if ctx.Err() == nil { // who has cancelled a call wants no answer
			s.answer(r.ID, result, nil)
		}
	})
}
