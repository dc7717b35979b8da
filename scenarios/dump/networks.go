package dump

// network is the attached network of a key, nil if no manager serves it.
func (d *Draft) network(key string) *Network {
	for i := range d.networks {
		if d.networks[i].Key == key {
			return &d.networks[i]
		}
	}
	return nil
}
