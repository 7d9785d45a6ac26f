package txn

// What a write costs beside key and value: its entry, its lock and, while the
// commit is applied, its place in the pages that are built. Measured on loads of
// many millions of rows.
const (
	writeMemory = 170
	growStep    = 1 << 20 // bytes of which BeginOpt.Grow is told at once
)

// grow accounts for the memory of one more write of n bytes.
func (t *Txn) grow(n int) error {
	t.held += int64(n) + writeMemory
	spills := canSpill && t.opt.Spill != nil && t.in == nil
	if t.held-t.told < growStep && !(spills && t.opt.Spill.At < growStep) {
		return nil
	}
	if spills && t.held >= t.opt.Spill.At {
		if err := t.spill(int64(n)); err != nil {
			return err
		}
	}
	if t.opt.Grow == nil {
		return nil
	}
	err := t.opt.Grow(t.held - t.told)
	if err != nil && spills && t.held >= spillLeast {
		if err = t.spill(int64(n)); err == nil {
			err = t.opt.Grow(t.held - t.told)
		}
	}
	if err == nil {
		t.told = t.held
	}
	return err
}

// spill moves what was written to files and gives back its memory, but for that of the
// write of n bytes that is being made.
func (t *Txn) spill(n int64) error {
	if err := t.w.seal(t.opt.Spill); err != nil {
		return err
	}
	t.held = n + writeMemory
	if t.opt.Grow != nil {
		_ = t.opt.Grow(-t.told) // giving back does not fail
	}
	t.told = 0
	return t.w.merge(t.opt.Spill)
}
