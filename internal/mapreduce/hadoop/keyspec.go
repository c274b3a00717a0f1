package hadoop

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// keySpec is one -k pos1[,pos2] of the key field options: the part of a key that
// is hashed or compared, and how (Hadoop's KeyFieldHelper.KeyDescription).
// Fields and characters (bytes) count from 1.
type keySpec struct {
	beginField, beginChar int
	endField              int // 0: to the end of the key
	endChar               int // 0: to the end of the field
	numeric, reverse      bool
}

// keySpecs is a parsed option string and the separator of a key's fields.
type keySpecs struct {
	specs []keySpec
	sep   []byte
}

// parseKeySpecs parses options as Hadoop's KeyFieldHelper.parseOption does: -n, -r and -nr (also -rn, which Hadoop
// overlooks) apply to every -k without flags of its own, and to the whole key if there is no -k. Words that Hadoop
// silently ignores are refused. where is the job key in errors.
func parseKeySpecs(where, options, sep string) (keySpecs, error) {
	ks := keySpecs{sep: []byte(cmp.Or(sep, "\t"))}
	whole := keySpec{beginField: 1, beginChar: 1}
	words := strings.Fields(options)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-n":
			whole.numeric = true
		case w == "-r":
			whole.reverse = true
		case w == "-nr" || w == "-rn":
			whole.numeric, whole.reverse = true, true
		case strings.HasPrefix(w, "-k"):
			arg := w[2:]
			if arg == "" && i+1 < len(words) {
				i++
				arg = words[i]
			}
			k, err := parseKey(arg)
			if err != nil {
				return ks, keySpecError(where, options, "-k"+arg, err)
			}
			ks.specs = append(ks.specs, k)
		default:
			return ks, keySpecError(where, options, w, fmt.Errorf("is not known"))
		}
	}
	ks.inherit(whole, len(words) > 0)
	return ks, nil
}

// inherit gives the global flags to the keys without flags, and makes the whole
// key the only spec where options named none.
func (ks *keySpecs) inherit(whole keySpec, given bool) {
	for i := range ks.specs {
		if k := &ks.specs[i]; !k.numeric && !k.reverse {
			k.numeric, k.reverse = whole.numeric, whole.reverse
		}
	}
	if len(ks.specs) == 0 && given {
		ks.specs = []keySpec{whole}
	}
}

func keySpecError(where, options, word string, err error) error {
	return job.ConfigError(where, fmt.Sprintf("%q in %q %v", word, options, err), "write -k pos1[,pos2] with pos = field[.char][n][r], and -n or -r")
}

// parseKey reads f[.c][nr][,f[.c][nr]].
func parseKey(s string) (keySpec, error) {
	k := keySpec{beginChar: 1}
	begin, end, ranged := strings.Cut(s, ",")
	var err error
	if k.beginField, k.beginChar, err = k.parsePos(begin, 1); err != nil {
		return k, err
	}
	if ranged {
		k.endField, k.endChar, err = k.parsePos(end, 0)
	}
	return k, err
}

// parsePos parses f[.c] and the flags after it.
func (k *keySpec) parsePos(s string, defaultChar int) (field, char int, err error) {
	for strings.HasSuffix(s, "n") || strings.HasSuffix(s, "r") {
		last := len(s) - 1
		k.numeric = k.numeric || s[last] == 'n'
		k.reverse = k.reverse || s[last] == 'r'
		s = s[:last]
	}
	f, c, dotted := strings.Cut(s, ".")
	if field, err = parseCount(f); err != nil {
		return 0, 0, err
	}
	if !dotted {
		return field, defaultChar, nil
	}
	char, err = parseCount(c)
	return field, char, err
}

// parseCount reads a field or character number, 0 to 2³¹−1.
func parseCount(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("has %q where a number is needed", s)
	}
	return int(n), nil
}

// part returns the bytes of key that k selects, and false if the key has too few fields or ends before the first
// character. A range that ends before it begins is empty. Hadoop counts fields wrongly if the separator has several
// bytes; this function counts them correctly.
func (ks *keySpecs) part(k *keySpec, key []byte) ([]byte, bool) {
	from, ok := ks.fieldStart(key, k.beginField)
	if !ok {
		return nil, false
	}
	from += k.beginChar - 1
	if from < 0 || from >= len(key) {
		return nil, false
	}
	return key[from:max(from, ks.partEnd(k, key))], true
}

// partEnd returns the offset after the last byte that k means.
func (ks *keySpecs) partEnd(k *keySpec, key []byte) int {
	if k.endField == 0 {
		return len(key)
	}
	start, ok := ks.fieldStart(key, k.endField)
	if !ok {
		return len(key)
	}
	if k.endChar > 0 {
		return min(start+k.endChar, len(key))
	}
	if n := ks.index(key[start:]); n >= 0 {
		return start + n
	}
	return len(key)
}

// fieldStart returns the offset of a field counted from 1 (0 means 1), and false if
// the key has fewer fields. An empty last field starts at len(key).
func (ks *keySpecs) fieldStart(key []byte, field int) (int, bool) {
	at := 0
	for i := 1; i < field; i++ {
		n := ks.index(key[at:])
		if n < 0 {
			return 0, false
		}
		at += n + len(ks.sep)
	}
	return at, true
}

// index returns where the next separator in b begins, −1 without one.
func (ks *keySpecs) index(b []byte) int {
	if len(ks.sep) == 1 {
		return bytes.IndexByte(b, ks.sep[0])
	}
	return bytes.Index(b, ks.sep)
}
