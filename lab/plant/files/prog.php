<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
echo fib(18), "\n"; $a = []; for ($i = 0; $i < 500; $i++) $a[] = $i * 7919 % 1009; sort($a); echo implode(",", array_slice($a, 0, 10)), "\n";
echo preg_replace('/(\w+) (\w+)/', '$2 $1', "hello world"), md5("x"), json_encode(["a" => [1, 2]]), "\n";
try { throw new Exception("thrown"); } catch (Exception $e) { echo $e->getMessage(), "\n"; } exit(3);
