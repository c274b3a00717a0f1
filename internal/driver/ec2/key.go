package ec2

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"berth/internal/job"
)

// Files of an allocation's folder: the key that its machines let in, and the keys that the machines showed.
const (
	keyName   = "key"
	knownName = "known_hosts"
)

// key returns the public half of the allocation's key, which is made for it alone and removed with it.
func (r *rental) key(ctx context.Context) (string, error) {
	path := filepath.Join(r.dir, keyName)
	public, err := os.ReadFile(path + ".pub")
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(path) // a half of an earlier attempt
		out, runErr := exec.CommandContext(ctx, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "berth", "-f", path).CombinedOutput()
		if runErr != nil {
			return "", &job.Error{Class: job.User, Code: job.CodeIO, Where: "ssh-keygen", What: "no key for rented machines can be made: " + strings.TrimSpace(string(out)), Err: runErr}
		}
		public, err = os.ReadFile(path + ".pub")
	}
	if err != nil {
		return "", &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: path, What: "the key for rented machines cannot be read", Err: err}
	}
	return strings.TrimSpace(string(public)), nil
}
