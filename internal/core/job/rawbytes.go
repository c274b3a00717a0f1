package job

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// rawByte is the base of the code points that stand for bytes in JSON. Commands, paths and environments
// are arbitrary bytes except NUL, but JSON holds Unicode text. A byte that is not part of valid UTF-8 is
// written as the code point rawByte + byte, from a private plane (Unicode 16, section 23.5). The bytes of
// such a code point in the original text are written in the same way, so that every text can be restored.
const rawByte = 0x10F700

// MarshalJSON writes the spec so that UnmarshalJSON restores every byte of every string.
func (s Spec) MarshalJSON() ([]byte, error) {
	type plain Spec
	return json.Marshal(plain(mapStrings(reflect.ValueOf(s), keepBytes).Interface().(Spec)))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Spec) UnmarshalJSON(b []byte) error {
	type plain Spec
	if err := json.Unmarshal(b, (*plain)(s)); err != nil {
		return err
	}
	*s = mapStrings(reflect.ValueOf(*s), restoreBytes).Interface().(Spec)
	return nil
}

// isRaw reports whether a code point stands for a byte.
func isRaw(r rune) bool { return r >= rawByte+utf8.RuneSelf && r <= rawByte+0xff }

// keepBytes returns s as valid UTF-8, from which restoreBytes restores s.
func keepBytes(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, isRaw) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || isRaw(r) {
			for _, c := range []byte(s[:n]) {
				b.WriteRune(rawByte + rune(c))
			}
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func restoreBytes(s string) string {
	if strings.IndexFunc(s, isRaw) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isRaw(r) {
			b.WriteByte(byte(r - rawByte))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// mapStrings returns a copy of v with f applied to every string in it.
func mapStrings(v reflect.Value, f func(string) string) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.String:
		c.SetString(f(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			c.Field(i).Set(mapStrings(v.Field(i), f))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(reflect.New(v.Type().Elem()))
			c.Elem().Set(mapStrings(v.Elem(), f))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				c.Index(i).Set(mapStrings(v.Index(i), f))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for _, k := range v.MapKeys() {
				c.SetMapIndex(mapStrings(k, f), mapStrings(v.MapIndex(k), f))
			}
		}
	}
	return c
}
