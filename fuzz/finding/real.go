package finding

import "fmt"

// Real is the result of repeating a finding under Kubernetes' own controllers and scheduler: a
// failure found with simple controllers may be caused by them.
type Real struct {
	Verdict  Verdict `json:",omitempty"`
	Runs     int     `json:",omitempty"` // the number of runs
	Strategy string  `json:",omitempty"` // of the run that failed in the same way
	YAML     []byte  `json:",omitempty"` // the file of that run, which replays on its own; see RealFile
}

// Verdict is whether a finding was confirmed.
type Verdict string

// The zero Verdict is that of a finding that was not tried: it was made with Kubernetes' own
// controllers, this program does not include them, or there was no time.
const (
	Confirmed    Verdict = "confirmed"
	NotConfirmed Verdict = "not confirmed"
)

// RealText returns Real as a sentence; "" if the finding was not tried.
func (f *Finding) RealText() string {
	switch r := &f.Real; r.Verdict {
	case Confirmed:
		return fmt.Sprintf("Kubernetes' own controllers: confirmed in run %d (%s): ipamsim replay %s", r.Runs, r.Strategy, RealFile(f.Fingerprint))
	case NotConfirmed:
		return fmt.Sprintf("Kubernetes' own controllers: not confirmed in %d runs; it may need what only the simple ones do", r.Runs)
	}
	return ""
}
