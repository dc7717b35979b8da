package etcd

import (
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// lastWords is a log of nothing but why etcd ends this process, which then ends as
// one that could not run. With its log off etcd ends it without a word and with the
// exit code of a violation, or with a panic that does not say which error it was.
func lastWords() *zap.Logger {
	line := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		MessageKey: "message", LevelKey: "level", ConsoleSeparator: " ",
		EncodeLevel: func(_ zapcore.Level, line zapcore.PrimitiveArrayEncoder) { line.AppendString(fatal) },
	})
	return zap.New(zapcore.NewCore(line, zapcore.Lock(os.Stderr), zapcore.DPanicLevel),
		zap.WithPanicHook(exit{}), zap.WithFatalHook(exit{}))
}

// fatal is what fuzz/process looks for in what a process leaves behind.
const fatal = "fatal error: etcd:"

type exit struct{}

// OnWrite ends the process.
func (exit) OnWrite(*zapcore.CheckedEntry, []zapcore.Field) { os.Exit(2) }
