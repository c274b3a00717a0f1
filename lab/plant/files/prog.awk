{ n += NF; for (i = 1; i <= NF; i++) c[$i]++ }
function f(x) { return x < 2 ? x : f(x - 1) + f(x - 2) }
END { for (w in c) if (c[w] > 100) print w, c[w] | "sort"; close("sort"); print n, NR, f(18); printf "%.6f %s\n", sin(1) + exp(1), toupper(substr("hello", 2, 3)); gsub(/o/, "0", s); exit 2 }
