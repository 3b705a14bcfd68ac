package merge

// text merges two texts by their lines, where the policy has a rule for it and original has
// a text too; ok is false for anything else. Lines that only one side has changed are taken
// from that side, without a disagreement. Policy and rules decide about lines that both
// have changed.
//
// Rules: docs/semantics.md#which-side-wins.
func (m *merger) text(s *cursor, o, l, v Opt) (r Opt, changed, ok bool) {
	if len(m.policy.Texts) == 0 || m.withheld(s) || m.unknown(s, o) {
		return Opt{}, false, false
	}
	base, isText := o.Value.(string)
	local, isLocal := l.Value.(string)
	live, isLive := v.Value.(string)
	rule := m.textRule(s)
	if !isText || !isLocal || !isLive || rule == nil {
		return Opt{}, false, false
	}
	localWins, liveWins, clean := rule.Merge(base, local, live)
	if clean {
		from := LocalSide
		if localWins == live {
			from = LiveSide
		}
		r = Some(localWins)
		m.because(s, because{r, from, CauseLines, o, l, v})
		return r, localWins != live, true
	}
	d := Disagreement{Kind: Both, Original: o, Local: Some(localWins), Live: Some(liveWins), Text: rule.Name}
	_, d.Owner = m.moved(s, o, v)
	r, winner := m.decide(s, d, d.Local)
	if winner == Nobody {
		r = v
	}
	m.because(s, because{r, winner, CausePolicy, o, l, v})
	return r, r.Value != live, true
}

// textRule returns the rule for the text at s; nil where there is none.
func (m *merger) textRule(s *cursor) *TextRule {
	p := s.path()
	for i := range m.policy.Texts {
		if m.policy.Texts[i].Match(p) {
			return &m.policy.Texts[i]
		}
	}
	return nil
}
