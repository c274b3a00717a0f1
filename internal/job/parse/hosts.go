package parse

import (
	"fmt"
	"strconv"
	"strings"

	"berth/internal/job"
)

// hostsHelp says how hosts are written.
const hostsHelp = "write host, user@host, 8/host for 8 of its cores, or : for this machine, with commas between them, or the name of a file with one a line"

// Hosts reads hosts as GNU parallel takes them (--sshlogin), a list with commas; or the text of a file of such (--sshloginfile), in which
// blank lines and what follows a # do not count.
func Hosts(where, text string) ([]job.Host, error) {
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		return hostList(where, text)
	}
	var all []job.Host
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		hosts, err := hostList(fmt.Sprintf("%s, line %d", where, i+1), line)
		if err != nil {
			return nil, err
		}
		all = append(all, hosts...)
	}
	if len(all) == 0 {
		return nil, job.ConfigError(where, "the file names no host", hostsHelp)
	}
	return all, nil
}

func hostList(where, list string) ([]job.Host, error) {
	var hosts []job.Host
	for _, word := range strings.Split(list, ",") {
		h, err := host(where, strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// host reads one. What ssh could take for an option, or the shell for more than a word, is no host.
func host(where, word string) (h job.Host, err error) {
	h.Name = word
	if before, after, counted := strings.Cut(word, "/"); counted {
		h.Name = after
		h.CPUs, err = strconv.Atoi(before)
		if err != nil || h.CPUs < 1 || h.CPUs > job.MaxCPUs {
			return job.Host{}, job.ConfigError(where, fmt.Sprintf("%q does not begin with a number of cores, nor is it the name of a file", word), hostsHelp)
		}
	}
	odd := strings.ContainsFunc(h.Name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`/'"\$;&|<>()*?!#`+"`", r) })
	if h.Name == "" || odd || strings.HasPrefix(h.Name, "-") || strings.HasPrefix(h.Name, "@") {
		return job.Host{}, job.ConfigError(where, fmt.Sprintf("%q is no host", word), hostsHelp+"; ports and other options belong into ~/.ssh/config")
	}
	return h, nil
}

func setHosts(a *Ask, where, value string) error {
	hosts, err := Hosts(where, value)
	if err != nil {
		return err
	}
	if !a.hostsSet { // a job that is resumed has other hosts then
		a.hostsSet, a.request.Remote.Hosts = true, nil
	}
	for _, h := range hosts {
		for _, other := range a.request.Remote.Hosts {
			if h.Name == other.Name {
				return job.ConfigError(where, fmt.Sprintf("host %s is named twice", h.Name), "name it once, with the cores of both")
			}
		}
		a.request.Remote.Hosts = append(a.request.Remote.Hosts, h)
	}
	return nil
}
