package driver

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"

	"berth/internal/sys/private"
	"berth/internal/wire"
)

// Secret returns a random part of a name that nobody can guess.
func Secret() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}

// Token returns the content of the token file in a scratch folder. A node that reads the same token sees the same folder. Token
// creates the folder and the file if they are missing. Both must belong to this user.
func Token(scratch string) (string, error) {
	if err := private.Folder(scratch); err != nil {
		return "", err
	}
	path := filepath.Join(scratch, wire.TokenName)
	b, err := private.ReadFile(path, wire.MaxToken)
	if err == nil && len(b) > 0 {
		return string(b), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	t := Secret() + Secret()
	if err := private.WriteFile(path, t); err != nil {
		return "", err
	}
	return t, nil
}
