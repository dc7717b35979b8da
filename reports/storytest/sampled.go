package storytest

import (
	"time"

	"ipamsim/model/metric"
	"ipamsim/reports"
)

// Sampled adds metrics of the staging cluster of seeds/000 to a report: two nodes claim two blocks
// each, then a third one borrows.
func Sampled(r *reports.Report) *reports.Report {
	r.Series = &metric.Series{}
	nodes := []string{"kubestage1001", "kubestage1002", "kubestage1003"}
	for i := range 8 {
		free := max(4-i, 0)
		points := []metric.Point{
			Point(metric.PoolSize, 256, "ippool", "staging"),
			Point(metric.FreeBlocks, free, "ippool", "staging"),
			Point(metric.NodesWithoutBlock, max(3-(i+1), 1)),
			Point(metric.Leaked, 0, "ippool", "staging"),
		}
		for k, n := range nodes {
			used, borrowed := 20*i, 0
			if k == 2 {
				used, borrowed = max(0, i-5), max(0, i-5)
			} else if blocks := min((i+1-k)/2, 2); blocks > 0 {
				points = append(points, Point(metric.BlocksPerNode, blocks, "node", n))
			}
			points = append(points, Point(metric.InUse, used, "ippool", "staging", "node", n), Point(metric.Borrowed, borrowed, "ippool", "staging", "node", n))
		}
		if i > 3 {
			points = append(points, Point(metric.StarvedNodes, 1))
		}
		points = append(points, Point(metric.BlackholedPairs, 2*max(0, i-5)))
		r.Series.Add(time.Duration(i)*30*time.Second, points)
	}
	return r
}

func Point(name string, value int, labels ...string) metric.Point {
	p := metric.Point{Name: name, Value: float64(value)}
	for i := 0; i < len(labels); i += 2 {
		p.Labels = append(p.Labels, metric.Label{Name: labels[i], Value: labels[i+1]})
	}
	return p
}
