#!/usr/bin/env bash
# Previews what the files would change, as a comment on the pull request and in the
# summary of the run, or applies them. The inputs of action.yml are in the environment.
set -euo pipefail

args=()
while read -r file; do [ -z "$file" ] || args+=(-f "$file"); done <<<"$FILES"
[ -z "$KUSTOMIZE" ] || args+=(-k "$KUSTOMIZE")
while read -r argument; do [ -z "$argument" ] || args+=("$argument"); done <<<"$ARGUMENTS"

if [ "$COMMAND" = auto ]; then
	COMMAND=apply
	[ -z "$PULL_REQUEST" ] || COMMAND=diff
fi
TITLE=${TITLE//[$'\r\n']/ } # one line, or it would end the heading
folder=$(mktemp -d "$RUNNER_TEMP/kubectl-merge.XXXXXX")
report=$folder/report.md

# The comment of an earlier run is replaced; it is known by a line that nobody sees.
comment() {
	local body=$folder/comment.md comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments found
	export MARKER="<!-- kubectl merge: ${TITLE//-->/} -->"
	{
		printf '%s\n### %s\n\n' "$MARKER" "$TITLE"
		cat "$report"
	} >"$body"
	found=$(gh api --paginate "$comments" --jq '.[] | select(.body | startswith($ENV.MARKER)) | .id')
	found=${found%%$'\n'*}
	if [ -n "$found" ]; then
		gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$found" -F body=@"$body"
	elif [ "$differences" = true ]; then
		gh api --silent --method POST "$comments" -F body=@"$body"
	fi
}

# A fence that nothing in the report can close: longer than any backticks in it.
fence() {
	local longest='```' found
	while read -r found; do
		[ ${#found} -lt ${#longest} ] || longest=$found'`'
	done < <(grep -o '``*' "$report" || true)
	printf %s "$longest"
}

code=0
case "$COMMAND" in
diff)
	kubectl-merge diff "${args[@]}" -o markdown >"$report" || code=$?
	differences=false
	case "$code" in 1 | 3) differences=true ;; esac # not an error, after which nothing is known of live
	[ -s "$report" ] || echo "No differences." >"$report"
	echo "differences=$differences" >>"$GITHUB_OUTPUT"
	if [ "$code" != 2 ]; then # 2 is an error: its messages are in the log, and there is no report
		cat "$report" >>"$GITHUB_STEP_SUMMARY"
		[ "$COMMENT" = false ] || [ -z "$PULL_REQUEST" ] || comment
	fi
	[ "$code" != 1 ] || code=0 # differences are no failure
	;;
apply)
	kubectl-merge "${args[@]}" 2>&1 | tee "$report" || code=${PIPESTATUS[0]}
	fence=$(fence)
	{
		printf '### %s\n\n%s\n' "$TITLE" "$fence"
		head -c 900000 "$report" # a summary has at most a megabyte
		printf '\n%s\n' "$fence"
	} >>"$GITHUB_STEP_SUMMARY"
	;;
*)
	echo "error: command: $COMMAND: must be diff, apply or auto" >&2
	exit 1
	;;
esac
echo "exit-code=$code" >>"$GITHUB_OUTPUT"
exit "$code"
