package parse

import (
	"fmt"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// hostsHelp is the advice of errors: how hosts are written.
const hostsHelp = "write host, user@host, 8/host for 8 of its cores, or : for this machine, with commas between them, or the name of a file with one host on each line"

// Hosts parses hosts in the form of GNU parallel: a list with commas (--sshlogin), or the text of a file with one list on each
// line (--sshloginfile). In a file, empty lines and the text after a # are ignored.
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

// host parses one host. It rejects names that ssh could read as an option, or that a shell would not read as one word.
func host(where, word string) (h job.Host, err error) {
	h.Name = word
	if before, after, counted := strings.Cut(word, "/"); counted {
		h.Name = after
		h.CPUs, err = strconv.Atoi(before)
		if err != nil || h.CPUs < 1 || h.CPUs > job.MaxCPUs {
			return job.Host{}, job.ConfigError(where, fmt.Sprintf("%q does not begin with a number of cores, and there is no file of this name", word), hostsHelp)
		}
	}
	odd := strings.ContainsFunc(h.Name, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`/'"\$;&|<>()*?!#`+"`", r) })
	if h.Name == "" || odd || strings.HasPrefix(h.Name, "-") || strings.HasPrefix(h.Name, "@") {
		return job.Host{}, job.ConfigError(where, fmt.Sprintf("%q is not a host", word), hostsHelp+"; write ports and other options into ~/.ssh/config")
	}
	return h, nil
}
