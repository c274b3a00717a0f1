: fib dup 2 < if else dup 1- recurse swap 2 - recurse + then ;
: squares 10 0 do i dup * . loop cr ;
20 fib . cr squares 255 hex . decimal cr bye
