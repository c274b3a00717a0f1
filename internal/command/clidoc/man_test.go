package clidoc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
)

// TestMan compares the page of a command with what man expects: sections, examples as they are, and no text that roff takes for a request.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	root := &cobra.Command{Use: "berth", Short: "Run jobs"}
	root.PersistentFlags().Bool("json", false, "print JSON")
	sub := &cobra.Command{Use: "cut FILE", Short: "Cut a file", Example: "  berth cut 'a\\n'", Run: func(*cobra.Command, []string) {},
		Long: "Cut a file.\n'x' is a character.\n\n    key = 1\n    list = 2\n\n#### On Linux\n\n.hidden files are not cut."}
	sub.Flags().StringP("out", "o", "-", "`FILE` to write")
	sub.Flags().Int("n", 3, "parts")
	root.AddCommand(sub, &cobra.Command{Use: "secret", Hidden: true, Run: func(*cobra.Command, []string) {}})
	if err := Man(dir, root); err != nil {
		t.Fatal(err)
	}
	const want = `.nh
.TH "BERTH" "1" "" "berth" "berth"

.SH NAME
berth-cut - Cut a file


.SH SYNOPSIS
\fBberth cut FILE [flags]\fP


.SH DESCRIPTION
Cut a file.
\&'x' is a character.

.EX
key = 1
list = 2
.EE

.SS On Linux

.PP
\&.hidden files are not cut.


.SH OPTIONS
\fB-h\fP, \fB--help\fP
	help for cut

.PP
\fB--n\fP \fIint\fP
	parts

.PP
\fB-o\fP, \fB--out\fP \fIFILE\fP
	FILE to write


.SH OPTIONS INHERITED FROM PARENT COMMANDS
\fB--json\fP
	print JSON


.SH EXAMPLE
.EX
  berth cut 'a\\n'
.EE


.SH SEE ALSO
\fBberth(1)\fP

`
	got, err := os.ReadFile(filepath.Join(dir, "berth-cut.1"))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if pages, _ := filepath.Glob(filepath.Join(dir, "*.1")); len(pages) != 2 {
		t.Errorf("there are pages %v", pages)
	}
}
