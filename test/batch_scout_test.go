package test

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"berth/internal/core/event"
)

// TestBatchScout runs a bag without a profile on an empty cluster of eight nodes. The bag starts on half
// of the nodes, for a short time, and continues on further ones while the first are still there: the
// tasks after the first eight end only once twelve of them run at the same time. A browser shows the queue, the choice
// and the start and end of the allocations, without loading its page again.
func TestBatchScout(t *testing.T) { onEach(t, testScout) }

func testScout(t *testing.T, s system) {
	s.atLeisure(t)
	w, _ := s.world(t, 8)
	w.write("in/.keep", "")
	w.write("task.sh", "#!/bin/sh\nsleep 5\nuntil [ -e scouted ]; do sleep 0.2; done\n[ $1 -gt 8 ] || exit 0\ntouch in/$1\n"+
		"until [ $(ls in | wc -l) -ge 12 ] && [ -e seen ]; do sleep 0.2; done\n")
	address := openDashboard(w)
	b := openBrowser(t)
	bag := w.start("bag", "--on", s.name, "--array", "1-60", "--", "./task.sh", "{}")
	if err := b.Visit(address); err != nil {
		t.Fatal(err)
	}
	poll(t, b, `document.querySelector('[data-job="bag-1"]')`)
	if err := chromedp.Run(b, chromedp.KeyEvent("j"), chromedp.KeyEvent("\r")); err != nil {
		t.Fatal(err)
	}
	poll(t, b, `document.querySelector('[aria-label^="Free nodes"] canvas') && /✓ A\t.*scout/.test(document.querySelector("tr.chosen")?.innerText)`)
	poll(t, b, `/a1\t`+s.partition+`\t▸ running\t4 of 4 up/.test(document.body.innerText) && (document.querySelector("article").before = 1)`)
	w.write("scouted", "")
	poll(t, b, `/a2\t`+s.partition+`\t▸ running/.test(document.body.innerText) && document.body.innerText.includes("Plans for what was left")`)
	w.write("seen", "")
	if r := w.finish(bag); r.code != 0 {
		t.Fatal(r)
	}
	poll(t, b, `document.querySelector(".state.done") && document.body.innerText.includes("60 of 60") && document.querySelector("article").before === 1`)
	var asked []event.AllocRequested
	for _, e := range w.serverRecords() {
		if r, ok := e.Record.(event.AllocRequested); ok {
			asked = append(asked, r)
		}
	}
	if len(asked) < 2 {
		t.Fatalf("what was asked for: %+v", asked)
	}
	if r := asked[0].Request; r.Nodes > 4 || r.Time > 30*time.Minute {
		t.Errorf("the scout has %d of 8 nodes for %v", r.Nodes, r.Time)
	}
	checkOnce(t, w.records(w.jobs()[0]))
}
