package yamldoc_test

import (
	"github.com/kubectl-merge/kubectl-merge/test/values"
)

var read, show = values.Read, values.Show
