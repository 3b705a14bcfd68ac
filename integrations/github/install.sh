#!/usr/bin/env bash
# Installs a release for the steps that follow, if its checksum and its attestation are
# right: the release workflow of this repository built it from the release's tag. Unless
# another version is asked for, it is the release that the action itself belongs to: the
# first of its CHANGELOG.md, which every tag has.
set -euo pipefail

[ "$VERSION" != installed ] || exit 0

if [ -z "$VERSION" ]; then
	heading=$(grep -m 1 '^## ' "$GITHUB_ACTION_PATH/CHANGELOG.md")
	if ! [[ $heading =~ ^'## '([0-9]+\.[0-9]+\.[0-9][0-9A-Za-z.-]*) ]]; then
		echo "error: version: the action is used at a commit that is no release: use a tag (uses: kubectl-merge/kubectl-merge@v0.1.0), or name a release with version, or give installed" >&2
		exit 1
	fi
	VERSION=v${BASH_REMATCH[1]}
fi
if ! [[ $VERSION =~ ^v[0-9]+\.[0-9]+\.[0-9][0-9A-Za-z.-]*$ ]]; then
	echo "error: version: $VERSION: must be a release, such as v0.1.0, or installed" >&2
	exit 1
fi

repository=kubectl-merge/kubectl-merge
case "$(uname -s)" in
Linux) os=linux ;;
Darwin) os=darwin ;;
*)
	echo "error: version: only runners with Linux or macOS are supported: install kubectl-merge in a step before, and give version: installed" >&2
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
gh attestation verify "$archive" --repo "$repository" --signer-workflow "$repository/.github/workflows/release.yml" --source-ref "refs/tags/$VERSION"
tar -xzf "$archive" kubectl-merge
echo "$folder" >>"$GITHUB_PATH"
