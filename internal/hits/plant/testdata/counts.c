// A program whose functions are entered a known number of times: counts THREADS CHILDREN ROUNDS.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long sink;
#define PART __attribute__((noinline, noclone))

PART long leaf(long x) {
	long a = x * 3 + sink, b = a ^ (x << 2);
		return a + b + (x > 17 ? b * 5 : a ^ 7);
}

PART long twice(long x) { return leaf(x) + leaf(x + 1) + sink; }

PART void *thread(void *n) {
	long sum = 0;
	for (long i = 0; i < *(long *)n; i++)
		sum += twice(i);
	return (void *)sum;
}

PART int child(long n) {
	long sum = 0;
	for (long i = 0; i < n; i++)
		sum += leaf(i);
	return (int)(sum & 1);
}

int main(int argc, char **argv) {
	int threads = argc > 1 ? atoi(argv[1]) : 0, children = argc > 2 ? atoi(argv[2]) : 0;
	long rounds = argc > 3 ? atol(argv[3]) : 10;
	pthread_t id[64];
	for (int i = 0; i < threads; i++)
		if (pthread_create(&id[i], NULL, thread, &rounds))
			return 99;
	for (int i = 0; i < children; i++)
		if (fork() == 0)
			_exit(child(rounds));
	long sum = 0;
	for (int i = 0; i < threads; i++) {
		void *r;
		pthread_join(id[i], &r);
		sum += (long)r;
	}
	int status;
	while (wait(&status) > 0)
		sum += WEXITSTATUS(status);
	printf("%ld\n", sum);
	return 7;
}
