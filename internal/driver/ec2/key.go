package ec2

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"berth/internal/core/job"
)

// Files of an allocation's folder: the key with which berth logs in on its machines, and the machines' host keys.
const (
	keyName   = "key"
	knownName = "known_hosts"
)

// key returns the public half of the allocation's key. The key is made for this allocation and removed with it.
func (r *rental) key(ctx context.Context) (string, error) {
	path := filepath.Join(r.dir, keyName)
	public, err := os.ReadFile(path + ".pub")
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(path) // an earlier attempt may have left a half of the key
		out, runErr := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "berth", "-f", path).CombinedOutput()
		if runErr != nil {
			return "", job.IOError(job.User, "ssh-keygen", "cannot make a key for rented machines: "+strings.TrimSpace(string(out)), runErr)
		}
		public, err = os.ReadFile(path + ".pub")
	}
	if err != nil {
		return "", job.IOError(job.Fatal, path, "cannot read the key for rented machines", err)
	}
	return strings.TrimSpace(string(public)), nil
}
