package code

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// effect is what a movable instruction does to the flags.
type effect uint8

const (
	keeps  effect = iota + 1 // neither reads the flags nor writes all of them
	writes                   // writes all six flags without having read any
	reads
)

// effects has the instructions that may be displaced: each has the same effect at any address,
// except for operands relative to rip, which are adapted. Other instructions are not moved.
var effects = effectsOf()

func effectsOf() map[x86asm.Op]effect {
	m := map[x86asm.Op]effect{}
	for _, op := range []x86asm.Op{
		x86asm.ADD, x86asm.SUB, x86asm.CMP, x86asm.TEST, x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.NEG,
		x86asm.COMISS, x86asm.COMISD, x86asm.UCOMISS, x86asm.UCOMISD, x86asm.PTEST,
	} {
		m[op] = writes
	}
	for _, op := range []x86asm.Op{
		x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA, x86asm.PUSH, x86asm.POP, x86asm.NOP, x86asm.XCHG,
		x86asm.NOT, x86asm.INC, x86asm.DEC, x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR, x86asm.SHLD, x86asm.SHRD,
		x86asm.IMUL, x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.BSF, x86asm.BSR, x86asm.BT, x86asm.BTS, x86asm.BTR, x86asm.BTC,
		x86asm.TZCNT, x86asm.LZCNT, x86asm.POPCNT, x86asm.BSWAP, x86asm.CDQ, x86asm.CDQE, x86asm.CQO, x86asm.CWDE, x86asm.CBW, x86asm.CWD,
		x86asm.MOVBE, x86asm.LEAVE, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2, x86asm.PREFETCHNTA, x86asm.PREFETCHW,
		x86asm.MOVD, x86asm.MOVQ, x86asm.MOVAPS, x86asm.MOVAPD, x86asm.MOVUPS, x86asm.MOVUPD, x86asm.MOVDQA, x86asm.MOVDQU,
		x86asm.MOVSS, x86asm.MOVSD_XMM, x86asm.MOVLPS, x86asm.MOVHPS, x86asm.MOVLPD, x86asm.MOVHPD, x86asm.MOVHLPS, x86asm.MOVLHPS,
		x86asm.PXOR, x86asm.XORPS, x86asm.XORPD, x86asm.ANDPS, x86asm.ANDPD, x86asm.ANDNPS, x86asm.ANDNPD, x86asm.ORPS, x86asm.ORPD, x86asm.POR, x86asm.PAND, x86asm.PANDN,
		x86asm.ADDSS, x86asm.ADDSD, x86asm.ADDPS, x86asm.ADDPD, x86asm.SUBSS, x86asm.SUBSD, x86asm.SUBPS, x86asm.SUBPD,
		x86asm.MULSS, x86asm.MULSD, x86asm.MULPS, x86asm.MULPD, x86asm.DIVSS, x86asm.DIVSD, x86asm.DIVPS, x86asm.DIVPD, x86asm.SQRTSS, x86asm.SQRTSD,
		x86asm.CVTSI2SD, x86asm.CVTSI2SS, x86asm.CVTTSD2SI, x86asm.CVTTSS2SI, x86asm.CVTSD2SS, x86asm.CVTSS2SD, x86asm.CVTDQ2PD, x86asm.CVTDQ2PS,
		x86asm.UNPCKLPS, x86asm.UNPCKLPD, x86asm.UNPCKHPD, x86asm.SHUFPS, x86asm.SHUFPD, x86asm.PSHUFD, x86asm.PSHUFLW,
		x86asm.PUNPCKLQDQ, x86asm.PUNPCKLDQ, x86asm.PUNPCKLBW, x86asm.PUNPCKLWD, x86asm.PUNPCKHQDQ, x86asm.PCMPEQB, x86asm.PCMPEQD, x86asm.PCMPEQW,
		x86asm.PADDD, x86asm.PADDQ, x86asm.PSUBD, x86asm.PSUBQ, x86asm.PSRLQ, x86asm.PSLLQ, x86asm.PSRLDQ, x86asm.PSLLDQ, x86asm.MOVMSKPD, x86asm.PMOVMSKB,
		x86asm.FLD, x86asm.FSTP, x86asm.FLDZ, x86asm.FLD1, x86asm.FILD,
		x86asm.XADD, x86asm.CMPXCHG, x86asm.RDTSC, x86asm.CVTSD2SI, x86asm.CVTSS2SI, x86asm.ROUNDSD, x86asm.ROUNDSS, x86asm.PALIGNR, x86asm.MOVMSKPS,
	} {
		m[op] = keeps
	}
	for _, op := range []x86asm.Op{
		x86asm.ADC, x86asm.SBB, x86asm.SETA, x86asm.SETAE, x86asm.SETB, x86asm.SETBE, x86asm.SETE, x86asm.SETG, x86asm.SETGE, x86asm.SETL,
		x86asm.SETLE, x86asm.SETNE, x86asm.SETNO, x86asm.SETNP, x86asm.SETNS, x86asm.SETO, x86asm.SETP, x86asm.SETS,
		x86asm.CMOVA, x86asm.CMOVAE, x86asm.CMOVB, x86asm.CMOVBE, x86asm.CMOVE, x86asm.CMOVG, x86asm.CMOVGE, x86asm.CMOVL, x86asm.CMOVLE,
		x86asm.CMOVNE, x86asm.CMOVNO, x86asm.CMOVNP, x86asm.CMOVNS, x86asm.CMOVO, x86asm.CMOVP, x86asm.CMOVS,
	} {
		m[op] = reads
	}
	return m
}

