package test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"berth/test/support/browser"
)

// openDashboard starts berth dashboard in the world and returns the address that it prints.
func openDashboard(w *world) string {
	w.t.Helper()
	c := w.command("dashboard")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		if err := c.Wait(); err != nil {
			w.t.Errorf("berth dashboard ends with %v after an interrupt", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// openBrowser opens a Chromium. At the end of the test it reports the messages of the browser's console.
func openBrowser(t *testing.T) *browser.Browser {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	b, end, err := browser.Open(ctx)
	if errors.Is(err, browser.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if said := b.Complaints(); len(said) > 0 {
			t.Errorf("the browser's console says: %q", said)
		}
		end()
	})
	return b
}

// poll waits until an expression is true in the page.
func poll(t *testing.T, b *browser.Browser, expression string) {
	t.Helper()
	if err := chromedp.Run(b, chromedp.Poll(expression, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(0))); err != nil {
		var text string
		_ = chromedp.Run(b, chromedp.Evaluate("document.body.innerText", &text))
		t.Fatalf("%s: %v\n%s", expression, err, text)
	}
}

// TestDashboard shows a job in a browser until its end, with failed and repeated tasks. The page that has received all changes must equal a page that is loaded at the end.
func TestDashboard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := openDashboard(w)
	b := openBrowser(t) // it ends first, as a page reports an error when its server has ended
	job := w.command("bag", "--retries", "1", "--job-name", "watched", "--", "[ {} != b ] || [ -e tried ] || { touch tried; echo bad luck >&2; exit 3; }; echo printed by {}; until [ -e go ]; do sleep 0.2; done", ":::", "a", "b", "c")
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	if err := b.Visit(address); err != nil {
		t.Fatal(err)
	}
	poll(t, b, `document.querySelector('[data-job="bag-1"]')?.closest("tr").innerText.includes("running")`)
	poll(t, b, `document.body.innerText.includes("`+strings.TrimSpace(w.must("--version").stdout)+`")`)
	if err := chromedp.Run(b, chromedp.KeyEvent("j"), chromedp.KeyEvent("\r")); err != nil { // without a mouse
		t.Fatal(err)
	}
	poll(t, b, `location.hash === "#/job/bag-1" && document.querySelector("h1").innerText.includes("watched") && document.body.textContent.includes("bad luck")`)
	poll(t, b, `document.body.innerText.indexOf("bad luck") < 0 && document.body.innerText.indexOf("Failures") < document.body.innerText.indexOf("Phases")`)
	poll(t, b, `document.querySelector("canvas[tabindex]").getAttribute("aria-label").startsWith("Timeline of") && berth.document.timeline.attempts >= 3`)
	if err := chromedp.Run(b, chromedp.Evaluate(`document.querySelector("details.printed").open = true`, nil)); err != nil {
		t.Fatal(err)
	}
	poll(t, b, `/^printed by [abc]\n$/.test(document.querySelector("details.printed pre").textContent)`)
	if err := chromedp.Run(b, chromedp.Evaluate(`for (const s of document.querySelectorAll(".section:not([open]) > summary")) s.click()`, nil)); err != nil { // all folded sections, at once
		t.Fatal(err)
	}
	poll(t, b, `document.querySelectorAll(".section").length >= 5 && !document.querySelector(".section:not([open])")`)
	mark := `document.querySelector("article").before = 1`
	if err := chromedp.Run(b, chromedp.Evaluate(mark, nil)); err != nil {
		t.Fatal(err)
	}
	w.write("go", "")
	if err := job.Wait(); err != nil {
		t.Fatal(err)
	}
	poll(t, b, `document.querySelector(".state.done") && document.body.innerText.includes("3 of 3") && document.querySelector("article").before === 1`)
	poll(t, b, `berth.document.scatter.attempts >= 4 && document.querySelector('[aria-label^="Time that each attempt took"] canvas') && / attempts are drawn/.test(document.body.innerText)`)
	checkWhole(t, b)
	if err := chromedp.Run(b, chromedp.Focus(`canvas[tabindex]`), chromedp.KeyEvent(kb.ArrowRight)); err != nil {
		t.Fatal(err)
	}
	poll(t, b, `/^task .*, attempt 1: /.test(document.querySelector("#said").innerText)`)
	whole := `berth.document.timeline.steps * berth.document.timeline.step_ms`
	if err := chromedp.Run(b, chromedp.Evaluate(`globalThis.all = `+whole, nil), chromedp.KeyEvent("+")); err != nil { // half of the time
		t.Fatal(err)
	}
	poll(t, b, whole+` < 0.6 * all && document.activeElement.localName === "canvas"`)
	if err := chromedp.Run(b, chromedp.KeyEvent("0")); err != nil {
		t.Fatal(err)
	}
	poll(t, b, whole+` === all`)
	if err := chromedp.Run(b, chromedp.KeyEvent("p")); err != nil {
		t.Fatal(err)
	}
	poll(t, b, `document.querySelector("h1").innerText === "Predictions"`)
	for _, width := range []int64{400, 2000} {
		if err := b.Look(width, 800, width == 400); err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Run(b, chromedp.Evaluate(`location.hash = "#/job/bag-1"`, nil)); err != nil {
			t.Fatal(err)
		}
		poll(t, b, `(innerWidth > 640) === !!document.querySelector("canvas[tabindex]") && document.documentElement.scrollWidth <= innerWidth`)
	}
}

// TestDashboardFailures: the newest failures are in sight, the others fold, and a click opens them.
func TestDashboardFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := openDashboard(w)
	b := openBrowser(t)
	if r := w.berth("bag", "--array", "1-8", "--", "exit 3"); r.code != 8 {
		t.Fatal(r)
	}
	if err := b.Visit(address + "#/job/bag-1"); err != nil {
		t.Fatal(err)
	}
	told := `document.body.innerText.split("exit status 3").length - 1`
	poll(t, b, told+` === 5 && document.body.innerText.includes("3 earlier")`)
	if err := chromedp.Run(b, chromedp.Evaluate(`[...document.querySelectorAll("summary")].find((s) => s.innerText.includes("earlier")).click()`, nil)); err != nil {
		t.Fatal(err)
	}
	poll(t, b, told+` === 8`)
}

