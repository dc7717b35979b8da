package cluster

// Actions are all that a timeline may hold, by the name of their field in it.
func Actions() map[string]func() Action {
	return map[string]func() Action{
		"apply":     func() Action { return &Apply{} },
		"cordon":    func() Action { return &Cordon{} },
		"crash":     func() Action { return &Crash{} },
		"delete":    func() Action { return &Delete{} },
		"drain":     func() Action { return &Drain{} },
		"heal":      func() Action { return &Heal{} },
		"kill":      func() Action { return &Kill{} },
		"partition": func() Action { return &Partition{} },
		"patch":     func() Action { return &Patch{} },
		"pause":     func() Action { return &Pause{} },
		"power-on":  func() Action { return &PowerOn{} },
		"reboot":    func() Action { return &Reboot{} },
		"reconcile": func() Action { return &Reconcile{} },
		"replace":   func() Action { return &ReplaceNode{} },
		"scale":     func() Action { return &Scale{} },
	}
}
