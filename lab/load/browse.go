package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"berth/test/support/browser"
)

// browse measures a page of a bag of a million tasks that runs, in Chromium: until a user can move in its timeline, and how many bytes
// came until then.
func browse(b *bed) ([]row, error) {
	tasks := min(b.o.many, 1_000_000)
	first := b.fleet.ended.Load()
	id, _, err := b.submit(tasks)
	if err != nil {
		return nil, err
	}
	if err := b.until("half of the tasks of the page are done", func() bool { return b.fleet.ended.Load()-first >= int64(tasks/2) }); err != nil {
		return nil, err
	}
	took, whole, bytes, err := b.open("#/job/" + id)
	what := fmt.Sprintf("a page of a bag of %d tasks in Chromium: until it is interactive, until it shows all, and what was sent until then", tasks)
	if errors.Is(err, browser.ErrNone) {
		return []row{{what, "not measured, as there is no Chromium", "≤ 2 s, ≤ 20 MB"}}, nil
	}
	if err != nil {
		return nil, err
	}
	_, _, err = b.berth("cancel", id)
	return []row{{what, fmt.Sprintf("%.1f s, %.1f s, %.2f MB", took.Seconds(), whole.Seconds(), float64(bytes)/1e6), "≤ 2 s, ≤ 20 MB"}}, err
}

// open opens a page of the dashboard, and returns how long it took until its timeline was drawn, until that had all that the journal tells,
// and how many bytes came until then.
func (b *bed) open(page string) (took, whole time.Duration, bytes int64, err error) {
	cmd := b.command("dashboard")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, 0, 0, err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return 0, 0, 0, err
	}
	c, end, err := browser.Open(b.ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	defer end()
	var came atomic.Int64
	chromedp.ListenTarget(c, func(event any) {
		if e, ok := event.(*network.EventDataReceived); ok {
			came.Add(e.DataLength)
		}
	})
	if err := chromedp.Run(c, network.Enable()); err != nil {
		return 0, 0, 0, err
	}
	begun := time.Now()
	if err := c.Visit(strings.TrimSpace(address) + page); err != nil {
		return 0, 0, 0, err
	}
	drawn := `document.querySelector("canvas[tabindex]")?.getAttribute("aria-label")?.startsWith("Timeline of")`
	read := `!document.querySelector("#said")?.textContent.includes("being read")`
	if took, err = until(c, begun, drawn); err == nil {
		whole, err = until(c, begun, read)
	}
	return took, whole, came.Load(), err
}

// until waits until a condition holds on a page, and returns how long after begun that was.
func until(c context.Context, begun time.Time, condition string) (time.Duration, error) {
	err := chromedp.Run(c, chromedp.Poll(condition, nil, chromedp.WithPollingInterval(10*time.Millisecond), chromedp.WithPollingTimeout(0)))
	return time.Since(begun), err
}
