package overlay

// An edit replaces one piece of text in one file of GOROOT/src.
type edit struct {
	file string // relative to GOROOT/src
	why  string // what the edit is for, a few words: it names the edit in error messages
	old  string // the anchor: must occur exactly once
	new  string
}

// after is an edit that keeps its anchor and adds text behind it.
func after(file, why, anchor, added string) edit {
	return edit{file, why, anchor, anchor + added}
}

// before is an edit that keeps its anchor and adds text in front of it.
func before(file, why, anchor, added string) edit {
	return edit{file, why, anchor, added + anchor}
}

// edits returns all of them in the order in which they are made.
func edits() []edit {
	var all []edit
	for _, group := range [][]edit{stateEdits, stackEdits, turnEdits, mutexEdits, durableEdits, randomEdits, timerEdits, mapEdits, orderEdits, poolEdits, machineEdits, processEdits, panicEdits} {
		all = append(all, group...)
	}
	return all
}
