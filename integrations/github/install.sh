#!/usr/bin/env bash
# Installs a release for the steps that follow, if its checksum and its attestation are
# right: the release workflow of this repository built it.
set -euo pipefail

[ "$VERSION" != installed ] || exit 0

repository=kubectl-merge/kubectl-merge
case "$(uname -s)" in
Linux) os=linux ;;
Darwin) os=darwin ;;
*)
	echo "error: version: only runners with Linux or macOS are supported: install kubectl-merge in a step before" >&2
	exit 1
	;;
esac
case "$(uname -m)" in
x86_64) arch=amd64 ;;
arm64 | aarch64) arch=arm64 ;;
*)
	echo "error: version: there is no release for $(uname -m)" >&2
	exit 1
	;;
esac

folder=$(mktemp -d "$RUNNER_TEMP/kubectl-merge.XXXXXX")
archive=kubectl-merge_${VERSION#v}_${os}_$arch.tar.gz
cd "$folder"
gh release download "$VERSION" --repo "$repository" --pattern "$archive" --pattern checksums.txt
grep " $archive\$" checksums.txt >checksum.txt
if command -v sha256sum >/dev/null; then
	sha256sum --check --quiet checksum.txt
else
	shasum --algorithm 256 --check --quiet checksum.txt
fi
gh attestation verify "$archive" --repo "$repository"
tar -xzf "$archive" kubectl-merge
echo "$folder" >>"$GITHUB_PATH"
