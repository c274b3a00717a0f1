package coordinator

import (
	"maps"

	"berth/internal/wire"
)

// question is one to a worker that it has not answered: to sync outputs (wire.Sync), or about what a running task has printed
// (wire.ReadOutput).
type question struct {
	to     *session
	answer chan wire.Message // has room for the answer; closed if the worker is gone
}

// begin returns the number of a new question, and what receives its answer.
func (o *outputs) begin(to *session) (n int64, answer chan wire.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	answer = make(chan wire.Message, 1)
	o.open[o.last] = question{to, answer}
	return o.last, answer
}

// answer passes on the first answer to a question from the worker that was asked.
func (o *outputs) answer(from *session, n int64, m wire.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if x, ok := o.open[n]; ok && x.to == from {
		delete(o.open, n)
		x.answer <- m
	}
}

// end ends a question whose answer nobody waits for any more.
func (o *outputs) end(answer chan wire.Message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.open, func(_ int64, x question) bool { return x.answer == answer })
}

// leave forgets a worker that answers no more, and ends the questions to it. What it wrote is in the hands of its machine's kernel.
func (o *outputs) leave(ses *session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.told, ses)
	for n, x := range o.open {
		if x.to == ses {
			delete(o.open, n)
			close(x.answer)
		}
	}
}
