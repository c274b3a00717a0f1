set terminal dumb 70 20
plot sin(x) title "sine"
f(x) = a * x + b
set fit quiet logfile "/dev/null"
fit f(x) "-" using 1:2 via a, b
1 2.1
2 3.9
3 6.2
4 7.8
e
print a, b
