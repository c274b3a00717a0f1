package fleet

import (
	"fmt"
	"os/exec"
	"strings"
)

// bridge is the interface of this machine that leads to all machines apart, and server the one that limits what goes through it, either way.
func (f *Fleet) bridge() string { return fmt.Sprintf("berthf%d", f.slot) }
func (f *Fleet) server() string { return fmt.Sprintf("berths%d", f.slot) }

// link is the interface of this machine at the other end of the machine's.
func (h *Host) link() string { return fmt.Sprintf("bf%dm%d", h.fleet.slot, h.number) }

// address returns the address of a machine by its number; this machine has number 1.
func (f *Fleet) address(number int) string { return fmt.Sprintf("10.178.%d.%d", f.slot, number) }

func (f *Fleet) makeNetwork() error {
	f.removeNetwork()
	b, s := f.bridge(), f.server()
	err := run("ip link add %s type bridge", b)
	if err == nil {
		err = run("ip addr add %s/24 dev %s", f.address(1), b)
	}
	if err == nil {
		err = run("ip link set %s up", b)
	}
	if err != nil || f.opts.Server == 0 {
		return err
	}
	return all(
		"ip link add "+s+" type ifb",
		"ip link set "+s+" up",
		fmt.Sprintf("tc qdisc add dev %s root handle 1: htb default 1", s),
		fmt.Sprintf("tc class add dev %s parent 1: classid 1:1 htb rate %s burst 32k cburst 32k", s, rate(f.opts.Server)),
		"tc qdisc add dev "+b+" clsact",
		fmt.Sprintf("tc filter add dev %s egress u32 match u32 0 0 action mirred egress redirect dev %s", b, s),
		fmt.Sprintf("tc filter add dev %s ingress u32 match u32 0 0 action mirred egress redirect dev %s", b, s))
}

func rate(bytes int64) string { return fmt.Sprintf("%dbit", 8*bytes) }

// share returns the commands that give the machine a fair share of the data server's rate. Others
// may use what it does not use.
func (h *Host) share() []string {
	s, class := h.fleet.server(), fmt.Sprintf("1:%x", 0x100+h.number)
	filter := fmt.Sprintf("tc filter add dev %s parent 1: protocol ip prio %d u32 match ip", s, h.number)
	return []string{
		fmt.Sprintf("tc class replace dev %s parent 1:1 classid %s htb rate %s ceil %s quantum 3000 burst 16k cburst 16k", s, class, rate(h.fleet.opts.Server/20), rate(h.fleet.opts.Server)),
		fmt.Sprintf("%s dst %s flowid %s", filter, h.Addr, class),
		fmt.Sprintf("%s src %s flowid %s", filter, h.Addr, class)}
}

// shape returns the command that limits an interface. Traffic beyond the limit is delayed, so that
// TCP does not see loss at once.
func shape(dev string, bytes int64) string {
	return fmt.Sprintf("tc qdisc add dev %s root tbf rate %s burst 16kb latency 200ms", dev, rate(bytes))
}

// lose returns what nft does to make an interface lose a percentage of the packets that arrive at it. The drop happens behind the link, so
// that the sender does not notice it.
func (f *Fleet) lose(dev string, percent int) string {
	table := "netdev " + f.bridge()
	chain := table + " " + dev
	return fmt.Sprintf("add table %s ; add chain %s { type filter hook ingress device %s priority 0 ; } ; flush chain %s ; "+
		"add rule %s numgen random mod 100 offset 1 <= %d drop", table, chain, dev, chain, chain, percent)
}

func (f *Fleet) removeNetwork() {
	_ = run("nft delete table netdev %s", f.bridge()) // a fleet that lost nothing has none
	out, _ := exec.Command("ip", "-o", "link", "show").Output()
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimSuffix(fields[1], ":"), "@")
		if name == f.bridge() || name == f.server() || strings.HasPrefix(name, fmt.Sprintf("bf%dm", f.slot)) {
			_ = run("ip link del %s", name) // it may disappear by itself, with the namespace at its other end
		}
	}
}

// all runs commands one after another until one fails.
func all(commands ...string) error {
	for _, c := range commands {
		if err := run("%s", c); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command whose words are separated by spaces.
func run(format string, args ...any) error {
	words := strings.Fields(fmt.Sprintf(format, args...))
	path, err := find(words[0])
	if err != nil {
		return err
	}
	if out, err := exec.Command(path, words[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
