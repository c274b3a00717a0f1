package job

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Uses is what a task uses of things of which all of the user's tasks together may use only so much, wherever they run: licences, connections,
// tokens. It is text, NAME=N of each by name, separated by commas, so that needs can be compared. A task of several ranks uses it once.
type Uses string

// NoUses is what a task uses that uses nothing in a bag whose tasks use something.
const NoUses Uses = "none"

// All returns the names and how much of each is used.
func (u Uses) All() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for rest := string(u); rest != ""; {
			var one string
			one, rest, _ = strings.Cut(rest, ",")
			name, amount, ok := strings.Cut(one, "=")
			if !ok {
				continue
			}
			if n, _ := strconv.Atoi(amount); !yield(name, n) { // as With wrote it
				return
			}
		}
	}
}

// Of returns how much is used of what has that name.
func (u Uses) Of(name string) int {
	for n, amount := range u.All() {
		if n == name {
			return amount
		}
	}
	return 0
}

// With returns u with that amount of what has that name.
func (u Uses) With(name string, n int) Uses {
	amounts := maps.Collect(u.All())
	amounts[name] = n
	all := make([]string, 0, len(amounts))
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		all = append(all, fmt.Sprintf("%s=%d", name, amounts[name]))
	}
	return Uses(strings.Join(all, ","))
}

// Most returns how many tasks can run at once that use this, by the limits of what they use; at least 1. 0: as many as there are.
func (u Uses) Most(limits map[string]int) (most int) {
	for name, n := range u.All() {
		if at := max(1, limits[name]/max(1, n)); most == 0 || at < most {
			most = at
		}
	}
	return most
}

// Limit is how much all of the user's tasks together may use of something, and do.
type Limit struct {
	Name  string `json:"name"`          // what jobs share
	Limit int    `json:"limit"`         // how much all tasks together may use
	Used  int    `json:"used"`          // how much those that run use
	Tasks int    `json:"tasks_waiting"` // tasks that use it too, and have not started
}

// LimitsOf returns limits of which nothing is used, by name.
func LimitsOf(limits map[string]int) []Limit {
	var all []Limit
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		all = append(all, Limit{Name: name, Limit: limits[name]})
	}
	return all
}

// Words returns the limit in words, as in "matlab: 3 of 4 in use, 12 tasks wait".
func (l Limit) Words() string {
	text := fmt.Sprintf("%s: %d of %d in use", l.Name, l.Used, l.Limit)
	if l.Tasks > 0 {
		text += fmt.Sprintf(", %s %s", Count(l.Tasks, "task"), map[bool]string{true: "waits", false: "wait"}[l.Tasks == 1])
	}
	return text
}
