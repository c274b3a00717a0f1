package fleet

import "testing"

// ForTest returns a fleet with these machines that ends with the test. It skips the test with the
// reason if machines with Apart are impossible.
func ForTest(tb testing.TB, o Options, machines ...Machine) *Fleet {
	tb.Helper()
	if why := Missing(); o.Apart && why != "" {
		tb.Skip("no machines apart: " + why)
	}
	f, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	for _, m := range machines {
		if _, err := f.Boot(m); err != nil {
			tb.Fatal(err)
		}
	}
	return f
}

// NeedsLoss skips the test with the reason if Lose is impossible here.
func NeedsLoss(tb testing.TB) {
	tb.Helper()
	if why := refusedLoss(); why != "" {
		tb.Skip("no links that lose packets: " + why)
	}
}

// Names returns machines with the given names and otherwise equal properties.
func Names(m Machine, names ...string) (all []Machine) {
	for _, n := range names {
		m.Name = n
		all = append(all, m)
	}
	return all
}

// Host returns the machine with a name, or nil.
func (f *Fleet) Host(name string) *Host {
	for _, h := range f.hosts {
		if h.Name == name {
			return h
		}
	}
	return nil
}
