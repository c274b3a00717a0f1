package job

import "testing"

func TestFormatCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", -999: "-999", -1000: "-1,000", 1234567: "1,234,567", 123456: "123,456"} {
		if got := FormatCount(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
