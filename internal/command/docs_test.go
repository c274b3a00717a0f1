package command

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestDocsAreCurrent holds docs/cli.md against the commands, and writes it with BERTH_WRITE_DOCS, as make docs does.
func TestDocsAreCurrent(t *testing.T) {
	const file = "../../docs/cli.md"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := writePage(&got, Root(Extra{}), exitDocs); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("BERTH_WRITE_DOCS") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Error("docs/cli.md is not what the commands say: run make docs")
	}
}

// TestEveryCommandHasHelp: a line of what it does, and an example.
func TestEveryCommandHasHelp(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" || c.Example == "" || !strings.Contains(c.Example, "berth") {
			t.Errorf("%s: short %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Root(Extra{}))
}
