puts (1..5000).select { |i| (2..Math.sqrt(i)).none? { |d| (i % d).zero? } }.sum
h = Hash.new(0); "the quick brown fox jumps".each_char { |c| h[c] += 1 }; puts h.sort.inspect
puts "abc def".gsub(/(\w+) (\w+)/, '\2 \1'), [3, 1, 2].sort.reverse.inspect, 2**200
t = (1..4).map { |k| Thread.new { (1..1000).sum * k } }; puts t.map(&:value).inspect
f = Fiber.new { Fiber.yield 1; 2 }; puts f.resume, f.resume
begin; raise "thrown"; rescue => e; puts e.message; end
exit 3
