package cli

import (
	"fmt"
	"runtime"
	"time"

	"github.com/kubectl-merge/kubectl-merge/internal/apply"
	"github.com/kubectl-merge/kubectl-merge/internal/complete"
	"github.com/kubectl-merge/kubectl-merge/internal/migrate"
	"github.com/kubectl-merge/kubectl-merge/internal/parallel"
	"github.com/kubectl-merge/kubectl-merge/internal/source"
	"github.com/kubectl-merge/kubectl-merge/pkg/strategy"
)

// options are the values of all flags. Each verb sets those of its rows.
type options struct {
	inputs                                                         source.Inputs
	original, policy, rules, saveRules, strategy, manager          string
	schemas, live, recreate                                        []string
	validate, guard, dryRun, plan, record, shard, path, driver, to string
	overwrite, serverSide, force, preflight, partial               bool
	output, template                                               string
	managedFields, secrets, quiet, changed, interactive            bool
	concurrency, logs                                              int
	set                                                            setFlags
	prune, yes, rollback, watch, infer, prepend, write             bool
	pruneKinds, fromManagers, contexts                             []string
	cascade, waits, fromSet                                        string
	timeout, patience                                              time.Duration
	all, namespaces, fix, fromLive, create, windows, gone          bool
	ofSecrets                                                      bool
	release, newFile                                               string
}

// Verbs that share flags.
const (
	plans   = "merge diff explain"
	edits   = "set-last-applied edit-last-applied"
	targets = edits + " disown"
	sets    = "view verify adopt disband delete"
	inputs  = plans + " drift wait migrate view-last-applied " + targets
)

// The help of flags that mean the same in two rows.
const (
	rulesHelp    = "FILE with rules that decide which side wins, and how lists are split, for single fields"
	schemaHelp   = "FILE with CustomResourceDefinitions or an OpenAPI document, for kinds that "
	templateHelp = "template text or file for -o go-template and -o go-template-file"
	liveHelp     = "work offline: live objects come from this FILE or DIR"
	underWay     = "objects under way at once"
	setHelp      = "set of the objects, [KIND[.GROUP]/]NAME of its parent: a Secret unless KIND is given"
	readyHelp    = "how long to wait for all objects to be ready; 0: no limit"
	patienceHelp = "how long a problem that may resolve itself (ImagePullBackOff, CrashLoopBackOff, Unschedulable) may last before it is a failure"
	logsHelp     = "lines to show of the log of a container that keeps an object from being ready; --logs alone: 20"
	parentHelp   = "namespace of the set's parent (default: that of -n or the context)"
	noTemplate   = "that output has no template: leave one of them out"
	noOrphans    = "objects of the input that the labels leave out would be "
	noServer     = "it works without a server: leave out one of them"
	ownMembers   = "the set knows its members: leave it out"
	noSet        = "what is a member of the set and not in the input is deleted: give --prune --applyset=NAME"
	noWait       = "nothing is waited for without it: give --wait, too"
	driven       = "its arguments and its NAME state that: leave it out"
	noWrites     = "nothing is written, so that there is nothing to "
	adoptWay     = "make a set of the objects first: kubectl merge applyset adopt NAME -l %l, and then use --prune --applyset=NAME"
	pipe         = "`kubectl merge replacements FILE -f … | kubectl merge -f -`"
)

var (
	manifests = always(complete.Manifests)
	cascades  = of("background\tthey are deleted after it", "foreground\tthey are deleted before it", "orphan\tthey stay")
	nameJSON  = of("name", "json")
	yamlDiff  = of("yaml\tthe resulting text", "diff\twhat changes in the files")
	heldKinds = always(complete.Words("PersistentVolumeClaim", "PersistentVolume"))

	withoutServer = []tie{{"prune", noServer}, {"dry-run=server", noServer}}
	unrecorded    = []tie{{previewed, noWrites + "record: leave it out, or what makes it a preview"}}
)