// checkWhole compares the document of a page that received changes with the complete one.
func checkWhole(t *testing.T, b *browser.Browser) {
	t.Helper()
	poll(t, b, `(async () => {
		const whole = await (await fetch("view?page=job&id=bag-1")).json();
		const flat = (v) => JSON.stringify(v, (_, x) => x && typeof x === "object" && !Array.isArray(x) ? Object.fromEntries(Object.entries(x).sort()) : x);
		return flat(whole) === flat(berth.document);
	})()`)
}

// TestDashboardStrangers checks that a running dashboard answers nothing without the cookie, and that it only allows reading.
func TestDashboardStrangers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	address := openDashboard(w)
	page, _, _ := strings.Cut(address, "?")
	for _, url := range []string{page, page + "view", page + "events", page + "assets/main.js", page + "?token=", address[:strings.LastIndex(page[:len(page)-1], "/")+1]} {
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) > 0 {
			t.Errorf("%s: %s, %s", url, resp.Status, body)
		}
	}
	resp, err := http.Post(address, "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a post is answered with %s", resp.Status)
	}
}

// TestDashboardShowsWhatCommandsPrint checks that the view of a job equals the output of berth progress --json.
func TestDashboardShowsWhatCommandsPrint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("bag", "--", "echo", ":::", "a", "b")
	address := openDashboard(w)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client, page := http.Client{Jar: jar}, address[:strings.Index(address, "?")]
	get := func(url string, into any) {
		resp, err := client.Get(url)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v %v", url, resp, err)
		}
		defer func() { _ = resp.Body.Close() }()
		if into == nil {
			return
		}
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			t.Fatalf("%s: %v", url, err)
		}
	}
	get(address, nil) // its cookie is good for what follows
	var shown struct {
		Job      map[string]any
		Timeline struct{ Lanes []struct{ Cells []string } }
	}
	get(page+"view?page=job&id=bag-1", &shown)
	var printed map[string]any
	if err := json.Unmarshal([]byte(w.must("progress", "--json").stdout), &printed); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(shown.Job, printed) {
		t.Errorf("the page has %v, berth progress prints %v", shown.Job, printed)
	}
	if len(shown.Timeline.Lanes) == 0 {
		t.Error("the timeline is empty")
	}
	for _, bad := range []string{"job&id=bag-99", "job&id=../../etc", "job&id="} {
		var told struct{ Problem string }
		if get(page+"view?page="+bad, &told); told.Problem == "" {
			t.Errorf("%s: no problem is told", bad)
		}
	}
}
