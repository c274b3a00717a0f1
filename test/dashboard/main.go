// Command dashboard makes the pictures of docs/dashboard.md. It runs a bag and two MapReduce jobs on
// this machine, in its own state folder, and takes screenshots of the pages of berth dashboard with
// a headless Chromium, wide and narrow, light and dark.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"berth/test/support/browser"
)

func main() {
	program := flag.String("berth", "bin/berth", "the program")
	docs := flag.String("docs", "docs", "where dashboard-wide.png and dashboard-narrow.png go, the page of a job")
	all := flag.String("all", "", "a folder for pictures of all pages in all sizes")
	flag.Parse()
	if err := run(*program, *docs, *all); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(program, docs, all string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "berth-shots-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	w := work{program: program, dir: dir}
	defer func() { _ = w.berth("server", "stop", "--force").Run() }()
	if err := w.jobs(); err != nil {
		return err
	}
	address, end, err := w.serve()
	if err != nil {
		return err
	}
	defer end()
	b, stop, err := browser.Open(context.Background())
	if err != nil {
		return err
	}
	defer stop()
	if err := b.Visit(address); err != nil {
		return err
	}
	shots := []shot{{"#/job/mr-3", 1400, false, filepath.Join(docs, "dashboard-wide.png")}, {"#/job/mr-3", 400, true, filepath.Join(docs, "dashboard-narrow.png")}}
	if all != "" {
		shots = append(shots, everything(all)...)
	}
	for _, s := range shots {
		if err := s.take(b); err != nil {
			return err
		}
	}
	if said := b.Complaints(); len(said) > 0 {
		return errors.New("the browser complained: " + strings.Join(said, "; "))
	}
	return nil
}

// work is a state folder and the processes in it.
type work struct{ program, dir string }

func (w work) berth(args ...string) *exec.Cmd {
	c := exec.Command(w.program, args...)
	c.Dir, c.Stderr = w.dir, os.Stderr
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+w.dir, "TMPDIR="+w.dir, "BERTH_ON=local", "NO_COLOR=1")
	return c
}

// jobs runs a MapReduce job twice, the second time with a prediction, and a bag in which some tasks
// fail at first.
func (w work) jobs() error {
	if err := os.Mkdir(filepath.Join(w.dir, "text"), 0o755); err != nil {
		return err
	}
	for i := range 24 {
		text := strings.Repeat(fmt.Sprintf("it was the best of times, it was the worst of times %d\n", i), 20000)
		if err := os.WriteFile(filepath.Join(w.dir, "text", fmt.Sprintf("chapter-%02d.txt", i)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	count := func(out string) []string {
		return []string{"mapreduce", "-input", "text", "-output", out, "-mapper", `sh -c "tr -s ' ' '\n'; sleep 0.5"`, "-reducer", "uniq -c", "-numReduceTasks", "4", "--workers", "3", "--job-name", "count words", "--json"}
	}
	flaky := `if [ {} -lt 9 ] && [ ! -e seen-{} ]; then touch seen-{}; echo no luck with {} >&2; exit 3; fi; sleep 0.$(({} % 7))`
	for _, args := range [][]string{count("first"), {"bag", "--workers", "3", "--array", "1-40", "--retries", "2", "--job-name", "simulations", "--json", "--", "sh", "-c", flaky}, count("second")} {
		if out, err := w.berth(args...).Output(); err != nil {
			return fmt.Errorf("berth %s: %w\n%s", args[0], err, out)
		}
	}
	return nil
}

// serve starts berth dashboard and returns the address that it prints.
func (w work) serve() (address string, end func(), err error) {
	c := w.berth("dashboard")
	out, err := c.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := c.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	}
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end()
	}
	return strings.TrimSpace(address), end, err
}

// shot is a picture of a page.
type shot struct {
	page  string
	width int64
	dark  bool
	file  string
}

func everything(dir string) []shot {
	var shots []shot
	for page, name := range map[string]string{"#/": "jobs", "#/job/mr-3": "mapreduce", "#/job/bag-2": "bag", "#/history": "history"} {
		for _, width := range []int64{400, 900, 1400, 2000} {
			for _, dark := range []bool{false, true} {
				light := map[bool]string{false: "light", true: "dark"}[dark]
				shots = append(shots, shot{page, width, dark, filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, light))})
			}
		}
	}
	return shots
}

// take makes the picture, once the page has its data and the browser has drawn it.
func (s shot) take(b *browser.Browser) error {
	if err := b.Look(s.width, 900, s.dark); err != nil {
		return err
	}
	var picture []byte
	err := chromedp.Run(b,
		chromedp.Evaluate(fmt.Sprintf(`delete globalThis.berth; location.hash = ""; location.hash = %q`, s.page), nil),
		chromedp.Poll(`globalThis.berth?.document && document.querySelector("main .tiles, main table")`, nil),
		chromedp.Evaluate(`new Promise((done) => { dispatchEvent(new Event("resize")); requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100))); })`, nil, awaited),
		chromedp.FullScreenshot(&picture, 100),
	)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	return s.write(picture)
}

// write writes the picture with at most 256 colours, the most frequent ones, which quarters its
// size.
func (s shot) write(picture []byte) error {
	from, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return err
	}
	count, box := map[color.RGBA]int{}, from.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			count[color.RGBAModel.Convert(from.At(x, y)).(color.RGBA)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return count[b] - count[a] })
	palette := color.Palette{}
	for _, c := range colours[:min(256, len(colours))] {
		palette = append(palette, c)
	}
	to := image.NewPaletted(box, palette)
	draw.Draw(to, box, from, box.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to); err != nil {
		return err
	}
	return os.WriteFile(s.file, out.Bytes(), 0o644)
}

func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
