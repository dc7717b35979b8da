package cluster

import (
	"context"

	"ipamsim/model/film"
)

// Still is what a camera sees that has never looked before: everything there is
// now, the routes as the tables list them.
func (c *Cluster) Still() (film.Scene, error) {
	record, err := c.inst.Observe(context.Background())
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	cam := newCamera(c)
	cam.lookRecord(c, &record)
	cam.lookTruth(c)
	if c.routing != nil {
		tables := c.routing.plane.Tables()
		for _, name := range tables.Names() {
			table, _ := tables.Of(name)
			for i := range table.Routes {
				cam.route(name, table.Routes[i].Dst, &table.Routes[i])
			}
		}
		cam.lookReach(c.routing.plane.Losses())
	}
	cam.rec.Cut(0, 0)
	return cam.rec.Film().At(0), nil
}
