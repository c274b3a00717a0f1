package moto

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"berth/internal/driver/ec2/query"
	"berth/test/support/fleet"
)

// patience is the time limit for the start of moto's server.
const patience = 2 * time.Minute

// Cloud is a region with machines.
type Cloud struct {
	Env []string // environment of commands that use the cloud

	// Refuse returns the error code with which a call is answered, or "" for no error. Dead reports
	// whether a machine never starts. Both are called by one goroutine at a time, and may be set
	// before the first call.
	Refuse func(action string) string
	Dead   func(nth int) bool // counted from 1
	// Moment is called before a call reaches moto, and again when moto has answered, before the
	// answer is returned. Calls may be simultaneous.
	Moment func(action string, answered bool)

	tb    testing.TB
	dir   string
	api   *query.Client // without the proxy
	fleet *fleet.Fleet

	mu     sync.Mutex // guards the following fields, and the calls of Refuse and Dead
	calls  []string   // actions, in order
	hosts  map[string]*fleet.Host
	booted int

	renting sync.Mutex
	rented  map[string]*httptest.ResponseRecorder // by client token
}

// Start starts a cloud without machines that ends with the test. Its machines see all files of this
// machine, and have a copy of program unless that is empty.
func Start(tb testing.TB, program string) *Cloud { return start(tb, fleet.Options{Program: program}) }

// StartApart starts a cloud whose machines are in their own namespaces, do not see the user's
// files and have a copy of program. It skips the test with the reason if that is impossible.
func StartApart(tb testing.TB, program string) *Cloud {
	if why := fleet.Missing(); why != "" {
		tb.Skip("no machines apart: " + why)
	}
	return start(tb, fleet.Options{Apart: true, Program: program})
}

func start(tb testing.TB, o fleet.Options) *Cloud {
	tb.Helper()
	c := &Cloud{tb: tb, hosts: map[string]*fleet.Host{}, rented: map[string]*httptest.ResponseRecorder{}, Refuse: func(string) string { return "" }, Dead: func(int) bool { return false }, Moment: func(string, bool) {}}
	var err error
	c.dir, err = os.MkdirTemp("", "berth-cloud-")
	check(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(c.dir) })
	c.fleet, err = fleet.New(o)
	check(tb, err)
	tb.Cleanup(func() { _ = c.fleet.Close() })
	behind := account(tb)
	proxy := httptest.NewServer(c.proxy(behind))
	tb.Cleanup(proxy.Close)
	c.api, err = query.New(tb.Context(), aws.Config{Region: region, BaseEndpoint: aws.String(behind), Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")})
	check(tb, err)
	c.Env = []string{"AWS_ENDPOINT_URL=" + proxy.URL, "AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "BERTH_SSH=" + c.reach()}
	ctx, cancel := context.WithCancel(context.Background())
	var booting sync.WaitGroup
	booting.Go(func() { c.boot(ctx) })
	tb.Cleanup(func() { cancel(); booting.Wait() })
	return c
}

const region = "eu-central-1"

// shared is the server of all clouds. It runs until the test process ends.
var shared struct {
	sync.Mutex
	at       string
	accounts int
}

// account returns the address of an account of its own, without machines, at the shared server. It ends with the test.
// A server takes more than a second of processor time until it has answered its first call of EC2, an account a tenth.
func account(tb testing.TB) string {
	tb.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.at == "" {
		shared.at = startServer(tb)
	}
	shared.accounts++
	name := fmt.Sprintf("%012d", shared.accounts)
	to, err := url.Parse(shared.at)
	check(tb, err)
	s := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set("X-Moto-Account-Id", name)
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
	})
	tb.Cleanup(s.Close)
	return s.URL
}

// idle are the addresses of servers of buckets that no test uses. They run until the test process ends.
var idle struct {
	sync.Mutex
	addresses []string
}

