package etcd

import (
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// lastWords logs only why etcd ends this process, which then exits as one that could not run.
// With its log off, etcd exits silently with the exit code of a violation, or panics without
// naming the error.
func lastWords() *zap.Logger {
	line := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		MessageKey: "message", LevelKey: "level", ConsoleSeparator: " ",
		EncodeLevel: func(_ zapcore.Level, line zapcore.PrimitiveArrayEncoder) { line.AppendString(fatal) },
	})
	return zap.New(zapcore.NewCore(line, zapcore.Lock(os.Stderr), zapcore.DPanicLevel),
		zap.WithPanicHook(exit{}), zap.WithFatalHook(exit{}))
}

// fatal is the marker that fuzz/process searches in a process's output.
const fatal = "fatal error: etcd:"

type exit struct{}

// OnWrite ends the process.
func (exit) OnWrite(*zapcore.CheckedEntry, []zapcore.Field) { os.Exit(2) }
