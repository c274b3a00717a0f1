package statedir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// The last member of an object in a file of WriteJSON is the checksum of the file as it would be without that member. Files of earlier
// versions have none. Lists and numbers have no place for one.
const (
	sumMember = ",\n  \"checksum\": \"%08x\"\n}\n"
	sumSize   = len(sumMember) - len("%08x") + 8
	objectEnd = "\n}\n"
)

// WriteJSON writes v to a file of mode 0600. After a crash the file has either its old or its new content.
func WriteJSON(path string, v any) error {
	b, err := EncodeJSON(path, v)
	if err != nil {
		return err
	}
	return WriteError(path, renameio.WriteFile(path, b, 0o600, renameio.WithTempDir(filepath.Dir(path))))
}

// EncodeJSON returns what WriteJSON would write.
func EncodeJSON(path string, v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", path, err)
	}
	return withSum(append(b, '\n')), nil
}

// ReadJSON reads a file that WriteJSON wrote into v. It is an error if the file was changed since.
func ReadJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err == nil {
		b, err = withoutSum(b)
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	return ReadError(path, err)
}

// withSum adds its checksum to an encoded object. Other values stay as they are.
func withSum(b []byte) []byte {
	if content, ok := bytes.CutSuffix(b, []byte(objectEnd)); ok {
		return fmt.Appendf(content, sumMember, crc32.Checksum(b, castagnoli))
	}
	return b
}

// withoutSum returns what was given to withSum. It is an error if the checksum is another.
func withoutSum(b []byte) ([]byte, error) {
	at := len(b) - sumSize
	if at < 0 {
		return b, nil
	}
	var sum uint32
	if n, _ := fmt.Sscanf(string(b[at:]), sumMember, &sum); n < 1 {
		return b, nil // an earlier version wrote it
	}
	if b = append(b[:at], objectEnd...); crc32.Checksum(b, castagnoli) != sum {
		return nil, errDamaged
	}
	return b, nil
}
