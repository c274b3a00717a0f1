package wire

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestTokenSeenLate: a token that the file server shows late is seen.
func TestTokenSeenLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		time.AfterFunc(tokenPatience-tokenPatience/10, func() {
			if err := os.WriteFile(filepath.Join(root, TokenName), []byte("secret"), 0o600); err != nil {
				t.Error(err)
			}
		})
		if !SeesToken(root, "secret") {
			t.Error("it is not seen")
		}
		if SeesToken(root, "another") {
			t.Error("another allocation's is taken")
		}
	})
}
