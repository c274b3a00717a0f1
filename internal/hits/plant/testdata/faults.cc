// A program that throws exceptions out of faults, with -fnon-call-exceptions.
#include <cstdio>
#include <csignal>
#include <cstdlib>
#define PART __attribute__((noinline, noclone))

static void handler(int) {
	sigset_t all;
	sigemptyset(&all);
	sigaddset(&all, SIGSEGV);
	sigprocmask(SIG_UNBLOCK, &all, nullptr);
	throw 5;
}

PART static int load(int *p) { return p[1] + p[0]; }
PART static int lea(int x, int y) { return x * 4 + y + 17; }

int main(int argc, char **) {
	signal(SIGSEGV, handler);
	int sum = 0;
	for (int i = 0; i < 3; i++)
		try {
			sum += load(reinterpret_cast<int *>(static_cast<long>(argc) * 0));
		} catch (int n) {
			sum += lea(n, i);
		}
	std::printf("%d\n", sum);
}
