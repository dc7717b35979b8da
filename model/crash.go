package model

import (
	"math"
	"path"
	"strconv"
	"strings"
)

// CrashSite is the place of a panic, from a goroutine's stack as debug.Stack formats it: the
// innermost function outside the standard library and its caller,
// "leaderelection.(*LeaderElector).Run (leaderelection.go:211), called by
// kubernetes.IPManagement.func2.1 (ipam.go:502)". It is unknown if the stack does not contain it.
//
// A panic that was recovered and raised again is the first of those with the same value: its
// functions are still on the stack.
func CrashSite(stack string) CallSite {
	frames := crashed(stack, framesMax)
	for i := range frames {
		frames[i].File = path.Base(frames[i].File) // not where this machine keeps it
	}
	return CallSite{Frames: frames}
}

// CrashedIn is the innermost of CrashSite's functions, with its import path.
func CrashedIn(stack string) string {
	if frames := crashed(stack, 1); len(frames) > 0 {
		return frames[0].Function
	}
	return ""
}

// CrashFrames are the functions on the stack of a panic that are not the standard library's,
// innermost first, with the files of this machine.
func CrashFrames(stack string) []Frame { return crashed(stack, math.MaxInt) }

func crashed(stack string, most int) (frames []Frame) {
	lines := strings.Split(stack, "\n")
	from, value := -1, ""
	for i, l := range lines {
		// "panic({0x1d3f3a0?, 0x3f5c1e0?})": both words of the value.
		v := strings.ReplaceAll(strings.TrimPrefix(l, "panic("), "?", "")
		if strings.HasPrefix(l, "panic(") && (from < 0 || v == value) {
			from, value = i, v
		}
	}
	if from < 0 {
		return nil
	}
	for i := from + 2; i+1 < len(lines) && len(frames) < most; i += 2 {
		f, file := lines[i], lines[i+1]
		if end := strings.LastIndexByte(f, '('); end > 0 && strings.HasPrefix(file, "\t") && !standard(f[:end]) {
			file, _, _ = strings.Cut(file[1:], " +0x")
			name, line, _ := strings.Cut(file, ".go:")
			n, _ := strconv.Atoi(line) // 0 if the text is not a stack
			frames = append(frames, Frame{f[:end], name + ".go", n})
		}
	}
	return frames
}

const framesMax = 2

// standard reports whether a function is the standard library's: the first part of
// its import path has no dot, and is not ours.
func standard(f string) bool {
	first, _, more := strings.Cut(f, "/")
	return !more || !strings.Contains(first, ".") && first != "ipamsim"
}