// serve returns the address of a server without contents that belongs to the test until its end.
func serve(tb testing.TB) string {
	tb.Helper()
	idle.Lock()
	defer idle.Unlock()
	var at string
	if n := len(idle.addresses); n > 0 {
		at, idle.addresses = idle.addresses[n-1], idle.addresses[:n-1]
	} else {
		at = startServer(tb)
	}
	tb.Cleanup(func() {
		answer, err := http.Post(at+"/moto-api/reset", "", nil)
		check(tb, err)
		check(tb, answer.Body.Close())
		idle.Lock()
		defer idle.Unlock()
		idle.addresses = append(idle.addresses, at)
	})
	return at
}

// startServer starts moto's server and returns its address.
func startServer(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command(filepath.Join(root(tb), "scripts", "moto.sh")).Output()
	if err != nil {
		tb.Fatalf("scripts/moto.sh: %v", err)
	}
	log, err := os.CreateTemp("", "berth-moto-")
	check(tb, err)
	defer func() { _ = log.Close() }()
	defer func() { _ = os.Remove(log.Name()) }() // the server has it open
	// It takes a port itself and writes it down. A port that was free a moment ago may be another's.
	server := exec.Command(strings.TrimSpace(string(out)), "-H", "127.0.0.1", "-p", "0")
	server.Stdout, server.Stderr = log, log
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	check(tb, server.Start())
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	for until := time.Now().Add(patience); ; {
		text, err := os.ReadFile(log.Name())
		check(tb, err)
		if at := address.FindSubmatch(text); at != nil {
			if answer, err := http.Get(string(at[1]) + "/moto-api/data.json"); err == nil {
				_ = answer.Body.Close()
				return string(at[1])
			}
		}
		select {
		case err := <-ended:
			tb.Fatalf("moto's server ended: %v\n%s", err, text)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(until) {
			tb.Fatalf("moto's server does not answer:\n%s", text)
		}
	}
}

// address is in the line that the server writes when it listens.
var address = regexp.MustCompile(`Running on (http://127\.0\.0\.1:[0-9]+)\s`)

// root returns the folder of the module, above the test's.
func root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	check(tb, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("the test does not run below the module's folder")
		}
		dir = filepath.Dir(dir)
	}
}

// proxy forwards calls, except those that are to be refused.
func (c *Cloud) proxy(behind string) http.Handler {
	to, err := url.Parse(behind)
	check(c.tb, err)
	pass := httputil.NewSingleHostReverseProxy(to)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		action := form.Get("Action")
		c.mu.Lock()
		c.calls = append(c.calls, action)
		refuse := c.Refuse(action)
		c.mu.Unlock()
		if refuse != "" {
			status := http.StatusBadRequest
			if refuse == "RequestLimitExceeded" {
				status = http.StatusServiceUnavailable
			}
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "<Response><Errors><Error><Code>%s</Code><Message>the test says so</Message></Error></Errors><RequestID>r</RequestID></Response>", refuse)
			return
		}
		r = r.WithContext(context.WithoutCancel(r.Context())) // the client may be gone
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		c.Moment(action, false)
		answer := c.once(action, form.Get("ClientToken"), func() *httptest.ResponseRecorder {
			answer := httptest.NewRecorder()
			pass.ServeHTTP(answer, r)
			return answer
		})
		c.Moment(action, true)
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// once makes a call that rents machines only once for each client token, as EC2 does and moto does
// not: a repeated call gets the first answer.
func (c *Cloud) once(action, token string, call func() *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	if action != "RunInstances" {
		return call()
	}
	c.renting.Lock()
	defer c.renting.Unlock()
	if before := c.rented[token]; before != nil {
		return before
	}
	answer := call()
	if answer.Code == http.StatusOK {
		c.rented[token] = answer
	}
	return answer
}

// Calls returns how often an action was called.
func (c *Cloud) Calls(action string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.calls {
		if a == action {
			n++
		}
	}
	return n
}

