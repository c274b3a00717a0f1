proc fib n { if {$n < 2} { return $n }; expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
puts [fib 15]
set l {}; for {set i 0} {$i < 500} {incr i} { lappend l [expr {$i * 7919 % 1009}] }
puts [lrange [lsort -integer $l] 0 9]; puts [string map {a b} "banana"]; puts [regsub -all {[aeiou]} "hello world" X]
array set a {x 1 y 2}; puts [lsort [array names a]]; catch {error thrown} e; puts $e; puts [exec echo child]; exit 2
