// Locks its memory if it has an argument.
#include <sys/mman.h>

int main(int c, char **v) { return c > 1 ? mlockall(MCL_FUTURE) : 7; }
