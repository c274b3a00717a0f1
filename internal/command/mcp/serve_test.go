package mcp

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestServe: what no client sends that keeps to the protocol is answered by an error, and a call can be cancelled.
func TestServe(t *testing.T) {
	wait := func(ctx context.Context, _ map[string]json.RawMessage) (r Result) {
		<-ctx.Done()
		r.Add("stopped")
		return r
	}
	offer := Offer{Name: "x", Tools: []Tool{{Name: "wait", Input: struct{}{}, Call: wait}}}
	for _, c := range []struct{ in, want string }{
		{`{"id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`, `"protocolVersion":"2025-03-26"`},
		{`{"id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}`, `"protocolVersion":"2025-11-25"`},
		{`{"id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":"a","result":{}}`},
		{`{"method":"notifications/initialized"}{"id":3,"result":{}}`, ``},
		{`{"id":1,"method":"resources/list"}`, `"code":-32601`},
		{`{"id":1,"method":"tools/call","params":{"name":"nosuch"}}`, `"code":-32602`},
		{`{"id":1,"method":"tools/call","params":[]}`, `"code":-32602`},
		{`{"id":1,"method":"tools/call","params":{"name":"wait","arguments":[]}}`, `cannot unmarshal array`},
		{`[{"id":1}]{"id":2,"method":"ping"}`, `"code":-32600`},
		{`{"id":`, ``},
		{`no JSON`, `"id":null,"error":{"code":-32700`},
		{`{"id":7,"method":"tools/call","params":{"name":"wait"}}{"method":"notifications/cancelled","params":{"requestId":7}}{"id":8,"method":"ping"}`, `{"jsonrpc":"2.0","id":8,"result":{}}`},
	} {
		var out strings.Builder
		err := Serve(t.Context(), strings.NewReader(c.in), &out, offer)
		if !strings.Contains(out.String(), c.want) || c.want == "" && out.Len() > 0 && err == nil {
			t.Errorf("%s: answer %s, want %s; %v", c.in, out.String(), c.want, err)
		}
	}
	if err := Serve(t.Context(), strings.NewReader(`{"id":1,"method":"ping"`), io.Discard, offer); err == nil {
		t.Error("half a request is no error")
	}
}
