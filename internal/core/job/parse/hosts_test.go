package parse

import (
	"errors"
	"slices"
	"strings"
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
	spec := job.New(job.Bag, "/d")
	spec.Name, spec.Bag.Command = "n", []string{"x"}
	spec.Request.Remote.Hosts = []job.Host{{Name: "of the job that is resumed"}}
	for _, value := range []string{"a", "2/b"} {
		if err := optionNamed(t, "hosts").Set(&a, "--hosts", value); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Apply(spec); err != nil {
		t.Fatal(err)
	}
	if got := spec.Request.Remote.Key(); got != ",a,2/b" {
		t.Errorf("hosts %q", got)
	}
	spec.Normalize()
	if err := spec.Validate(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(optionNamed(t, "hosts").Set(&a, "--hosts", "3/a"), a.Apply(spec)); err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(); err == nil || !strings.Contains(err.Error(), "host a is named twice") {
		t.Errorf("a host was taken twice: %v", err)
	}
}
