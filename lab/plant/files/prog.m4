define(`fact', `ifelse($1, 0, 1, `eval($1 * fact(decr($1)))')')dnl
fact(10) len(`hello') translit(`abc', `a-c', `x-z') substr(`macro', 1, 3)
define(`loop', `ifelse($1, 0, , `$1 loop(decr($1))')')loop(60)
regexp(`GNUs not Unix', `\w\(\w+\)$', `*** \& *** \1 ***') syscmd(echo child)
