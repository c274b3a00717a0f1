// Package browser opens a headless Chromium for tests and screenshots of the dashboard. It must not
// be used by the product.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is a Chromium with one page.
type Browser struct {
	context.Context // of the page, for chromedp.Run

	mu         sync.Mutex
	complaints []string
}

// ErrNone reports that Chromium is not installed.
var ErrNone = errors.New("there is no chromium: scripts/deps.sh chromium=chromium installs it from Debian")

// programs are the names of Chromium: the whole one, and Debian's chromium-headless-shell, which has no windows and is
// half of the work to install. The latter is named by its path, as the command of that name is a shell that outlives its end.
var programs = []string{"chromium", "/usr/lib/chromium/chromium-headless-shell"}

func find() (string, error) {
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNone
}

// Open starts a Chromium, which the returned function ends.
func Open(ctx context.Context) (*Browser, func(), error) {
	path, err := find()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium refuses to run as root with a sandbox
	}
	ctx, endAll := chromedp.NewExecAllocator(ctx, options...)
	ctx, end := chromedp.NewContext(ctx)
	b := &Browser{Context: ctx}
	chromedp.ListenTarget(ctx, b.hear)
	stop := func() { end(); endAll() }
	if err := chromedp.Run(ctx, log.Enable(), runtime.Enable()); err != nil {
		stop()
		return nil, nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, stop, nil
}

// hear records messages of the page's console: errors, warnings, exceptions, and refused resources.
func (b *Browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, fmt.Sprintf("%s: %s (%s)", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			b.complaints = append(b.complaints, fmt.Sprintf("console.%s: %s", e.Type, a.Value))
		}
	}
}

// networkChanged is in errors of connections that Chromium drops when a network interface of the machine comes or goes, as those of
// private clusters do beside a test. Pages connect again.
const networkChanged = "ERR_NETWORK_CHANGED"

// Complaints returns the recorded messages, without those of changed networks.
func (b *Browser) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.complaints), func(s string) bool { return strings.Contains(s, networkChanged) })
}

// Visit opens a page, and opens it again if a change of networks has kept it from getting all that belongs to it. The console tells of
// that later than the page is there, so the page itself is asked.
func (b *Browser) Visit(address string) error {
	const complete = `performance.getEntriesByType("resource").every((r) => r.responseStatus > 0)`
	for {
		whole := false
		err := chromedp.Run(b, chromedp.Navigate(address), chromedp.Evaluate(complete, &whole))
		if whole || err != nil && !strings.Contains(err.Error(), networkChanged) {
			return err
		}
		// Without this, an address with a fragment would count as a place in the page that is there.
		if err := chromedp.Run(b, chromedp.Navigate("about:blank")); err != nil {
			return err
		}
	}
}

// Look sets the size of the page in pixels, and its light or dark scheme.
func (b *Browser) Look(width, height int64, dark bool) error {
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	return chromedp.Run(b, emulation.SetDeviceMetricsOverride(width, height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}
