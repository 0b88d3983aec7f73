#!/usr/bin/env bash
# The tests in a build: `npm test` where gcloud, bq, Java and the Firestore emulator are, with Node.js from /node and a
# browser. A test that was skipped is a failure here.
set -euo pipefail
export PATH=/node/bin:$PATH

apt-get update --quiet
apt-get install --quiet --yes --no-install-recommends chromium
log=$(mktemp)
npm test 2>&1 | tee "$log"
if grep -qE '^Tests:.* skipped' "$log"; then
  echo 'test-all.sh: something was skipped that this image should have' >&2
  exit 1
fi
