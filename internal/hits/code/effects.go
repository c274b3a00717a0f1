package code

import (
	"slices"
	"strings"
	"sync"

	"golang.org/x/arch/x86/x86asm"
)

// effect is what a movable instruction does to the flags.
type effect uint8

const (
	keeps  effect = iota + 1 // neither reads the flags nor writes all of them
	writes                   // writes all six flags without having read any
	reads
)

// effects has the instructions that may be displaced, by the names of x86asm: each has the same effect at any address,
// except for operands relative to rip, which are adapted. Other instructions are not moved.
var effects = sync.OnceValue(func() map[string]effect {
	m := map[string]effect{}
	for effect, names := range map[effect]string{
		writes: `ADD SUB CMP TEST AND OR XOR NEG
			COMISS COMISD UCOMISS UCOMISD PTEST`,
		keeps: `MOV MOVZX MOVSX MOVSXD LEA PUSH POP NOP XCHG
			NOT INC DEC SHL SHR SAR ROL ROR SHLD SHRD
			IMUL MUL DIV IDIV BSF BSR BT BTS BTR BTC
			TZCNT LZCNT POPCNT BSWAP CDQ CDQE CQO CWDE CBW CWD
			MOVBE LEAVE PREFETCHT0 PREFETCHT1 PREFETCHT2 PREFETCHNTA PREFETCHW
			MOVD MOVQ MOVAPS MOVAPD MOVUPS MOVUPD MOVDQA MOVDQU
			MOVSS MOVSD_XMM MOVLPS MOVHPS MOVLPD MOVHPD MOVHLPS MOVLHPS
			PXOR XORPS XORPD ANDPS ANDPD ANDNPS ANDNPD ORPS ORPD POR PAND PANDN
			ADDSS ADDSD ADDPS ADDPD SUBSS SUBSD SUBPS SUBPD
			MULSS MULSD MULPS MULPD DIVSS DIVSD DIVPS DIVPD SQRTSS SQRTSD
			CVTSI2SD CVTSI2SS CVTTSD2SI CVTTSS2SI CVTSD2SS CVTSS2SD CVTDQ2PD CVTDQ2PS
			UNPCKLPS UNPCKLPD UNPCKHPD SHUFPS SHUFPD PSHUFD PSHUFLW
			PUNPCKLQDQ PUNPCKLDQ PUNPCKLBW PUNPCKLWD PUNPCKHQDQ PCMPEQB PCMPEQD PCMPEQW
			PADDD PADDQ PSUBD PSUBQ PSRLQ PSLLQ PSRLDQ PSLLDQ MOVMSKPD PMOVMSKB
			FLD FSTP FLDZ FLD1 FILD
			XADD CMPXCHG RDTSC CVTSD2SI CVTSS2SI ROUNDSD ROUNDSS PALIGNR MOVMSKPS`,
		reads: `ADC SBB SETA SETAE SETB SETBE SETE SETG SETGE SETL
			SETLE SETNE SETNO SETNP SETNS SETO SETP SETS
			CMOVA CMOVAE CMOVB CMOVBE CMOVE CMOVG CMOVGE CMOVL CMOVLE
			CMOVNE CMOVNO CMOVNP CMOVNS CMOVO CMOVP CMOVS`,
	} {
		for _, name := range strings.Fields(names) {
			m[name] = effect
		}
	}
	return m
})

// agreed decodes the instruction at the beginning of code with both decoders. ok is false if they disagree.
func agreed(code []byte) (i instruction, inst x86asm.Inst, ok bool) {
	i, err := decode(code)
	if err == nil {
		inst, err = x86asm.Decode(code[:i.length], 64)
	}
	return i, inst, err == nil && inst.Len == i.length
}

// effectOf returns what an instruction does to the flags; 0 means that it is unknown and must not be
// moved.
func effectOf(i instruction, inst x86asm.Inst) effect {
	if i.vector {
		return keeps
	}
	return effects()[inst.Op.String()]
}

// reading is the number of instructions that flagsDead examines.
const reading = 16

// flagsDead reports whether a function's first instructions write all flags before any reads them.
// Then no code can observe the flags at the entry.
func flagsDead(code []byte) bool {
	for range reading {
		i, inst, ok := agreed(code)
		if !ok || i.kind != plain {
			return false
		}
		switch effectOf(i, inst) {
		case writes:
			return true
		case keeps:
		default:
			return false
		}
		code = code[i.length:]
	}
	return false
}

// pushes reports whether a function's first instructions, which are always executed, overwrite the
// eight bytes below the stack of its caller before they use them. Then a trampoline may use these
// bytes. Farther below may be the memory of something else: the stack of a coroutine can be full.
func pushes(code []byte) bool {
	for range reading {
		i, inst, ok := agreed(code)
		if i.kind == call || i.kind == callIndirect {
			return !i.stack
		}
		if !ok || i.kind != plain || i.vector || effectOf(i, inst) == 0 || usesStack(inst) {
			return false
		}
		if inst.Op == x86asm.PUSH {
			return inst.DataSize != 16
		}
		code = code[i.length:]
	}
	return false
}

// usesStack reports whether an instruction has the stack pointer as an operand, or memory below it, or
// takes something from the stack.
func usesStack(inst x86asm.Inst) bool {
	if inst.Op == x86asm.POP || inst.Op == x86asm.LEAVE {
		return true
	}
	for _, a := range inst.Args {
		switch a := a.(type) {
		case x86asm.Reg:
			if a == x86asm.RSP || a == x86asm.ESP || a == x86asm.SP {
				return true
			}
		case x86asm.Mem:
			if a.Base == x86asm.RSP && (a.Disp < 0 || a.Index != 0 || inst.Op == x86asm.LEA) {
				return true
			}
		}
	}
	return false
}

// silent names the instructions that cannot fault if they have no operand in memory.
var silent = sync.OnceValue(func() []string {
	return strings.Fields(`ADD SUB CMP TEST AND OR XOR NEG ADC SBB
		MOV MOVZX MOVSX MOVSXD XCHG NOT INC DEC
		SHL SHR SAR ROL ROR SHLD SHRD IMUL MUL
		BSF BSR BT BTS BTR BTC TZCNT LZCNT POPCNT BSWAP
		CDQ CDQE CQO CWDE CBW CWD
		MOVD MOVQ MOVAPS MOVAPD MOVDQA PXOR XORPS XORPD`)
})

// mayFault reports whether the instruction at the beginning of code can fault, other than by jumping
// to a place without code.
func mayFault(i instruction, code []byte) bool {
	inst, err := x86asm.Decode(code[:i.length], 64)
	switch {
	case err != nil || i.vector:
		return true
	case i.kind == jump || i.kind == conditional || inst.Op == x86asm.NOP || inst.Op == x86asm.LEA:
		return false
	case i.kind != plain && i.kind != jumpIndirect || i.kind == plain && !slices.Contains(silent(), inst.Op.String()):
		return true
	}
	return slices.ContainsFunc(inst.Args[:], func(a x86asm.Arg) bool {
		_, memory := a.(x86asm.Mem)
		return memory
	})
}
