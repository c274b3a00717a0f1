package wire

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/sys/private"
)

// TokenName is the name of the file that distinguishes a scratch folder on a shared file system
// from a folder with the same path on another machine.
const TokenName = "token"

// MaxToken is how much of that file is read at most, bytes; a token has 32.
const MaxToken = 4 << 10

// tokenPatience is how long the token is searched for. It is written before a worker starts, but a network file
// system may answer from its cache that the file does not exist.
const tokenPatience = 2 * time.Second

// SeesToken reports whether a folder contains the token, and so is the folder that the token was written to.
func SeesToken(folder, token string) bool {
	for until := time.Now().Add(tokenPatience); ; time.Sleep(tokenPatience / 20) {
		b, err := private.ReadFile(filepath.Join(folder, TokenName), MaxToken)
		if err == nil && strings.TrimSpace(string(b)) == token {
			return true
		}
		if time.Now().After(until) {
			return false
		}
		_, _ = os.ReadDir(folder) // makes the client of a network file system read the folder again
	}
}
