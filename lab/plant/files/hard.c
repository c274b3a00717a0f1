/* What can go wrong where code is patched: signals on a stack of their own while functions are entered, threads,
   jumps out of functions, contexts, forks of all kinds, walks up the stack. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
static volatile long ticks;
__attribute__((noinline)) static long leaf(long a, long b) { volatile long t[8]; for (int i = 0; i < 8; i++) t[i] = a * i + b; return t[3] ^ t[5]; }
__attribute__((noinline)) static double mixed(double x, int n, float y) { return n ? mixed(x * .5 + y, n - 1, y) : x; }
__attribute__((noinline)) static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static void tick(int s, siginfo_t *i, void *c) { (void)i; (void)c; ticks += s != 0; leaf(ticks, s); }
static void *work(void *p) { long n = (long)p, s = 0; for (long i = 0; i < 200000; i++) s += leaf(i, n); return (void *)s; }
static jmp_buf out;
__attribute__((noinline)) static void deep(int n) { if (n == 0) longjmp(out, 5); deep(n - 1); leaf(n, n); }
static ucontext_t one, two;
static long turns;
static void other(void) { for (int i = 0; i < 50; i++) { turns += leaf(i, 1) & 7; swapcontext(&two, &one); } }
__attribute__((noinline)) static int depth(int n) { void *a[64]; int d = n ? depth(n - 1) : backtrace(a, 64); __asm__ volatile("" : "+r"(d)); return d; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv)
{
	static char stack[65536], alt[65536];
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof alt};
	struct sigaction sa = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	if (argc > 1) return printf("child %s\n", argv[1]) & 7;
	sigaltstack(&ss, 0); sigaction(SIGALRM, &sa, 0); setitimer(ITIMER_REAL, &often, 0);
	pthread_t t[6]; long sum = 0;
	for (long i = 0; i < 6; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 6; i++) { void *r; pthread_join(t[i], &r); sum += (long)r; }
	printf("threads %ld fib %ld mixed %.9f\n", sum, fib(24), mixed(1, 30, .25f));
	long jumps = 0; for (int i = 0; i < 100; i++) if (setjmp(out)) jumps++; else deep(i);
	getcontext(&two); two.uc_stack.ss_sp = stack; two.uc_stack.ss_size = sizeof stack; two.uc_link = &one; makecontext(&two, other, 0);
	for (int i = 0; i < 50; i++) swapcontext(&one, &two);
	printf("jumps %ld turns %ld depth %d\n", jumps, turns, depth(9) - depth(4));
	setitimer(ITIMER_REAL, &never, 0); fflush(stdout);
	int status, v[999];
	for (int i = 0; i < 999; i++) v[i] = i * 7919 % 1009;
	qsort(v, 999, sizeof *v, compare);
	if (fork() == 0) { printf("fork %d %ld\n", v[500], fib(15)); fflush(stdout); _exit(3); }
	wait(&status); printf("ended %d\n", WEXITSTATUS(status)); fflush(stdout);
	if (vfork() == 0) { execl("/proc/self/exe", "self", "again", (char *)0); _exit(1); }
	wait(&status); printf("ended %d\n", WEXITSTATUS(status));
	void *h = dlopen("libm.so.6", RTLD_NOW); double (*f)(double) = h ? (double (*)(double))dlsym(h, "cbrt") : 0;
	printf("cbrt %.3f\n", f ? f(27) : 3.);
	for (int i = 0; i < 64; i++) { char *m = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); m[i] = 1; munmap(m, 1 << 20); }
	fflush(stdout); raise(SIGTERM); return 0;
}
