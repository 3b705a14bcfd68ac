package merge

// StepKind says how a Step leads one level down.
type StepKind uint8

// The kinds of a Step.
const (
	FieldStep StepKind = iota // .name or ["name"]: a field of an object or a key of a map
	KeyStep                   // [a=1,b=x]: the entry of a keyed list with those keys
	ValueStep                 // [="v"]: the entry of a set
	IndexStep                 // [0]: an entry of an atomic list
)

// Step leads one level down.
type Step struct {
	Kind  StepKind
	Name  string    // FieldStep
	Keys  []KeyPart // KeyStep, in the order of the list's keys, defaults filled in
	Value any       // ValueStep
	Index int       // IndexStep, from 0
	Nth   int       // KeyStep, ValueStep: 2 for the second entry with this identity, and so on; 0 and 1 both mean the first
}

// KeyPart is one key of a keyed list's entry and its value. A nil value stands
// for a missing key.
type KeyPart struct {
	Name  string
	Value any
}

// Path leads from the top of an object to a value; the empty Path is the
// object itself.
type Path []Step
