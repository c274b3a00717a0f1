// Package berth has the version of the project, of which the file VERSION is the one source.
package berth

import (
	_ "embed"
	"runtime/debug"
	"strings"
)

//go:embed VERSION
var release string

// Version returns what a program was built from: the version, the commit as far as its build tells, and the Go that built it. A build from a folder
// whose files differ from the commit says so.
func Version() string {
	text := strings.TrimSpace(release)
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return text
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			text += " commit " + s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			text += " with changes"
		}
	}
	return text + " " + info.GoVersion
}
