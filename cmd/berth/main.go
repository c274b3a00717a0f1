// Command berth runs MapReduce jobs and bags of tasks on this machine, a Slurm cluster, hosts of ssh or rented machines.
package main

import (
	"os"

	"berth/internal/command"
)

func main() {
	os.Exit(command.Main(command.Extra{}))
}
