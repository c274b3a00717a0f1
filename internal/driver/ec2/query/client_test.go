package query

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/smithy-go"
)

// serve returns a client of a server with these answers, which come in turn. A client waits no time before it repeats a call.
func serve(t *testing.T, answers ...http.HandlerFunc) (*Client, *atomic.Int32) {
	t.Helper()
	calls := &atomic.Int32{} // a connection that is cut orders nothing between handlers
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[min(int(calls.Add(1)), len(answers))-1](w, r)
	}))
	t.Cleanup(server.Close)
	keys := credentials.NewStaticCredentialsProvider("id", "secret", "session")
	atOnce := retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	c, err := New(t.Context(), aws.Config{Region: "eu-central-1", BaseEndpoint: &server.URL, Credentials: keys, Retryer: func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.Backoff, o.MaxAttempts = atOnce, 4 })
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c, calls
}

func refuse(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<Response><Errors><Error><Code>%s</Code><Message>why</Message></Error></Errors></Response>", code)
	}
}

func done(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte("<Answer><word>yes</word></Answer>"))
}

func half(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<Answer><word>")) }

// foreign is the answer of a proxy.
func foreign(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "<html>no", http.StatusProxyAuthRequired)
}

func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// TestRepeats checks which failures are repeated and how often, and what is said of the last.
func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []http.HandlerFunc
		calls   int
		code    string // of the error
		fails   bool
	}{
		{name: "success", answers: []http.HandlerFunc{done}, calls: 1},
		{name: "throttling", answers: []http.HandlerFunc{refuse(503, "RequestLimitExceeded"), refuse(400, "Throttling"), done}, calls: 3},
		{name: "the server is broken", answers: []http.HandlerFunc{refuse(500, "InternalError"), done}, calls: 2},
		{name: "the connection is lost", answers: []http.HandlerFunc{cut, done}, calls: 2},
		{name: "too often", answers: []http.HandlerFunc{refuse(503, "Unavailable")}, calls: 4, code: "Unavailable", fails: true},
		{name: "a mistake", answers: []http.HandlerFunc{refuse(400, "InvalidID"), done}, calls: 1, code: "InvalidID", fails: true},
		{name: "no error that is known", answers: []http.HandlerFunc{refuse(403, "")}, calls: 1, code: "UnknownError", fails: true},
		{name: "a proxy answers", answers: []http.HandlerFunc{foreign}, calls: 1, fails: true},
		{name: "half an answer", answers: []http.HandlerFunc{half}, calls: 1, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, calls := serve(t, c.answers...)
			var answer struct {
				Word string `xml:"word"`
			}
			err := client.Call(t.Context(), "Ask", nil, &answer)
			if int(calls.Load()) != c.calls || (err != nil) != c.fails || !c.fails && answer.Word != "yes" {
				t.Errorf("%d calls, %v, %+v", int(calls.Load()), err, answer)
			}
			var said smithy.APIError
			if c.code != "" && (!errors.As(err, &said) || said.ErrorCode() != c.code || !strings.Contains(err.Error(), "EC2: Ask")) {
				t.Errorf("the error is %v, want %s", err, c.code)
			}
		})
	}
}

// TestClock checks that a call is repeated with the provider's time if the signature was refused because of this machine's clock,
// and that other refusals are not.
func TestClock(t *testing.T) {
	for ahead, want := range map[time.Duration]int{time.Hour: 2, -time.Hour: 2, time.Minute: 1} {
		client, calls := serve(t, func(w http.ResponseWriter, r *http.Request) {
			now := time.Now().Add(ahead)
			w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
			signed, _ := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
			if now.Sub(signed).Abs() < 30*time.Second {
				done(w, r)
				return
			}
			refuse(400, "AuthFailure")(w, r)
		})
		err := client.Call(t.Context(), "Ask", nil, &struct{}{})
		if int(calls.Load()) != want || (err == nil) != (want == 2) {
			t.Errorf("with a clock that is ahead by %v: %d calls, %v", ahead, int(calls.Load()), err)
		}
	}
}

// TestSigned checks that a request is signed for EC2 in the region, with its form and its session.
func TestSigned(t *testing.T) {
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		signature := r.Header.Get("Authorization")
		for _, part := range []string{"Credential=id/", "/eu-central-1/ec2/aws4_request",
			"content-length;content-type;host;x-amz-date;x-amz-security-token"} {
			if !strings.Contains(signature, part) {
				t.Errorf("%q has no %q", signature, part)
			}
		}
		done(w, r)
	})
	if err := client.Call(t.Context(), "Ask", nil, &struct{}{}); err != nil {
		t.Error(err)
	}
}

// TestCanceled checks that a call that is ended from outside is not repeated, and says so.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client, calls := serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); refuse(500, "InternalError")(w, r) })
	if err := client.Call(ctx, "Ask", nil, &struct{}{}); !errors.Is(err, context.Canceled) || int(calls.Load()) != 1 {
		t.Errorf("%d calls, %v", int(calls.Load()), err)
	}
}
