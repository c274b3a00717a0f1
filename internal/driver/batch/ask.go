package batch

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// Output runs a command in the environment of Tools and returns what it prints.
func (t *Tools) Output(ctx context.Context, name string, args ...string) (string, error) {
	out, _, err := t.Run(ctx, Call{Name: name, Args: args, Env: t.Env})
	return out, err
}

// Lacks returns the error for the first of these commands that is not there, or nil.
func (t *Tools) Lacks(names ...string) error {
	for _, name := range names {
		if !t.Has(name) {
			return t.Missing(name)
		}
	}
	return nil
}

// Environ returns an environment for commands: without the variables that would change what they print or do, and with others.
func Environ(env []string, drop func(name string) bool, add ...string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return drop(name)
	})
	return append(kept, add...)
}

// callers bounds the number of calls at the same time.
const callers = 8

// Together makes calls at the same time, as each one needs a round trip. It returns the first error in their order.
func Together(calls ...func() error) error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	free := make(chan struct{}, callers)
	for i, call := range calls {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			errs[i] = call()
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Kept is a value that is read once in a while, such as a configuration.
type Kept[T any] struct {
	mu    sync.Mutex
	value *T
	at    time.Time
}

// Get returns the value. It reads it if that was not done yet, or not since so long.
func (k *Kept[T]) Get(lives time.Duration, read func() (T, error)) (T, error) {
	k.mu.Lock()
	known, at := k.value, k.at
	k.mu.Unlock()
	if known != nil && time.Since(at) < lives {
		return *known, nil
	}
	value, err := read()
	if err == nil {
		k.mu.Lock()
		k.value, k.at = &value, time.Now()
		k.mu.Unlock()
	}
	return value, err
}
