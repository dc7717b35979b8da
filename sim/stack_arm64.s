#include "textflag.h"

// func callers(pcs *uintptr, most int) int
//
// R29 points to where the caller's frame saves its caller's R29. The return address is
// one word above. The first function of a goroutine saves 0.
TEXT ·callers(SB), NOSPLIT|NOFRAME, $0-24
	MOVD pcs+0(FP), R0
	MOVD most+8(FP), R1
	MOVD ZR, R2
	MOVD R29, R3
next:
	CMP  R1, R2
	BGE  done
	CBZ  R3, done
	MOVD 8(R3), R4
	MOVD R4, (R0)(R2<<3)
	MOVD (R3), R3
	ADD  $1, R2
	B    next
done:
	MOVD R2, ret+16(FP)
	RET
