# Arrays, substitutions and regular expressions of bash and its kin.
a=(); for i in {1..200}; do a+=($((i * i % 37))); done
s=0; for x in "${a[@]}"; do ((s += x)); done; echo "${#a[@]} $s"
t="the quick brown fox"; echo "${t//o/0} ${t:4:5}"
[[ $t =~ q([a-z]+)k ]] && echo match
for ((i = 0; i < 300; i++)); do :; done; echo $i
while read -r l; do echo "<$l>"; done < <(printf 'p\nq\n')
