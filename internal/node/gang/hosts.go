package gang

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/core/job"
)

// Node is a node of a gang as its processes are told of it.
type Node struct {
	Name  string // as launchers know it
	Ranks int
}

// Name gives the nodes names of their own, by their hosts. Workers that share a machine have the same host: launchers take the first of them
// for the machine, and the others for further ones, with names that no other node has.
func Name(hosts []string) []string {
	names := slices.Clone(hosts)
	for i, host := range hosts {
		if !slices.Contains(hosts[:i], host) {
			continue
		}
		short, domain, _ := strings.Cut(host, ".")
		for n := i + 1; slices.Contains(names, names[i]) && slices.Index(names, names[i]) != i || slices.Contains(hosts, names[i]); n++ {
			names[i] = fmt.Sprintf("%s-%d", short, n)
			if domain != "" {
				names[i] += "." + domain
			}
		}
	}
	return names
}

// Find returns the index of the node with that name, or −1. Launchers may leave the domain of a host out.
func Find(names []string, host string) int {
	if i := slices.Index(names, host); i >= 0 {
		return i
	}
	found := -1
	for i, name := range names {
		if short, _, _ := strings.Cut(name, "."); short == host {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// Folder has what launchers of ranks need on a node of a gang.
type Folder struct{ Dir string }

// Fill writes the files of the folder: a link to this program, and the files with the hosts.
func (f Folder) Fill(nodes []Node) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Symlink(exe, f.agent()); err != nil {
		return err
	}
	var slots strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&slots, "%s slots=%d\n", n.Name, n.Ranks)
	}
	if err := os.WriteFile(f.Hosts(), []byte(lines(nodes)), 0o600); err != nil {
		return err
	}
	return os.WriteFile(f.slots(), []byte(slots.String()), 0o600)
}

// NameNodes writes the file with the names that the batch system has for the nodes.
func (f Folder) NameNodes(nodes []Node) error {
	return os.WriteFile(f.BatchHosts(), []byte(lines(nodes)), 0o600)
}

// lines returns a line for each rank with the name of its node.
func lines(nodes []Node) string {
	var all strings.Builder
	for _, n := range nodes {
		all.WriteString(strings.Repeat(n.Name+"\n", n.Ranks))
	}
	return all.String()
}

func (f Folder) agent() string { return filepath.Join(f.Dir, Agent) }

// Hosts returns the file with a line for each rank, which has the name of its node.
func (f Folder) Hosts() string { return filepath.Join(f.Dir, "hosts") }

// BatchHosts returns the file with a line for each rank, which has the name of its node for the batch system.
func (f Folder) BatchHosts() string { return filepath.Join(f.Dir, "nodes") }

// slots returns the file with a line for each node, as Open MPI wants it: one that names a host once only gives it a slot for each core.
func (f Folder) slots() string { return filepath.Join(f.Dir, "slots") }

// Variables returns the variables of all processes of a gang on a node.
func (f Folder) Variables(nodes []Node, key string) []string {
	ranks := 0
	for _, n := range nodes {
		ranks += n.Ranks
	}
	return []string{fmt.Sprintf("BERTH_RANKS=%d", ranks), fmt.Sprintf("BERTH_NODES=%d", len(nodes)), "BERTH_HOSTFILE=" + f.Hosts(),
		AgentVariable + "=" + f.agent(), KeyVariable + "=" + key}
}

// Launchers returns the variables by which mpirun of Open MPI (to version 4, and PRRTE since 5) and of MPICH, Intel MPI and
// others with Hydra starts ranks on the nodes of the gang by the agent, whatever batch system it finds. What the environment has stays. One
// daemon starts all others: only on the first node is the agent at the path that is in the variables. systems are the names of the batch systems that
// it must not use.
func (f Folder) Launchers(env, systems []string) []string {
	not := "^" + strings.Join(systems, ",")
	all := []string{
		"OMPI_MCA_plm=" + not, "OMPI_MCA_plm_rsh_agent=" + f.agent(), "OMPI_MCA_plm_rsh_no_tree_spawn=1", "OMPI_MCA_plm_rsh_disable_qrsh=1",
		"OMPI_MCA_ras=" + not, "OMPI_MCA_orte_default_hostfile=" + f.slots(),
		"PRTE_MCA_plm=" + not, "PRTE_MCA_plm_ssh_agent=" + f.agent(), "PRTE_MCA_plm_ssh_no_tree_spawn=1", "PRTE_MCA_plm_ssh_disable_qrsh=1",
		"PRTE_MCA_ras=" + not, "PRTE_MCA_prte_default_hostfile=" + f.slots(),
		"HYDRA_LAUNCHER=ssh", "HYDRA_LAUNCHER_EXEC=" + f.agent(), "HYDRA_RMK=user", "HYDRA_HOST_FILE=" + f.Hosts(),
		"I_MPI_HYDRA_BOOTSTRAP=ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC=" + f.agent(), "I_MPI_HYDRA_HOST_FILE=" + f.Hosts(),
	}
	return slices.DeleteFunc(all, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, set := job.LookupEnv(env, name)
		return set
	})
}

// SharedMachine returns the variables of processes on a node whose machine has an earlier node of the gang. Open MPI names
// segments of shared memory by the machine and the number of the rank on its node, so ranks of two such nodes would use the same ones.
func SharedMachine(dir string) []string {
	return []string{"OMPI_MCA_btl_vader_backing_directory=" + dir, "OMPI_MCA_btl_sm_backing_directory=" + dir}
}
