// What programs do that a tracer may spoil: odd WHAT. It prints what it sees and ends with 0 if all is as it should be.
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static volatile int alarms;
static void on_alarm(int s) { (void)s; alarms++; }

static int signals(void) {
	struct sigaction sa = {.sa_handler = on_alarm};
	sigaction(SIGALRM, &sa, NULL);
	struct itimerval it = {{0, 1000}, {0, 1000}};
	setitimer(ITIMER_REAL, &it, NULL);
	while (alarms < 50)
		;
	return 0;
}

static int lines(const char *path, const char *key) {
	char line[512];
	FILE *f = fopen(path, "r");
	while (fgets(line, sizeof line, f))
		if (!strncmp(line, key, strlen(key)))
			fputs(line, stdout);
	return fclose(f);
}

static int descriptors(void) {
	DIR *d = opendir("/proc/self/fd");
	int n = 0;
	while (readdir(d))
		n++;
	printf("%d\n", n);
	return 0;
}

static int vforks(void) {
	int status = 0;
	for (int i = 0; i < 20; i++) {
		pid_t p = vfork();
		if (p == 0) {
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		if (waitpid(p, &status, 0) != p || status)
			return 1;
		char *argv[] = {"true", NULL};
		if (posix_spawn(&p, "/bin/true", NULL, NULL, argv, environ) || waitpid(p, &status, 0) != p || status)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "signals"))
		return signals();
	if (!strcmp(what, "traced"))
		return lines("/proc/self/status", "TracerPid");
	if (!strcmp(what, "masks"))
		return lines("/proc/self/status", "SigB") + lines("/proc/self/status", "SigI") + lines("/proc/self/status", "SigC");
	if (!strcmp(what, "descriptors"))
		return descriptors();
	if (!strcmp(what, "vfork"))
		return vforks();
	if (!strcmp(what, "crash"))
		abort();
	if (!strcmp(what, "user"))
		return printf("%d %d\n", getuid(), geteuid()) < 0;
	if (!strcmp(what, "args")) {
		for (int i = 0; i < argc; i++)
			puts(argv[i]);
		for (char **e = environ; *e; e++)
			puts(*e);
		return 0;
	}
	return 9;
}
