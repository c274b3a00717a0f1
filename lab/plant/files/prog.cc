#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
template <class T> T fold(const std::vector<T> &v, T s) { for (auto &x : v) s = s + x; return s; }
struct Shape { virtual double area() const = 0; virtual ~Shape() {} };
struct Square : Shape { double a; Square(double a) : a(a) {} double area() const override { return a * a; } };
int thrower(int n) { if (n == 0) throw std::runtime_error("thrown"); return thrower(n - 1) + 1; }
int main()
{
	std::vector<std::string> w{"b", "c", "a"}; std::sort(w.begin(), w.end());
	std::map<std::string, int> m; for (int i = 0; i < 1000; i++) m[std::to_string(i % 37)] += i;
	Square s(3); const Shape &r = s;
	try { thrower(20); } catch (const std::exception &e) { std::cout << e.what() << "\n"; }
	std::cout << fold(w, std::string()) << m["7"] << " " << r.area() << std::endl;
	return 3;
}
