section .text
global f
f: push rbp
   mov rbp, rsp
   lea rax, [rdi+rsi*4+8]
   imul rax, rdx
.l: dec rcx
   jnz .l
   pop rbp
   ret
section .data
m: db "hello", 10
