package calico

import (
	"io"
	"sync"

	"github.com/sirupsen/logrus"
	"google.golang.org/grpc/grpclog"

	"ipamsim/sim/ipam/platform"
)

// prepare changes, once for the process, what Calico keeps in globals.
var prepare = sync.OnceFunc(func() {
	// Libraries do not log; a finding has a trace. Panic level still panics.
	logrus.SetOutput(io.Discard)
	logrus.SetLevel(logrus.PanicLevel)
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	// log.Fatal is how Calico's programs exit. Where no program runs but functions of
	// one, it is the end of the goroutine.
	logrus.StandardLogger().ExitFunc = func(code int) { platform.Current().Exit(code) }
})
