# Functions, loops, arithmetic, here documents, subshells, pipes and traps of a POSIX shell.
fib() { if [ "$1" -lt 2 ]; then echo "$1"; else echo $(($(fib $(($1 - 1))) + $(fib $(($1 - 2))))); fi; }
i=0
while [ $i -lt 8 ]; do echo "fib $i = $(fib $i)"; i=$((i + 1)); done
for w in one two three; do case $w in t*) echo "${w#t} ${#w}" ;; *) echo "$w" ;; esac; done
trap 'echo leaving' EXIT
cat <<END | sort | uniq -c | tr a-z A-Z
b $i
a
b $i
END
(exit 3) || echo "code $?"
set -- x y z; shift; echo "$# $*"
printf '%05d|%-6s|%x\n' 42 ab 255
exit 7
