#include "textflag.h"

// func callers(pcs *uintptr, most int) int
//
// Every function of Go's saves the frame pointer of who called it where its own
// points, above which is the address it returns to; a goroutine's first one saves 0.
// In between nothing may move the stack: there is no preemption in an assembly function.
TEXT ·callers(SB), NOSPLIT|NOFRAME, $0-24
	MOVQ pcs+0(FP), DI
	MOVQ most+8(FP), SI
	XORQ AX, AX
	MOVQ BP, CX
next:
	CMPQ AX, SI
	JGE  done
	TESTQ CX, CX
	JEQ  done
	MOVQ 8(CX), DX
	MOVQ DX, (DI)(AX*8)
	MOVQ (CX), CX
	INCQ AX
	JMP  next
done:
	MOVQ AX, ret+16(FP)
	RET
