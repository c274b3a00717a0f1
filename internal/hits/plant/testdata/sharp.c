// What a program may do with its code and memory that a jump at a function's entry could spoil: sharp WHAT.
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

// A function of three bytes, and the constant behind it.
__asm__(".text\n.type tiny,@function\ntiny: xor %eax,%eax\n ret\n.size tiny,.-tiny\n"
	".Lconstant: .long 0\n.type constant_of,@function\nconstant_of: mov .Lconstant(%rip),%eax\n ret\n"
	".size constant_of,.-constant_of\n");
int tiny(void);
int constant_of(void);

// A function whose caller's flags live on: the carry is its result's lowest bit. It uses no stack.
__asm__(".text\n.type carry,@function\ncarry: mov %rdi,%rax\n lea 1(%rax),%rax\n adc $0,%rax\n ret\n.size carry,.-carry\n"
	".type on_stack,@function\non_stack: push %rbx\n mov %rsp,%rbx\n mov %rsi,%rsp\n mov $7,%eax\n stc\n call carry\n mov %rbx,%rsp\n pop %rbx\n ret\n"
	".size on_stack,.-on_stack\n");
long carry(long x);
long on_stack(long x, char *top);

__attribute__((noinline, noclone)) int copied(int x) {
	int a = x * 3, b = a ^ (x << 2);
	return a + b + (x > 17 ? b * 5 : a ^ 7);
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "data"))
		return printf("%d %x\n", tiny(), constant_of()) < 0;
	if (!strcmp(what, "stack")) { // of eight bytes, which are for the return address
		static long memory[64];
		memset(memory, 0x55, sizeof memory);
		printf("%ld", on_stack(5, (char *)&memory[41]));
		for (int i = 0; i < 40; i++)
			if (memory[i] != 0x5555555555555555)
				printf(" %d", i);
		return puts("") < 0;
	}
	if (!strcmp(what, "copy")) {
		int (*volatile from)(int) = copied;
		void *to = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (to == MAP_FAILED)
			return 0;
		memcpy(to, (void *)from, 256);
		return printf("%d\n", ((int (*)(int))to)(copied(20))) < 0;
	}
	return 9;
}
