local t = {} for i = 1, 2000 do t[#t + 1] = (i * 7919) % 1009 end
table.sort(t) print(t[1], t[#t], #t)
local co = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i * i) end end)
for i = 1, 5 do io.write(co(), " ") end print()
print(string.rep("ab", 20):gsub("b", "c"), ("%5.2f"):format(math.pi))
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end print(fib(22))
print(pcall(error, "thrown")) os.exit(6)
