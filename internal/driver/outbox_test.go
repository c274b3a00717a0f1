package driver

import (
	"slices"
	"sync"
	"testing"

	"berth/internal/core/job"
	"berth/internal/core/step"
)

// TestOutbox checks that reports arrive in the order of Put, each once, whichever goroutine flushes,
// and that when Flush returns, the caller's report has been made.
func TestOutbox(t *testing.T) {
	var got []job.AllocID // written by one Reporter at a time
	var lock sync.Mutex
	box := NewOutbox(func(in step.Input) {
		lock.Lock()
		defer lock.Unlock()
		got = append(got, in.(step.AllocNote).Alloc)
	})
	has := func(id job.AllocID) bool {
		lock.Lock()
		defer lock.Unlock()
		return slices.Contains(got, id)
	}
	var order sync.Mutex // takes the part of the driver's lock
	var put []job.AllocID
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for n := range 50 {
				id := job.AllocID([]byte{byte('a' + g), byte('0' + n)})
				order.Lock()
				put = append(put, id)
				box.Put(step.AllocNote{Alloc: id})
				order.Unlock()
				if box.Flush(); !has(id) {
					t.Errorf("%s is not reported after Flush", id)
				}
			}
		})
	}
	all.Wait()
	if !slices.Equal(got, put) {
		t.Errorf("reported %v, put %v", got, put)
	}
	box.Put(step.AllocNote{Alloc: "late"})
	box.Close()
	box.Put(step.AllocNote{Alloc: "later"})
	if box.Flush(); len(got) != len(put) {
		t.Errorf("reported after Close: %v", got[len(put):])
	}
}
