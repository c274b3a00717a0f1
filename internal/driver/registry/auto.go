package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"berth/internal/core/job"
	"berth/internal/driver"
)

// Auto returns the backend of a job whose user has named none: the first one to which the machine belongs (driver.Backend.Detect). If it
// belongs to several batch systems, they are asked, and it is the first one that can be used. The note, if there is one,
// tells the user how it was chosen.
func Auto(ctx context.Context, env []string) (found driver.Backend, note string, err error) {
	all := All()
	found = all[slices.IndexFunc(all, func(b driver.Backend) bool { return b.Detect(env) })]
	here := slices.DeleteFunc(Batches(), func(b driver.BatchBackend) bool { return !b.Detect(env) })
	if len(here) < 2 {
		return found, "", nil
	}
	errs := make([]error, len(here))
	var wg sync.WaitGroup
	for i, b := range here {
		wg.Go(func() { errs[i] = b.Available(ctx, env) })
	}
	wg.Wait()
	return choose(here, errs)
}

// choose returns the first batch system that can be used, given the error of each. The note says why earlier ones cannot, and how to choose
// later ones that can.
func choose(here []driver.BatchBackend, errs []error) (found driver.Backend, note string, err error) {
	first := slices.Index(errs, nil)
	if first < 0 {
		return nil, "", none(here, errs)
	}
	for i, b := range here {
		switch w := b.Words(); {
		case i < first:
			note += fmt.Sprintf(", as %s cannot be used (%s)", w.System, reason(errs[i]))
		case i > first && errs[i] == nil:
			note += fmt.Sprintf("; %s is here and answers, too: --on %s, or BERTH_ON=%s, chooses it", w.System, w.Name, w.Name)
		}
	}
	if note != "" {
		note = "the job runs on " + here[first].Words().System + note
	}
	return here[first], note, nil
}

// none returns the error of a machine none of whose batch systems can be used: that of the first one, with the reasons of the others.
func none(here []driver.BatchBackend, errs []error) error {
	var first *job.Error
	if !errors.As(errs[0], &first) {
		return errs[0]
	}
	all := *first
	for i, b := range here[1:] {
		all.What += fmt.Sprintf("; %s is here, too, and cannot be used either (%s)", b.Words().System, reason(errs[i+1]))
	}
	return &all
}

// reason returns what is wrong, without what to do.
func reason(err error) string {
	var e *job.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	bare := *e
	bare.Do = ""
	return bare.Error()
}
