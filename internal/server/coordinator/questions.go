package coordinator

import (
	"maps"
	"sync"

	"berth/internal/wire"
)

// questions are those to workers that they have not answered: to sync outputs (wire.Sync), and about what running tasks have printed
// (wire.ReadOutput).
type questions struct {
	mu   sync.Mutex
	last int64
	open map[int64]question
}

type question struct {
	to     *session
	answer chan wire.Message // has room for the answer; closed if the worker is gone
}

// begin returns the number of a new question, and what receives its answer.
func (q *questions) begin(to *session) (n int64, answer chan wire.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.open == nil {
		q.open = make(map[int64]question)
	}
	q.last++
	answer = make(chan wire.Message, 1)
	q.open[q.last] = question{to, answer}
	return q.last, answer
}

// answer passes on the first answer to a question from the worker that was asked.
func (q *questions) answer(from *session, n int64, m wire.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if x, ok := q.open[n]; ok && x.to == from {
		delete(q.open, n)
		x.answer <- m
	}
}

// end ends a question whose answer nobody waits for any more.
func (q *questions) end(answer chan wire.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(q.open, func(_ int64, x question) bool { return x.answer == answer })
}

// leave ends the questions to a worker that answers no more.
func (q *questions) leave(ses *session) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for n, x := range q.open {
		if x.to == ses {
			delete(q.open, n)
			close(x.answer)
		}
	}
}
