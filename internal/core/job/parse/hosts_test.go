package parse

import (
	"slices"
	"testing"

	"berth/internal/core/job"
)

// TestHosts: hosts are read as GNU parallel reads them, from a list and from the text of a file.
func TestHosts(t *testing.T) {
	file := "# all of them\n8/host1\n\n  me@host2 # the slow one\n:,2/host3\n"
	three := []job.Host{{Name: "host1", CPUs: 8}, {Name: "me@host2"}, {Name: job.ThisHost}}
	for value, want := range map[string][]job.Host{
		"8/host1,me@host2,:": three,
		"8/host1, me@host2":  three[:2],
		file:                 append(three[:3:3], job.Host{Name: "host3", CPUs: 2}),
	} {
		if got, err := Hosts("--hosts", value); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", value, got, err, want)
		}
	}
	for _, bad := range []string{"", "a,,b", "0/a", "x/a", "-oProxyCommand=x", "a b", "$(x)", "@group/a", "8/", "no/such/file", "# none\n", "good\n-bad\n"} {
		if got, err := Hosts("--hosts", bad); job.ClassOf(err) != job.User {
			t.Errorf("%q: %v, %v, want an error of the user's", bad, got, err)
		}
	}
}

// TestHostsTwice: hosts of several options add up, and none may be there twice.
func TestHostsTwice(t *testing.T) {
	var a Ask
	a.request.Remote.Hosts = []job.Host{{Name: "of the job that is resumed"}}
	for _, value := range []string{"a", "2/b"} {
		if err := setHosts(&a, "--hosts", value); err != nil {
			t.Fatal(err)
		}
	}
	if got := a.request.Remote.Key(); got != ",a,2/b" {
		t.Errorf("hosts %q", got)
	}
	if err := setHosts(&a, "--hosts", "3/a"); err == nil {
		t.Error("a host was taken twice")
	}
}
