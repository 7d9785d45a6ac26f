package pgcatalog

func rowsPgSettings(w *writer) {
	if w.env.Settings == nil {
		return
	}
	for _, s := range w.env.Settings() {
		w.str(s.Name).str(s.Value).opt(s.Unit).str(s.Category).str(s.ShortDesc).opt(s.ExtraDesc).str(s.Context).str(s.VarType).str(s.Source).
			opt(s.Min).opt(s.Max).optArray(s.EnumVals).str(s.BootVal).str(s.ResetVal).null().null().bool(false).end()
	}
}
