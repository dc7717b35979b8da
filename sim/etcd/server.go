// Package etcd is the store under the simulated cluster: one real etcd for the process,
// outside every bubble, and for each run a bridged client inside its bubble that makes this
// etcd look freshly started.
//
// A run does not see the data or the revisions of earlier runs of the process: its first write
// is revision 2, as in a fresh etcd.
package etcd

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"

	"ipamsim/sim"
	"ipamsim/sim/scratch"
)

// Server is the etcd of this process. Start one and keep it: wiping it for a run costs about
// 10 µs a key, a start 10 ms and a directory.
type Server struct {
	parent string       // parent of its directory
	home   *scratch.Dir // its directory, without a parent
	dir    string
	embed  *embed.Etcd // nil: not started yet
	closed bool
	out    *sim.Outside
	store  store
	stop   chan struct{}
	done   chan struct{}

	mu  sync.Mutex
	run atomic.Pointer[Run] // the run that may use the store
}

// Start starts etcd in this process, on unix sockets in a private directory: it opens no port,
// and Close removes everything. The directory is in memory if the machine has room there
// (sim/scratch).
func Start() (*Server, error) { return StartIn("") }

// StartIn is Start with a parent directory of the caller, who removes it if this process
// cannot; "" leaves the place to Start. Keep its name short: a path of a unix socket has at
// most 107 bytes.
func StartIn(parent string) (*Server, error) {
	s := New(parent)
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// New is StartIn, but the first run that needs etcd starts it.
func New(parent string) *Server { return &Server{parent: parent, out: sim.NewOutside(2)} }

// errClosed prevents a run that begins while the process ends from starting an etcd that would
// never be removed.
var errClosed = errors.New("etcd: the server is closed")

// ErrStart is wrapped by the error of a run whose etcd could not start: the next run of the
// process fails likewise.
var ErrStart = errors.New("etcd: start")

// start starts etcd unless it runs.
func (s *Server) start() (err error) {
	switch {
	case s.closed:
		return errClosed
	case s.embed != nil:
		return nil
	}
	if err = s.makeDir(); err != nil {
		return fmt.Errorf("%w: directory: %w", ErrStart, err)
	}
	wal.SegmentSizeBytes = 1 << 20 // 64 MB, the default, is preallocated at every start
	e, err := embed.StartEtcd(settings(s.dir))
	if err != nil {
		return errors.Join(fmt.Errorf("%w: %w", ErrStart, err), s.removeDir())
	}
	select {
	case <-e.Server.ReadyNotify():
	case err = <-e.Err():
	case <-time.After(30 * time.Second):
		err = errors.New("not ready after 30 s")
	}
	if err == nil {
		s.store, err = newReal(e.Server)
	}
	if err != nil {
		e.Close()
		return errors.Join(fmt.Errorf("%w: %w", ErrStart, err), s.removeDir())
	}
	s.embed, s.stop, s.done = e, make(chan struct{}), make(chan struct{})
	go s.trim()
	return nil
}

// makeDir makes a directory that is readable by this user alone.
func (s *Server) makeDir() (err error) {
	if s.parent != "" {
		s.dir, err = os.MkdirTemp(s.parent, "etcd-")
		return err
	}
	if s.home, err = scratch.New("etcd"); err == nil {
		s.dir = s.home.Path
	}
	return err
}

func (s *Server) removeDir() error {
	if s.home != nil {
		return s.home.Remove()
	}
	return os.RemoveAll(s.dir)
}

func settings(dir string) *embed.Config {
	c := embed.NewConfig()
	c.Dir, c.Name = dir, "n"
	c.ListenClientUrls = socket(dir, "c.sock")
	c.ListenPeerUrls = socket(dir, "p.sock")
	// Nothing dials these; etcd only requires the form of an address.
	c.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "localhost:1"}}
	c.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2"}}
	c.InitialCluster = "n=http://localhost:2"
	c.UnsafeNoFsync = true // a run whose machine fails is repeated
	c.TickMs, c.ElectionMs = 1, 10
	c.QuotaBackendBytes = 4 << 30
	// Raft keeps its last entries in memory for followers that lag. There are none.
	c.SnapshotCatchUpEntries = 50
	c.SnapshotCount = 2000
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(lastWords())
	return c
}

// socket returns a URL that is all host and no path: etcd uses only the host of a peer's URL,
// and without one it gets a socket without a name, for which it removes at the end a file
// "@00001" in the working directory. In a read-only directory it then never ends.
func socket(dir, name string) []url.URL {
	return []url.URL{{Scheme: "unix", Host: filepath.Join(dir, name)}}
}

// Close ends the server and removes everything it wrote.
func (s *Server) Close() error {
	s.mu.Lock()
	s.run.Store(nil)
	s.closed = true
	started := s.embed != nil
	s.mu.Unlock()
	defer s.out.Close()
	if !started {
		return nil
	}
	close(s.stop)
	<-s.done
	s.store.close()
	s.embed.Close()
	return s.removeDir()
}

// trim truncates write-ahead log segments that a server without restarts does not read again.
// etcd's own purge runs every 30 s, in which a busy campaign writes a gigabyte, and the
// directory is in memory.
func (s *Server) trim() {
	defer close(s.done)
	t := time.NewTicker(2 * time.Second)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-t.C:
		}
		old, _ := filepath.Glob(filepath.Join(s.dir, "member", "wal", "*.wal"))
		for _, f := range old[:max(0, len(old)-2)] { // names sort by age; the last is in use
			_ = os.Truncate(f, 0)
		}
	}
}
