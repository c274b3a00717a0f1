// Command berth-lab is the laboratory of berth: the command line of berth, and beside it experiments, which replay logs
// of clusters, simulate the figures of papers, and compare schedulers and rules on slow tasks.
package main

import (
	"os"

	"berth/internal/command"
	"berth/lab/commands"
)

func main() {
	os.Exit(command.Main(commands.Extra()))
}
