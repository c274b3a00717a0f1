package ui

import (
	"fmt"
	"io"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/server/report"
)

// When a plain log gets a line on progress: at each tenth of the tasks, at most every plainSoon; after another change, at
// most every plainOften; otherwise every plainAlive.
const (
	plainSoon  = 2 * time.Second
	plainOften = 10 * time.Second
	plainAlive = time.Minute
	plainWaits = 10 * time.Minute // instead of plainAlive while the job waits in a queue
)

// plain writes lines with times. It ignores write errors: a log that cannot be written must not stop a job.
type plain struct {
	out   io.Writer
	color color
	news  news

	at        time.Time // of the latest view
	told      time.Time // time of the last line on progress
	lastQueue string    // queueLine
	lastKey   string    // its content without times
	tenth     int
	begun     bool
	ended     bool
}

func (p *plain) write(lines ...string) {
	stamp := ""
	if !p.at.IsZero() {
		stamp = p.at.Local().Format("15:04:05 ")
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(stamp + l + "\n")
	}
	_, _ = io.WriteString(p.out, b.String())
}

func (p *plain) Begin(v report.JobView) {
	if !p.begun {
		p.begun = true
		p.at, p.told, p.tenth = v.At, v.At, tenth(v)
		p.write(opening(v, p.color)...)
		p.news.notes = v.Notes
	}
	p.Update(v)
}

func (p *plain) Update(v report.JobView) {
	p.at = v.At
	if lines := p.news.lines(v, p.color); len(lines) > 0 {
		p.write(lines...)
	}
	if v.State.Final() {
		return
	}
	text, since, now := progressText(v), v.At.Sub(p.told), tenth(v)
	key, alive := text, plainAlive
	queue := queueLine(v)
	if v.Waits != nil && v.TasksRunning == 0 { // a longer wait is no change
		key, alive = string(v.State)+queue, plainWaits
	}
	due := since >= alive ||
		key != p.lastKey && (since >= plainOften || now != p.tenth && since >= plainSoon)
	if !due {
		return
	}
	if queue != "" && (queue != p.lastQueue || v.TasksRunning == 0) {
		text += "; " + queue
	}
	p.told, p.lastKey, p.lastQueue, p.tenth = v.At, key, queue, now
	p.write(text)
}

// tenth returns how many tenths of the tasks are done.
func tenth(v report.JobView) int { return v.TasksDone * 10 / max(v.TasksTotal, 1) }

// progressText returns one line on the stages that run, without the state of the batch system.
func progressText(v report.JobView) string {
	var parts []string
	for _, s := range under(v) {
		parts = append(parts, list(fmt.Sprintf("%s %s done", s.Phase, s.count()), s.load(), s.rate, s.expect()))
	}
	if len(parts) == 0 || v.State != event.StateRunning {
		return wholeLine(v)
	}
	return strings.Join(parts, "; ")
}

func (p *plain) Note(text string) { p.write(clean(text)) }

func (p *plain) End(v report.JobView) {
	if p.ended {
		return
	}
	p.ended = true
	p.Update(v)
	p.write(Summary(v)...)
}

func (p *plain) Close() { p.ended = true }
