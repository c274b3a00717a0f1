package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Origin says where and when measurements were made.
type Origin struct {
	Date    string `json:"date"`
	Commit  string `json:"commit"`
	Machine string `json:"machine"`
	Load    Load   `json:"load"`
	From    int    `json:"from,omitempty"` // the first and the last turn of which it made results, from 1 on; 0: of none, or not known
	To      int    `json:"to,omitempty"`
}

// Load is the load averages of the last minute: before the measurement, and while it ran, when they include its own work.
type Load struct {
	Before float64 `json:"before"`
	Sum    float64 `json:"sum"`
	Most   float64 `json:"most"`
	Times  int     `json:"times"`
}

// now returns the origin of a measurement that begins now.
func now() Origin {
	o := Origin{Date: time.Now().Format(time.DateOnly), Commit: Commit(), Machine: machine()}
	o.Load.Before = loadAverage()
	return o
}

// add adds a reading.
func (l *Load) add(average float64) {
	l.Sum, l.Most, l.Times = l.Sum+average, max(l.Most, average), l.Times+1
}

// loadEvery is the time between readings; the kernel's average is of a minute.
const loadEvery = 10 * time.Second

// watch reads the load average until stop is closed.
func (l *Load) watch(stop <-chan struct{}) {
	every := time.NewTicker(loadEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			l.add(loadAverage())
		case <-stop:
			l.add(loadAverage())
			return
		}
	}
}

// text names the turns if not all are of this origin.
func (o Origin) text(turns bool) string {
	text := o.Date + " with commit " + o.Commit
	switch {
	case !turns || o.To == 0:
	case o.From == o.To:
		text += fmt.Sprintf(" (turn %d)", o.To)
	default:
		text += fmt.Sprintf(" (turns %d to %d)", o.From, o.To)
	}
	text += fmt.Sprintf(" on %s; load average %.1f before", o.Machine, o.Load.Before)
	if o.Load.Times > 0 { // else it was killed
		text += fmt.Sprintf(", and while it ran %.1f on average and %.1f at most", o.Load.Sum/float64(o.Load.Times), o.Load.Most)
	}
	return text
}

// describe returns the line above a table.
func describe(all []Origin, repetitions int) string {
	var words []string
	for _, o := range all {
		words = append(words, o.text(len(all) > 1))
	}
	number := fmt.Sprintf("%d repetitions", repetitions)
	if repetitions == 1 {
		number = "1 repetition"
	}
	return "Measured " + strings.Join(words, "; and ") + ". " + number + ".\n\n"
}

// originsFile has the origins of all measurements in a folder of results.
const originsFile = "measured.json"

func readOrigins(dir string) (all []Origin, err error) {
	b, err := os.ReadFile(filepath.Join(dir, originsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(b, &all)
}

func writeOrigins(dir string, all []Origin) error {
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, originsFile), append(b, '\n'), 0o644)
}

// Commit returns the commit of the source in the working folder, and whether files other than pages of results differ from it.
func Commit() string {
	id, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(id))
	changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no", "--", ":/", ":(exclude,top)lab/results").Output()
	if err != nil || len(changed) > 0 {
		name += " and changes"
	}
	return name
}

// machine returns processors, memory and kernel.
func machine() string {
	model, memory := "unknown processor", 0
	if lines := fields("/proc/cpuinfo", "model name"); len(lines) > 0 {
		model = strings.Join(strings.Fields(lines[0]), " ")
	}
	if lines := fields("/proc/meminfo", "MemTotal"); len(lines) > 0 {
		_, _ = fmt.Sscan(lines[0], &memory)
	}
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	version, _, _ := strings.Cut(strings.TrimSpace(string(release)), "-") // without the name of a build
	return fmt.Sprintf("%d cores (%s), %.0f GiB, Linux %s", runtime.NumCPU(), model, float64(memory)/(1<<20), version)
}

// fields returns the values of a key in a file of /proc.
func fields(file, key string) (values []string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if name, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(name) == key {
			values = append(values, strings.TrimSpace(value))
		}
	}
	return slices.Clip(values)
}

func loadAverage() (average float64) {
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		_, _ = fmt.Sscan(string(text), &average)
	}
	return average
}
