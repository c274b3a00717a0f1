import collections, hashlib, itertools, json, math, re, threading, zlib, decimal, sqlite3, subprocess, sys
def primes(n):
    s = bytearray([1]) * (n + 1); s[:2] = b"\0\0"
    for i in range(2, int(n ** .5) + 1):
        if s[i]: s[i * i::i] = bytes(len(s[i * i::i]))
    return [i for i, v in enumerate(s) if v]
print(len(primes(50000)), sum(primes(1000)))
print(hashlib.sha256(zlib.compress(b"x" * 10000)).hexdigest())
print(json.dumps({"a": [1, 2.5, None], "b": {"c": "\u00e9"}}, sort_keys=True))
print(re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world, good bye"))
print(collections.Counter(c for c in "mississippi").most_common())
print(sum(1 for _ in itertools.permutations(range(7))), math.sin(1), decimal.Decimal(2).sqrt())
total = [0] * 4
def work(k):
    for i in range(20000): total[k] += i * k
ts = [threading.Thread(target=work, args=(k,)) for k in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
print(total)
db = sqlite3.connect(":memory:"); db.execute("create table t(a)"); db.executemany("insert into t values(?)", [(i,) for i in range(100)])
print(db.execute("select sum(a*a) from t").fetchone())
print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout.strip())
try: 1 // 0
except ZeroDivisionError as e: print("caught", e)
sys.exit(5)
