@rem kubectl runs this to complete "kubectl merge": it has to be on PATH, by this name.
@kubectl-merge.exe __complete %*
