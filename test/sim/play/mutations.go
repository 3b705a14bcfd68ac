package play

// edit replaces a text of a file, which has to be there once.
type edit struct{ file, old, new string }

// Mutation is a defect that the program has had: its fix taken out. Play looks for it where a
// scenario has all of Only: verbs, kinds of events, prune and server.
type Mutation struct {
	Name  string
	Only  string
	edits []edit
}

// Mutations are the defects that the simulation has to find.
var Mutations = []Mutation{
	{"undo overwrites what a later apply has set", "undo", []edit{
		{"internal/undo/revert.go", "Reverts: true, Claims", "Reverts: true, Appliers: []string{r.Planner.Manager}, Claims"}}},
	{"a rollback overwrites what a later apply has set", "rollback", []edit{
		{"internal/undo/revert.go", "Reverts: true, Claims", "Reverts: true, Appliers: []string{r.Planner.Manager}, Claims"}}},
	{"a signal that comes twice ends the process", "signal-repeated", []edit{
		{"internal/cli/main.go", "const repeats = time.Second", "const repeats = time.Duration(0)"}}},
	{"a watch that says nothing is believed", "watch-silent", []edit{
		{"internal/wait/wait.go", "\t\tb.confirm(ctx, all)\n", ""},
		{"internal/follow/follow.go", "quiet := time.AfterFunc(silence,", "quiet := time.AfterFunc(100*silence,"}}},
	{"undo of a prune leaks the object from its set", "prune,undo", []edit{
		{"internal/undo/created.go", "if d.Cover == nil {", "if d.Cover == nil || len(id) > 0 {"}}},
	{"404 to a DELETE counts as deleted", "prune,not-found", []edit{
		{"internal/run/prune.go", "\t\tcase err == nil:\n\t\t\tif left", "\t\tcase err == nil, cluster.IsNotFound(err):\n\t\t\tif left"}}},
	{"DELETE ignores Retry-After", "prune,busy", []edit{
		{"internal/cluster/object.go", "for pauses := (Pauses{Most: c.Patience()}); err != nil; {", "for pauses := (Pauses{}); err != nil; {"}}},
	{"watches and lists ignore Retry-After", "watch-busy", []edit{
		{"internal/cluster/bound.go", "asked && req.Method == http.MethodGet {", "asked && req.Body != nil {"}}},
	{"the write of a set's parent ignores Retry-After", "prune,busy", []edit{
		{"internal/prune/set.go", "max(time.Duration(try+1)*100*time.Millisecond, asked)", "time.Duration(try+1)*100*time.Millisecond+0*asked"}}},
	{"two runs: the parent is written over the other's", "prune,runs", []edit{
		{"internal/prune/set.go", "\t\tp.ResourceVersion = apply.NoVersion\n\t}\n", "\t}\n\tp.ResourceVersion = \"\"\n"}}},
	{"a member is deleted though it was marked since", "prune", []edit{
		{"internal/prune/set.go", "how.UID, how.ResourceVersion = m.UID, m.ResourceVersion", "how.UID = m.UID"}}},
	{"undo restores what was planned, and not what was deleted", "record,prune,undo,our-name", []edit{
		{"internal/run/prune.go", "case r.Recorded != \"\" &&", "case r.Recorded == \"-\" &&"}}},
	{"undo deletes what others have changed since", "undo", []edit{
		{"internal/undo/created.go", "ResourceVersion: object.Object{Value: item.Planned.Live}.ResourceVersion()", "ResourceVersion: object.Object{}.ResourceVersion()"}}},
	{"an interrupted run is not rolled back", "rollback", []edit{
		{"internal/cli/recordflags.go", "bad = u.run(context.WithoutCancel(ctx))", "bad = u.run(ctx)"}}},
	{"a write is recorded when it is answered", "record", []edit{
		{"internal/record/journal.go", "held, plandoc.Begun\n", "held, plandoc.Refused\n"}}},
	{"a Secret's values are printed", "diff", []edit{
		{"internal/redact/redact.go", "return (kind == \"secret\" || kind == \"secrets\") &&", "return kind == \"-secret\" &&"}}},
	{"drift --watch believes a watch that says nothing", "watch,watch-silent", []edit{
		{"internal/drift/watch.go", "\t\tw.confirm(context.WithoutCancel(ctx), sources)\n", ""},
		{"internal/follow/follow.go", "quiet := time.AfterFunc(silence,", "quiet := time.AfterFunc(100*silence,"}}},
	{"an empty list is believed", "prune,empty-list", []edit{
		{"internal/prune/list.go", "\tagain, err := s.Members(ctx, in)\n", "\tin.Kinds = nil\n\tagain, err := s.Members(ctx, in)\n"}}},
	{"the write of owners ignores Retry-After", "server,busy", []edit{
		{"internal/write/serverside.go", "if _, err = c.obey(ctx, err); err == nil {", "if err = ctx.Err(); err == nil {"}}},
	{"server-side apply writes over what was created meanwhile", "server,creates", []edit{
		{"internal/apply/request.go", "at = NoVersion", "at = \"\""}}},
	{"server-side apply makes again what was deleted meanwhile", "server,deletes", []edit{
		{"internal/apply/serverside.go", "if uid != \"\" {", "if uid == \"-\" {"},
		{"internal/write/write.go", "c.last.UID != \"\" && id != c.last.UID {", "id == \"-\" {"}}},
	{"two runs: the parent is not read again at the end", "prune,runs", []edit{
		{"internal/prune/settle.go", "if wrote && p.Parent.Says(wanted(p.Parent)) {", "if false && wrote {"}}},
	{"edit-last-applied writes over what was applied meanwhile", "edit", []edit{
		{"internal/annotate/edit.go", "if lastapplied.Read(live).Text != s.base {", "if false {"}}},
}
