package decode

// evidence is what is known of the list that is read, beside its objects.
type evidence struct {
	named *Asked // by the name of the file: it stands for a file of one document only
	held  *List  // a list that the name of the file stands for, until the file ends
	docs  int
	of    map[Of]int
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

// release passes on the list that was held back. The name of the file shows its resource if the file does
// not.
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

// headed is what is known of a list.
func (in *input) headed(from Origin, h listHead) List {
	l := List{APIVersion: h.APIVersion, Kind: trimList(h.Kind), ResourceVersion: h.Metadata.ResourceVersion, From: from, Command: in.typedWords, Objects: in.of}
	l.Cut = h.Metadata.Continue != "" || h.Metadata.Remaining > 0
	if h.Kind == "List" {
		l.Resource = in.listing
	}
	return l
}

// ended reports a list that has been read.
func (in *input) ended(from Origin, h listHead) {
	in.sections++
	in.whole++
	l := in.headed(from, h)
	l.Asked = askedBy(in.typedWords, in.Tools)
	if l.Resource == "" && in.typedWords == nil && in.docs == 1 && in.named != nil {
		l.Asked, l.Named, in.held = in.named, true, &l
	} else if in.List != nil {
		in.List(l)
	}
	in.reset()
}

// within reports a list inside another one, without evidence of how it was made.
func (in *input) within(from Origin, h listHead) {
	l := in.headed(from, h)
	l.Resource, l.Command = "", nil
	if in.List != nil {
		in.List(l)
	}
}

// reset forgets what stood before a document that has been read.
func (in *input) reset() {
	in.listing, in.typedWords, in.kinds, in.of = "", nil, nil, nil
}
