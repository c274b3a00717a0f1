import hashlib, json, re
words = [hashlib.md5(str(i).encode()).hexdigest()[:5] for i in range(60000)]
count = {}
for w in words * 8: count[w] = count.get(w, 0) + len(w)
text = " ".join(words)
found = [m.group(1) for m in re.finditer(r"\b([a-f]\w+[0-9])\b", text)]
def primes(n):
    p = []
    for i in range(2, n):
        if all(i % q for q in p if q * q <= i): p.append(i)
    return p
print(len(count), len(found), len(primes(4000)), len(json.dumps(sorted(count.items()))))