// flagRows lists the flags of all verbs. A flag that means something else to another verb has a row
// for it. Add those of a verb in its own file: var _ = registerFlags(flagRow{…}).
var flagRows = []flagRow{
	{verbs: "every", name: "color", group: "show", def: "auto", bare: "always", at: func(c *call) any { return &c.env.color }, words: of("auto\ton a terminal", "always", "never"),
		help: "color output: auto (on a terminal, unless NO_COLOR is set), always or never"},
	{verbs: "every", name: "notes", group: "show", def: "text", at: func(c *call) any { return &c.env.notes }, words: of("text", "json"),
		help: "format of notes, errors and outcomes on stderr: text, or json (a line each)"},

	{verbs: inputs + " absorb", name: "filename", group: "apply", short: "f", at: func(c *call) any { return &c.inputs.Files }, completes: manifests,
		help: "file, folder, URL or - (standard input) that holds the objects to %s"},
	{verbs: inputs + " absorb", name: "kustomize", group: "apply", short: "k", at: func(c *call) any { return &c.inputs.Kustomize }, completes: always(complete.Folders),
		help: "kustomization folder to build and %s; not together with -f or -R"},
	{verbs: inputs + " absorb", name: "recursive", group: "apply", short: "R", at: func(c *call) any { return &c.inputs.Recursive },
		help: "read the folders given with -f and all below them"},
	{verbs: inputs + " absorb", name: "selector", group: "apply", short: "l", at: func(c *call) any { return &c.inputs.Selector },
		help: "only objects whose labels match (key=value, key!=value, key in (a,b), key)"},
	{verbs: "adopt", name: "selector", group: "apply", short: "l", at: func(c *call) any { return &c.inputs.Selector },
		help: "objects of all kinds whose labels match"},
	{verbs: "replacements", name: "filename", group: "apply", short: "f", at: func(c *call) any { return &c.inputs.Files }, completes: manifests,
		help: "file or folder with the objects, or - for standard input"},
	{verbs: "replacements", name: "from-live", group: "apply", at: func(c *call) any { return &c.fromLive },
		help: "a source that is not in INPUT is read from the cluster"},

	{verbs: plans, name: "original", group: "apply", def: "auto", at: func(c *call) any { return &c.original }, completes: (*complete.Server).Originals,
		help: "where what was applied last is found: auto, annotation, managed-fields, managed-fields=MANAGER,… (what these managers own, too), helm:RELEASE (its manifest), none, or a FILE"},
	{verbs: plans, name: "policy", group: "apply", def: "apply", at: func(c *call) any { return &c.policy }, lists: policies, likes: sides,
		words: func() []string { return append(complete.Policies(), "ask\tasks on the terminal") }, // ask is for live objects
		help:  "which side wins where local and live disagree: %s, ask (on the terminal, one by one)"},
	{verbs: "undo", name: "policy", group: "apply", def: "strict", at: func(c *call) any { return &c.policy },
		likes: sides, words: of("strict\tnothing is written", "live\tthey stay", "apply\twhat was there before is restored"),
		help: "what is done about values that others have changed since: strict (nothing is written), live (they stay), apply (what was there before is restored)"},
	{verbs: "files", name: "policy", group: "apply", def: "merge3", at: func(c *call) any { return &c.policy }, words: complete.Policies, lists: policies,
		likes: map[string]string{"ours": "live", "dest": "live", "theirs": "apply", "source": "apply"},
		help:  "which side wins where updated and dest disagree: %s; merge3 takes updated, diff3 leaves a conflict where both changed"},
	{verbs: plans + " files", name: "rules", group: "apply", at: func(c *call) any { return &c.rules }, completes: manifests, help: rulesHelp},
	{verbs: "drift absorb", name: "rules", group: "apply", at: func(c *call) any { return &c.rules }, completes: manifests,
		help: "FILE with rules: what they give to live or ignore is no drift"},
	{verbs: "wait", name: "rules", group: "apply", at: func(c *call) any { return &c.rules }, completes: manifests,
		help: "FILE with rules; those with ready and wait are used"},
	{verbs: targets + " view-last-applied", name: "rules", group: "apply", at: func(c *call) any { return &c.rules }, completes: manifests,
		help: "FILE with the rules that the object is merged by: fields that they call sensitive are hidden"},
	{verbs: plans, name: "save-rules", group: "apply", at: func(c *call) any { return &c.saveRules }, completes: manifests,
		help:  "FILE to append the answers to --policy=ask to, as rules; without it you are asked",
		needs: []tie{{"policy=ask", "there are no other answers to save: leave it out"}}},
	{verbs: plans + " drift absorb", name: "schema", group: "apply", at: func(c *call) any { return &c.schemas }, completes: manifests,
		help: schemaHelp + "neither the program nor the server knows"},
	{verbs: "files", name: "schema", group: "apply", at: func(c *call) any { return &c.schemas }, completes: manifests, help: schemaHelp + "are not built in"},
	{verbs: plans, name: "strategy", group: "apply", def: strategy.Strategies[0].Name, at: func(c *call) any { return &c.strategy }, words: complete.Strategies, lists: strategies,
		help: "how objects are merged: %s", excludes: []tie{{"server-side", "the server merges, by the type of each field: leave one of them out"}}},
	{verbs: plans + " undo " + targets, name: "field-manager", group: "apply", def: apply.DefaultManager, at: func(c *call) any { return &c.manager },
		help: "name of the manager used to track field ownership"},
	{verbs: "drift absorb", name: "field-manager", group: "apply", def: apply.DefaultManager, at: func(c *call) any { return &c.manager },
		help: "field manager that the files are applied with"},
	{verbs: "migrate", name: "field-manager", group: "apply", def: apply.ServerManager, at: func(c *call) any { return &c.manager },
		help: "the field manager of server-side apply"},
	{verbs: plans + " drift absorb " + edits, name: "validate", group: "apply", def: "strict", at: func(c *call) any { return &c.validate }, bare: "strict", off: "ignore",
		words: of("strict\tunknown fields are an error", "warn\tthey are reported", "ignore"),
		help:  "how unknown fields are treated: strict (or true: an error), warn, ignore (or false)"},
	{verbs: plans, name: "overwrite", group: "apply", def: true, at: func(c *call) any { return &c.overwrite }, help: "--overwrite=false means --policy=strict",
		excludes: []tie{{"policy!=strict", "it means --policy=strict: give one of them"}}},
	{verbs: plans, name: "guard", group: "safety", def: "warn", at: func(c *call) any { return &c.guard }, words: of("warn", "refuse\texit 3, nothing is written", "off"),
		help: "objects and fields that somebody else manages (Flux, Argo CD, Helm, an autoscaler) and may change back: warn, refuse (exit 3, nothing is written) or off"},
	{verbs: plans, name: "server-side", group: "apply", at: func(c *call) any { return &c.serverSide },
		help: "write by server-side apply: what was applied last is what managedFields list for --field-manager (default kubectl), and --policy is strict unless it is given"},
	{verbs: "drift absorb", name: "server-side", group: "apply", at: func(c *call) any { return &c.serverSide },
		help: "the files are applied by server-side apply: what was applied last is what managedFields list for --field-manager (default kubectl)"},
	{verbs: plans, name: "force-conflicts", group: "apply", at: func(c *call) any { return &c.force },
		help:     "with --server-side, take over the fields on which local and live disagree: --policy=apply",
		needs:    []tie{{"server-side", "only the server refuses fields of others: without it --policy decides"}},
		excludes: []tie{{"policy!=apply", "it means --policy=apply: give one of them"}, {"overwrite", "it means --policy=apply: give one of them"}}},
	{verbs: plans, name: "openapi-patch", def: true, at: func(*call) any { return new(bool) }, hidden: true, help: "accepted, and has no effect"},

	{verbs: "merge undo", name: "output", group: "show", short: "o", at: func(c *call) any { return &c.output }, completes: outputs(anyPrinter), lists: func() string {
		return fmt.Sprintf("%s, %s: print the objects written; %s: reports", printerNames(func(p printerRow) bool { return !p.report }), templateNames(), printerNames(isReport))
	}, help: "%s, which write nothing"},
	{verbs: "diff", name: "output", group: "show", short: "o", def: "diff", at: func(c *call) any { return &c.output }, words: func() []string { return printerWords(isReport) },
		lists: func() string { return printerNames(isReport) }, help: "what is printed: %s"},
	{verbs: "explain", name: "output", group: "show", short: "o", def: "table", at: func(c *call) any { return &c.output },
		words: of("table\tfor a terminal", "json", "yaml", "blame\tthe object, with the owners of each line"), help: "table, json, yaml or blame (the object, with the owners of each line)"},
	{verbs: "drift", name: "output", group: "show", short: "o", def: "table", at: func(c *call) any { return &c.output }, words: driftOutputs,
		help: "table, json (one line), markdown or prometheus (a text file of metrics)"},
	{verbs: "migrate", name: "output", group: "show", short: "o", at: func(c *call) any { return &c.output }, words: of(migrate.Formats...),
		help: "table or json (one line): print what happens to each field; a dry run prints the table"},
	{verbs: "set-last-applied disown", name: "output", group: "show", short: "o", at: func(c *call) any { return &c.output }, completes: outputs(ofTarget),
		lists: targetPrinters, help: "%s; with patch and diff nothing is written"},
	{verbs: "edit-last-applied", name: "output", group: "show", short: "o", at: func(c *call) any { return &c.output }, completes: outputs(ofTarget),
		lists: targetPrinters, help: "%s"},
	{verbs: "view-last-applied", name: "output", group: "show", short: "o", def: "yaml", at: func(c *call) any { return &c.output }, words: of("yaml", "json"), help: "yaml or json"},
	{verbs: "files replacements", name: "output", group: "show", short: "o", at: func(c *call) any { return &c.output }, words: yamlDiff,
		help: "what is printed: yaml (all of it, the default without -w) or diff"},
	{verbs: "list view", name: "output", group: "show", short: "o", at: func(c *call) any { return &c.output }, words: nameJSON, help: "name or json"},
	{verbs: "version", name: "output", group: "show", short: "o", at: func(c *call) any { return &c.output }, words: of("json", "yaml"), help: "json or yaml"},
	{verbs: "merge undo " + targets, name: "template", group: "show", at: func(c *call) any { return &c.template }, completes: anyFile, help: templateHelp,
		excludes: []tie{{"output=json", noTemplate}, {"output=yaml", noTemplate}, {"output=name", noTemplate}}},
	{verbs: "merge undo " + targets, name: "show-managed-fields", group: "show", at: func(c *call) any { return &c.managedFields },
		help: "keep managedFields when printing objects"},
	{verbs: "diff", name: "show-managed-fields", group: "show", at: func(c *call) any { return &c.managedFields }, help: "show managedFields and other book-keeping"},
	{verbs: "merge undo " + targets, name: "show-secrets", group: "show", at: func(c *call) any { return &c.secrets }, help: "print the values of Secrets"},
	{verbs: "diff explain view-last-applied", name: "show-secrets", group: "show", at: func(c *call) any { return &c.secrets }, help: "show the values of Secrets"},
	{verbs: "files replacements", name: "show-secrets", group: "show", at: func(c *call) any { return &c.secrets }, help: "show the values of Secrets in a diff"},
	{verbs: plans + " drift absorb wait undo files migrate " + sets, name: "quiet", group: "show", short: "q", at: func(c *call) any { return &c.quiet },
		help: "print only errors, conflicts and warnings, no notes"},
	{verbs: "explain", name: "changed", group: "show", at: func(c *call) any { return &c.changed },
		help: "only fields that the merge would change, and those on which local and live disagree"},

	{verbs: "merge diff migrate undo set-last-applied disown adopt disband delete", name: "dry-run", group: "safety", def: string(dryNone), bare: string(dryClient), off: string(dryNone),
		at: func(c *call) any { return &c.dryRun }, words: of("client\tprint what would be created or changed, send nothing", "server\thave the server try it, store nothing", "none"),
		help: `"none", "client" (print what would be created or changed, send nothing) or "server" (have the server try it, store nothing); bare: client`},
	{verbs: "merge", name: "live", group: "safety", at: func(c *call) any { return &c.live }, completes: manifests, excludes: withoutServer,
		help: liveHelp + " (output of kubectl get -o yaml); implies --dry-run"},
	{verbs: "diff explain", name: "live", group: "safety", at: func(c *call) any { return &c.live }, completes: manifests, excludes: withoutServer, help: liveHelp},
	{verbs: "drift absorb", name: "live", group: "safety", at: func(c *call) any { return &c.live }, completes: manifests, excludes: []tie{{"applyset", noServer}, {"watch", "saved objects do not change: leave one of them out"}},
		help: liveHelp + " (kubectl get -o yaml --show-managed-fields)"},
	{verbs: "merge", name: "concurrency", group: "safety", def: parallel.Limit, at: func(c *call) any { return &c.concurrency },
		help: underWay + "; unless given, up to 32 where the server is far"},
	{verbs: "diff explain drift absorb migrate undo", name: "concurrency", group: "safety", def: parallel.Limit, at: func(c *call) any { return &c.concurrency }, help: underWay},
	{verbs: sets, name: "concurrency", group: "safety", def: parallel.Limit, at: func(c *call) any { return &c.concurrency }, help: "requests under way at once"},
	{verbs: "merge", name: "preflight", group: "safety", def: true, at: func(c *call) any { return &c.preflight },
		help: "where several objects are to be written, have the server try all of them before the first is"},
	{verbs: "merge", name: "partial", group: "safety", at: func(c *call) any { return &c.partial },
		help: "write the objects without conflicts even if others have some; otherwise a conflict in any object keeps all from being written"},
	{verbs: "undo", name: "partial", group: "safety", at: func(c *call) any { return &c.partial },
		help: "undo the objects that can be undone though others have conflicts, or are left, or the server refuses them; without it, nothing is written then"},
	{verbs: "merge diff", name: "recreate", group: "apply", at: func(c *call) any { return &c.recreate }, completes: (*complete.Server).Kinds,
		help:     "kinds whose objects are deleted and created again if the server refuses to change a field that can be set only once; never PersistentVolumeClaim, PersistentVolume, Namespace or CustomResourceDefinition",
		excludes: []tie{{"server-side", "with it no object is deleted and created again: delete it with kubectl delete, and merge again, or merge once without --server-side"}}},

	{verbs: plans, name: "prune", group: "sets", at: func(c *call) any { return &c.prune }, help: "with --applyset: delete the members of the set that are no longer in the input",
		needs: []tie{{"applyset", "what is a member of the set and not in the input is deleted: give --applyset=NAME, of a set that kubectl merge applyset adopt NAME -l %l makes, or a new one"}}},
	{verbs: plans, name: "applyset", group: "sets", at: func(c *call) any { return &c.set.name }, completes: (*complete.Server).Sets, help: setHelp,
		needs: []tie{{"prune", noSet}}, excludes: []tie{{"selector", noOrphans + "pruned"}}},
	{verbs: "drift absorb", name: "applyset", group: "sets", at: func(c *call) any { return &c.set.name }, completes: (*complete.Server).Sets, help: setHelp,
		excludes: []tie{{"selector", noOrphans + "orphaned"}, {"shard", "objects of the other parts would be orphaned"}}},
	{verbs: "wait", name: "applyset", group: "sets", at: func(c *call) any { return &c.set.name }, completes: (*complete.Server).Sets, help: setHelp,
		excludes: []tie{{"filename", ownMembers}, {"kustomize", ownMembers}}},
	{verbs: plans, name: "applyset-namespace", group: "sets", at: func(c *call) any { return &c.set.namespace }, completes: (*complete.Server).Namespaces,
		help: parentHelp + "; members may be in any namespace", needs: []tie{{"prune", noSet}}},
	{verbs: "drift absorb wait", name: "applyset-namespace", group: "sets", at: func(c *call) any { return &c.set.namespace }, completes: (*complete.Server).Namespaces,
		help: parentHelp + "; members may be in any namespace", needs: []tie{{"applyset", "it locates that set: give --applyset=NAME"}}},
	{verbs: sets, name: "applyset-namespace", group: "sets", at: func(c *call) any { return &c.set.namespace }, completes: (*complete.Server).Namespaces, help: parentHelp},
	{verbs: plans, name: "prune-kinds", group: "sets", at: func(c *call) any { return &c.pruneKinds }, completes: heldKinds, needs: []tie{{"prune", noSet}},
		help: "kinds that hold data and are pruned as well: PersistentVolumeClaim, PersistentVolume"},
	{verbs: "delete", name: "prune-kinds", group: "sets", at: func(c *call) any { return &c.pruneKinds }, completes: heldKinds,
		help: "kinds that hold data and are deleted as well: PersistentVolumeClaim, PersistentVolume"},
	{verbs: "merge", name: "cascade", group: "sets", def: "background", at: func(c *call) any { return &c.cascade }, words: cascades,
		help:  "what happens to objects owned by one that is pruned or recreated: background, foreground or orphan",
		needs: []tie{{"prune recreate plan", "nothing else deletes an object"}}},
	{verbs: "delete", name: "cascade", group: "sets", def: "background", at: func(c *call) any { return &c.cascade }, words: cascades,
		help: "what happens to objects owned by one that is deleted: background, foreground or orphan"},
	{verbs: "merge", name: "yes", group: "safety", at: func(c *call) any { return &c.yes },
		help: "answer yes to what would be asked: to -i, and to pruning more than 25 objects or more than half of the set"},
	{verbs: "undo", name: "yes", group: "safety", at: func(c *call) any { return &c.yes }, help: "answer yes to what -i would ask"},
	{verbs: "delete", name: "yes", group: "safety", at: func(c *call) any { return &c.yes }, help: "delete without asking, also more than 25 objects"},
	{verbs: "list", name: "all-namespaces", group: "show", short: "A", at: func(c *call) any { return &c.namespaces }, help: "the sets of all namespaces"},
	{verbs: "adopt", name: "all-namespaces", group: "show", short: "A", at: func(c *call) any { return &c.namespaces },
		help: "with -l: the objects of all namespaces"},
	{verbs: "adopt", name: "from", group: "sets", at: func(c *call) any { return &c.fromSet }, completes: (*complete.Server).Sets,
		help: "the set that the objects belong to now: [KIND[.GROUP]/]NAME, or an id"},
	{verbs: "verify", name: "fix", group: "sets", at: func(c *call) any { return &c.fix },
		help: "write the parent so that it lists the kinds and namespaces of its members"},

	{verbs: "merge", name: "wait", group: "sets", def: waitNone, bare: waitWritten, off: waitNone, at: func(c *call) any { return &c.waits },
		words:    of("written\tuntil what was written is ready", "all\tuntil all objects are ready", "none"),
		help:     "wait until what was written is ready, or, with all, every object of the input; exit code 4 if it is not",
		excludes: []tie{{previewed, noWrites + "wait for: leave out --wait, or what makes it a preview"}}},
	{verbs: "delete", name: "wait", group: "sets", at: func(c *call) any { return &c.gone }, completes: always(complete.Words("true", "false")),
		help: "wait until the objects are gone"},
	{verbs: "merge", name: "timeout", group: "sets", def: 10 * time.Minute, at: func(c *call) any { return &c.timeout }, help: readyHelp, needs: []tie{{"wait", noWait}}},
	{verbs: "wait", name: "timeout", group: "sets", def: 10 * time.Minute, at: func(c *call) any { return &c.timeout }, help: readyHelp},
	{verbs: "delete", name: "timeout", group: "sets", def: 5 * time.Minute, at: func(c *call) any { return &c.timeout }, help: "with --wait: how long; 0: no limit"},
	{verbs: "drift", name: "timeout", group: "sets", at: func(c *call) any { return &c.timeout }, help: "how long to watch; 0: until interrupted",
		needs: []tie{{"watch", "a report is made once without it: give --watch, too"}}},
	{verbs: "merge", name: "patience", group: "sets", def: 30 * time.Second, at: func(c *call) any { return &c.patience }, help: patienceHelp, needs: []tie{{"wait", noWait}}},
	{verbs: "wait", name: "patience", group: "sets", def: 30 * time.Second, at: func(c *call) any { return &c.patience }, help: patienceHelp},
	{verbs: "merge", name: "logs", group: "sets", bare: "20", at: func(c *call) any { return &c.logs }, help: logsHelp, needs: []tie{{"wait", noWait}}},
	{verbs: "wait", name: "logs", group: "sets", bare: "20", at: func(c *call) any { return &c.logs }, help: logsHelp},
	{verbs: "drift", name: "watch", group: "sets", short: "w", at: func(c *call) any { return &c.watch },
		help: "continue, and report drift as it begins and ends; needs permission to list and watch the objects, and reads them every ten seconds without it"},
	{verbs: "drift", name: "shard", group: "sets", at: func(c *call) any { return &c.shard },
		help: "I/N: compare only part I (from 0) of N parts of the input, which is split by namespace; N alone: part JOB_COMPLETION_INDEX, for an Indexed Job"},

	{verbs: "merge", name: "plan", group: "safety", at: func(c *call) any { return &c.plan }, completes: manifests,
		help: "FILE with a plan (diff -o plan): write only if every change is in it or in place already, else nothing"},
	{verbs: "merge undo", name: "record", group: "safety", at: func(c *call) any { return &c.record }, completes: manifests, excludes: unrecorded,
		help: "FILE to record in what was written, for kubectl merge undo; it must not exist"},
	{verbs: "merge", name: "rollback-on-failure", group: "safety", at: func(c *call) any { return &c.rollback }, excludes: unrecorded,
		help: "if the run fails, or with --wait does not become ready, undo what it has written"},
	{verbs: "merge undo", name: "interactive", group: "safety", short: "i", at: func(c *call) any { return &c.interactive },
		help:     "show the diff, the cluster and the counts, then ask: yes, no, or change by change; --yes answers yes",
		excludes: []tie{{previewed, noWrites + "confirm: leave out -i, or what makes it a preview"}}},

	{verbs: "migrate", name: "to", group: "apply", at: func(c *call) any { return &c.to }, words: of(string(migrate.ToServerSide), string(migrate.ToClientSide)), help: "server-side or client-side"},
	{verbs: "migrate", name: "from", group: "apply", at: func(c *call) any { return &c.fromManagers },
		help:  "with --to=server-side, managers whose fields are moved besides those of client-side apply, as kubectl get --show-managed-fields names them",
		needs: []tie{{"to=server-side", "it names managers that are moved to server-side apply: with --to=client-side, --field-manager names the one that is moved"}}},
	{verbs: "files", name: "original", group: "apply", at: func(c *call) any { return &c.original }, completes: anyFile,
		help: "file or folder that SOURCE and DEST are both derived from: makes the merge three-way"},
	{verbs: "files", name: "infer", group: "apply", def: true, at: func(c *call) any { return &c.infer }, help: "infer the keys of lists that no schema knows"},
	{verbs: "files", name: "prepend", group: "apply", at: func(c *call) any { return &c.prepend }, help: "put new list entries first rather than last"},
	{verbs: "files", name: "driver", group: "apply", at: func(c *call) any { return &c.driver },
		help:     "be git's merge driver for the file `NAME`, %P: the arguments are %O %A %B, and the result is written into %A",
		excludes: []tie{{"original", driven}, {"path", driven}, {"write", driven}}},
	{verbs: "files", name: "path", group: "apply", at: func(c *call) any { return &c.path },
		help: "`NAME` of DEST in messages, where DEST is a temporary file"},
	{verbs: "files", name: "write", group: "safety", short: "w", at: func(c *call) any { return &c.write }, help: "write the result into DEST rather than print it"},
	{verbs: "replacements", name: "write", group: "safety", short: "w", at: func(c *call) any { return &c.write }, help: "write the result into INPUT rather than print it"},
	{verbs: "disown", name: "write", group: "safety", short: "w", at: func(c *call) any { return &c.write }, help: "remove the fields from the files given with -f, too"},
	{verbs: "set-last-applied", name: "create-annotation", group: "apply", at: func(c *call) any { return &c.create },
		help: "will create 'last-applied-configuration' annotations if current objects doesn't have one"},
	{verbs: "edit-last-applied", name: "windows-line-endings", group: "apply", def: runtime.GOOS == "windows", at: func(c *call) any { return &c.windows },
		help: "defaults to the line ending native to your platform"},
	{verbs: "view-last-applied", name: "all", group: "show", at: func(c *call) any { return &c.all },
		help: "select all resources in the namespace of the specified resource types"},

	// kubectl apply's flags that do something other than merge, or whose promise no merge can keep.
	{verbs: "merge", name: "all", bare: "true", advice: "is not supported: objects are not deleted for merely being absent from the files: " + adoptWay},
	{verbs: "diff explain", name: "all", bare: "true", advice: "is not supported: give -f FILE, TYPE/NAME, or TYPE -l SELECTOR; --prune --applyset=NAME shows what a set would lose"},
	{verbs: plans, name: "prune-allowlist", advice: "is not supported: with --applyset=NAME leave it out, since a set knows the kinds of its members; without a set, " + adoptWay},
	{verbs: "wait", name: "for", advice: "objects are waited for until they are ready, by their kind: for a condition, use `kubectl wait --for`"},
	{verbs: "merge", name: "force", bare: "true",
		advice: "is not supported, since no object is deleted that can be changed: use `--recreate=KIND`, for objects of which a field can be set only once"},
	{verbs: "merge", name: "grace-period", bare: "true",
		advice: "is not supported, since it is for --force, and no object is deleted: use `kubectl delete --grace-period`, and merge again"},
	{verbs: "drift", name: "fix", bare: "true", advice: "is not needed: kubectl merge -f puts the files' values back, and absorb -w takes live's into the files"},
	{verbs: "adopt", name: "filename", short: "f", advice: "members are objects of the cluster: name them, as TYPE/NAME, or choose them with -l SELECTOR; a merge with --applyset=NAME takes in what it writes"},
	{verbs: "diff", name: "plan", advice: "a plan is made with -o plan; kubectl merge -f FILE --plan PLAN writes what it has, and with --dry-run shows whether it still holds"},
	{verbs: plans, name: "out", advice: "what is printed is saved with > FILE"},
	{verbs: "drift", name: "show-secrets", bare: "true", advice: "drift shows no value of a Secret: diff and explain have this flag"},
	{verbs: "drift", name: "interval", advice: "is not needed: --watch reports each change as it happens"},
	{verbs: "undo", name: "force", bare: "true", advice: "--policy=apply undoes what others have changed since, too"},
	{verbs: "undo", name: "to-revision", advice: "undo takes the record of a run, which --record writes: for revisions, use `kubectl rollout undo`"},
	{verbs: "merge", name: "version", bare: "true", advice: "use `kubectl merge version`"},
	{verbs: "merge", name: "save-config", bare: "true", advice: "what is applied is always recorded: leave it out"},
	{verbs: "files", name: "filename", short: "f", advice: "the files are arguments: kubectl merge files SOURCE DEST"},
	{verbs: "replacements", name: "kustomize", short: "k", advice: "replacements has no such flag, since the file is its argument: kubectl merge replacements FOLDER/kustomization.yaml -f FILE"},
	{verbs: "files", name: "dry-run", bare: "client", advice: "without -w nothing is written"},
	{verbs: "merge", name: "subresource", bare: "true", advice: "only the object itself is written: use `kubectl patch --subresource`"},
	{verbs: plans + " drift", name: "replacements", bare: "true",
		advice: "is a step of its own: " + pipe + "; `--from-live` of that command takes sources from the cluster"},
	{verbs: plans + " drift", name: "replacements-from-live", bare: "true", advice: "is `--from-live` of " + pipe},
}
