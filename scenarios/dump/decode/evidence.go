package decode

// evidence is what is known of the list that is read, beside its objects.
type evidence struct {
	asked *Asked // by a prompt or a comment before the list
	named *Asked // by the name of the file: it stands for a file of one document only
	held  *List  // a list that the name of the file stands for, until the file ends
	docs  int
	of    map[Of]int
}

// ask keeps the command that a prompt or a comment records.
func (in *input) ask(line []byte) {
	if a, ok := AskedBy(string(line), in.Tools); ok {
		in.asked = a
	}
}

// begins is called before each document: a list, or one object.
func (in *input) begins() {
	in.release(false)
	in.docs++
	in.of = map[Of]int{}
}

// counted counts an object of a list.
func (in *input) counted(level int, h listHead) {
	if level > 0 && in.of != nil {
		in.of[Of{h.APIVersion, h.Kind, h.Metadata.Namespace}]++
	}
}

// release hands over the list that was held back. The name of the file says what it is of if
// the file has nothing else.
func (in *input) release(end bool) {
	l := in.held
	if l == nil {
		return
	}
	if in.held = nil; !end {
		l.Asked, l.Named = nil, false
	}
	if in.List != nil {
		in.List(*l)
	}
}

// ended reports a list that has been read.
func (in *input) ended(h listHead) {
	l := &List{
		APIVersion: h.APIVersion, Kind: trimList(h.Kind), ResourceVersion: h.Metadata.ResourceVersion, Asked: in.asked, Objects: in.of,
		Cut: h.Metadata.Continue != "" || h.Metadata.Remaining > 0,
	}
	if h.Kind == "List" {
		l.Resource = in.listing
	}
	if l.Resource == "" && l.Asked == nil && in.docs == 1 && in.named != nil {
		l.Asked, l.Named, in.held = in.named, true, l
	} else if in.List != nil {
		in.List(*l)
	}
	in.asked, in.listing, in.of = nil, "", nil
}