// effectOf returns what an instruction does to the flags; 0 means that it is unknown and must not be
// moved.
func effectOf(i instruction, inst x86asm.Inst) effect {
	if i.vector {
		return keeps
	}
	return effects[inst.Op]
}

// reading is the number of instructions that flagsDead examines.
const reading = 16

// flagsDead reports whether a function's first instructions write all flags before any reads them.
// Then no code can observe the flags at the entry.
func flagsDead(code []byte) bool {
	for range reading {
		i, err := decode(code)
		if err != nil || i.kind != plain {
			return false
		}
		inst, err := x86asm.Decode(code[:i.length], 64)
		if err != nil || inst.Len != i.length {
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
		i, err := decode(code)
		if err != nil || i.kind == callIndirect && i.stack {
			return false
		}
		if i.kind == call || i.kind == callIndirect {
			return true
		}
		inst, err := x86asm.Decode(code[:i.length], 64)
		if err != nil || inst.Len != i.length || i.kind != plain || i.vector || effectOf(i, inst) == 0 || usesStack(inst) {
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

// silent has the instructions that cannot fault if they have no operand in memory.
var silent = silentOf()

func silentOf() map[x86asm.Op]bool {
	m := map[x86asm.Op]bool{}
	for _, op := range []x86asm.Op{
		x86asm.ADD, x86asm.SUB, x86asm.CMP, x86asm.TEST, x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.NEG, x86asm.ADC, x86asm.SBB,
		x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.XCHG, x86asm.NOT, x86asm.INC, x86asm.DEC,
		x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR, x86asm.SHLD, x86asm.SHRD, x86asm.IMUL, x86asm.MUL,
		x86asm.BSF, x86asm.BSR, x86asm.BT, x86asm.BTS, x86asm.BTR, x86asm.BTC, x86asm.TZCNT, x86asm.LZCNT, x86asm.POPCNT, x86asm.BSWAP,
		x86asm.CDQ, x86asm.CDQE, x86asm.CQO, x86asm.CWDE, x86asm.CBW, x86asm.CWD,
		x86asm.MOVD, x86asm.MOVQ, x86asm.MOVAPS, x86asm.MOVAPD, x86asm.MOVDQA, x86asm.PXOR, x86asm.XORPS, x86asm.XORPD,
	} {
		m[op] = true
	}
	return m
}

// mayFault reports whether the instruction at the beginning of code can fault, other than by jumping
// to a place without code.
func mayFault(i instruction, code []byte) bool {
	inst, err := x86asm.Decode(code[:i.length], 64)
	switch {
	case err != nil || i.vector:
		return true
	case i.kind == jump || i.kind == conditional || inst.Op == x86asm.NOP || inst.Op == x86asm.LEA:
		return false
	case i.kind != plain && i.kind != jumpIndirect || i.kind == plain && !silent[inst.Op]:
		return true
	}
	return slices.ContainsFunc(inst.Args[:], func(a x86asm.Arg) bool {
		_, memory := a.(x86asm.Mem)
		return memory
	})
}
