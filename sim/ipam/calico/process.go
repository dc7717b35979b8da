package calico

import (
	"io"
	"runtime"
	"sync"

	"github.com/sirupsen/logrus"
	"google.golang.org/grpc/grpclog"
)

// prepare changes, once for the process, what Calico keeps in globals.
var prepare = sync.OnceFunc(func() {
	// Libraries do not log; a finding has a trace. Panic level still panics.
	logrus.SetOutput(io.Discard)
	logrus.SetLevel(logrus.PanicLevel)
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	// log.Fatal is how Calico's programs exit. Here the program is one simulated
	// process: it ends, with all that its goroutine has deferred.
	logrus.StandardLogger().ExitFunc = func(int) { runtime.Goexit() }
})
