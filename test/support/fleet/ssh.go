package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// makeKey makes a key pair and returns the public key.
func makeKey(path string) (string, error) {
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path).CombinedOutput(); err != nil {
		return "", fmt.Errorf("ssh-keygen: %w: %s", err, out)
	}
	public, err := os.ReadFile(path + ".pub")
	return string(public), err
}

// keys writes the machine's key, its authorized keys, and the configuration of its server.
func (h *Host) keys() error {
	if err := h.hostKey(); err != nil {
		return err
	}
	client := filepath.Join(h.fleet.dir, "client.pub")
	if h.AuthorizedKeys != "" {
		client = filepath.Join(h.dir, "authorized_keys")
		if err := os.WriteFile(client, []byte(h.AuthorizedKeys), 0o600); err != nil {
			return err
		}
	}
	conf := fmt.Sprintf("ListenAddress %s\nPort %d\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"+
		"AllowTcpForwarding no\nAllowStreamLocalForwarding no\nPermitRootLogin yes\nMaxStartups 100\n", h.Addr, h.Port, filepath.Join(h.dir, "host"), client)
	conf += cheap
	if !h.fleet.opts.Apart { // a home folder of its own: the start-up files of this machine's shell may take long, and leave locks behind when they are killed
		conf += fmt.Sprintf("SetEnv HOME=%s %s\n", h.dir, h.mark())
	}
	return os.WriteFile(filepath.Join(h.dir, "sshd_config"), []byte(conf), 0o600)
}

// cheap are the algorithms that take the least processor time, a quarter of what OpenSSH would choose.
const cheap = "KexAlgorithms curve25519-sha256\nCiphers aes128-gcm@openssh.com\n"

// hostKey writes the machine's key pair, and its entry for the known hosts of users.
func (h *Host) hostKey() (err error) {
	private, public := filepath.Join(h.dir, "host"), []byte(nil)
	if h.HostKey == "" {
		_, err = makeKey(private)
	} else if err = os.WriteFile(private, []byte(h.HostKey), 0o600); err == nil {
		public, err = exec.Command("ssh-keygen", "-y", "-f", private).Output()
	}
	if public == nil && err == nil {
		public, err = os.ReadFile(private + ".pub")
	}
	if err != nil {
		return fmt.Errorf("the key of %s: %w", h.Name, err)
	}
	name := h.Addr
	if h.Port != 22 {
		name = fmt.Sprintf("[%s]:%d", h.Addr, h.Port)
	}
	return os.WriteFile(h.known(), fmt.Appendf(nil, "%s %s\n", name, strings.TrimSpace(string(public))), 0o600)
}

// known is the file with the machine's entry for known hosts.
func (h *Host) known() string { return filepath.Join(h.dir, "known") }

// ChangeKey gives the machine a key that its users do not know.
func (h *Host) ChangeKey() error {
	h.Down()
	private := filepath.Join(h.dir, "host")
	for _, name := range []string{private, private + ".pub"} {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	if _, err := makeKey(private); err != nil {
		return err
	}
	return h.Up()
}

// writeConfig writes the ssh configuration that names all machines. Names that end in .invalid have no address, which no server of names is asked.
func (f *Fleet) writeConfig() error {
	var text strings.Builder
	for _, h := range f.hosts {
		fmt.Fprintf(&text, "Host %s\n\tHostName %s\n\tPort %d\n\tUserKnownHostsFile %s\n", h.Name, h.Addr, h.Port, h.known())
	}
	text.WriteString("Host *.invalid\n\tHostName 127.0.0.1\n\tAddressFamily inet6\n")
	fmt.Fprintf(&text, "Host *\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile /dev/null\n\tGlobalKnownHostsFile /dev/null\n"+
		"\tStrictHostKeyChecking yes\n\tLogLevel ERROR\n", filepath.Join(f.dir, "client"))
	next := filepath.Join(f.dir, "config.next")
	if err := os.WriteFile(next, []byte(text.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(f.dir, "config"))
}