// reach writes a program that connects to the machine of an instance, whose real address differs
// from the instance's.
func (c *Cloud) reach() string {
	path := filepath.Join(c.dir, "ssh")
	script := "#!/bin/sh\nfor word; do [ \"$before\" != -- ] || id=$word; before=$word; done\n" +
		"read -r host port 2>/dev/null <'" + c.dir + "'/at-$id || { echo \"$id: no answer yet\" >&2; exit 255; }\n" +
		"exec ssh -F /dev/null -o HostName=$host -o Port=$port \"$@\"\n"
	check(c.tb, os.WriteFile(path, []byte(script), 0o700)) //nolint:gosec // a program
	return path
}

// boot starts and ends machines according to moto, until ctx ends.
func (c *Cloud) boot(ctx context.Context) {
	ignored := map[string]bool{}
	for ; ctx.Err() == nil; time.Sleep(300 * time.Millisecond) {
		for id, state := range c.states(ctx) {
			live := lives(state)
			c.mu.Lock()
			h := c.hosts[id]
			c.mu.Unlock()
			switch {
			case live && h == nil && !ignored[id]:
				ignored[id] = !c.up(ctx, id)
			case !live && h != nil:
				c.mu.Lock()
				delete(c.hosts, id)
				_ = os.Remove(filepath.Join(c.dir, "at-"+id))
				c.mu.Unlock()
				if err := h.Remove(); err != nil {
					c.tb.Errorf("end machine %s: %v", id, err)
				}
			}
		}
	}
}

var authorized = regexp.MustCompile(`(?m)^  - (ssh-\S+ \S+)`)

// up starts the machine of an instance, unless it never starts.
func (c *Cloud) up(ctx context.Context, id string) bool {
	c.mu.Lock()
	c.booted++
	dead := c.Dead(c.booted)
	c.mu.Unlock()
	if dead {
		return false
	}
	var said struct {
		UserData string `xml:"userData>value"`
	}
	if err := c.api.Call(ctx, "DescribeInstanceAttribute", url.Values{"InstanceId": {id}, "Attribute": {"userData"}}, &said); err != nil {
		return ctx.Err() == nil
	}
	text, _ := base64.StdEncoding.DecodeString(said.UserData)
	key := authorized.FindSubmatch(text)
	if key == nil {
		c.tb.Errorf("the user data of %s names no key:\n%s", id, text)
		return false
	}
	h, err := c.fleet.Boot(fleet.Machine{Name: id, AuthorizedKeys: string(key[1]) + "\n"})
	if err != nil {
		c.tb.Errorf("start machine %s: %v", id, err)
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hosts[id] = h
	if err := os.WriteFile(filepath.Join(c.dir, "at-"+id), []byte(h.Addr+" "+strconv.Itoa(h.Port)+"\n"), 0o600); err != nil {
		c.tb.Error(err)
	}
	return true
}

// states returns the state of each present or past instance.
func (c *Cloud) states(ctx context.Context) map[string]string {
	var said struct {
		Instances []struct {
			ID    string `xml:"instanceId"`
			State string `xml:"instanceState>name"`
		} `xml:"reservationSet>item>instancesSet>item"`
	}
	if err := c.api.Call(ctx, "DescribeInstances", nil, &said); err != nil {
		return nil
	}
	states := map[string]string{}
	for _, i := range said.Instances {
		states[i.ID] = i.State
	}
	return states
}

// lives reports whether an instance in this state runs or soon will.
func lives(state string) bool { return state == "pending" || state == "running" }

// Rented returns the number of machines rented so far, and those that are alive.
func (c *Cloud) Rented() (ever int, live []string) {
	states := c.states(context.Background())
	for id, s := range states {
		if lives(s) {
			live = append(live, id)
		}
	}
	return len(states), live
}

// TakeAway ends a machine and everything on it, like a provider that reclaims it.
func (c *Cloud) TakeAway(id string) {
	c.tb.Helper()
	check(c.tb, c.api.Call(context.Background(), "TerminateInstances", url.Values{"InstanceId.1": {id}}, &struct{}{}))
}

// Machine returns the machine of an instance, or nil if it is not up.
func (c *Cloud) Machine(id string) *fleet.Host {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hosts[id]
}

func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
