// A library that does things before the program's entry: it forks, or starts a thread, in its constructor.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;
static void *idle(void *p) {
	while (!stop)
		usleep(100);
	return p;
}

__attribute__((constructor)) static void early(void) {
	const char *how = getenv("EARLY");
	static pthread_t id;
	if (how && !strcmp(how, "thread"))
		pthread_create(&id, NULL, idle, NULL);
	if (how && !strcmp(how, "wait") && fork() == 0)
		_exit(3);
	// Both go on into the program: the child met the breakpoint there if it had inherited one.
	if (how && !strcmp(how, "fork") && fork() != 0) {
		int status = 0;
		wait(&status);
		if (WIFSIGNALED(status))
			puts("the child was killed");
	}
}
