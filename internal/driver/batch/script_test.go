package batch

import (
	"os/exec"
	"strings"
	"testing"

	"berth/internal/wire"
)

// TestScripts checks that /bin/sh can parse the scripts, whatever characters the folders' names contain.
func TestScripts(t *testing.T) {
	for name, text := range map[string]string{
		"node": nodeText("rank=0 node=n1 step=1\n", "/opt/my berth", `/home/it's "me"/$HOME/a1`, "/scratch/%d/x"),
		"wake": wakeText(`/home/it's "me"/$HOME/berth`, &wire.StandIn{Env: []string{"ODD=it's"}, Log: "/a log"}),
	} {
		if strings.Contains(text, "%!") {
			t.Errorf("%s has a wrong format:\n%s", name, text)
		}
		cmd := exec.Command("/bin/sh", "-n")
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", name, err, out, text)
		}
	}
}
