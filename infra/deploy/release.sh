#!/usr/bin/env bash
# Which revision of the two functions gets the traffic. cloudbuild.yaml runs the first three in this order:
#
#   release.sh hold  --project=my-project --region=europe-west1
#       what serves now goes on serving: a deployment after this makes a revision without traffic
#   release.sh tag   --project=.. --region=.. --out=FILE
#       the newest revisions get addresses of their own, which are written to FILE
#   release.sh send  --project=.. --region=.. --out=FILE
#       the tagged revisions get all the traffic, and those that had it are tagged `previous`; the functions' addresses
#       are written to FILE
#   release.sh rollback  --project=.. --region=.. [--query=REVISION] [--warm=REVISION]
#       the revisions tagged `previous`, or those named, get all the traffic again
#
# `gcloud functions deploy` has no --no-traffic. It leaves the traffic of a service alone where that is given to revisions
# by name ("Traffic splitting" of Cloud Run functions; `allTrafficOnLatestRevision` in gcloud's v2 deploy command), so
# naming the revision that serves is what holds the traffic. `gcloud run deploy --function` would make a service that the
# function's address and `gcloud functions` do not know.
set -euo pipefail

command=${1:-}
project='' region='' out='' query='' warm=''
for argument in "${@:2}"; do
  case $argument in
    --project=*) project=${argument#*=} ;;
    --region=*) region=${argument#*=} ;;
    --out=*) out=${argument#*=} ;;
    --query=*) query=${argument#*=} ;;
    --warm=*) warm=${argument#*=} ;;
    *) echo "release.sh: $argument is not known; see the head of this file" >&2; exit 2 ;;
  esac
done
if [ -z "$project" ] || [ -z "$region" ]; then
  echo 'release.sh: say where: --project=my-project --region=europe-west1' >&2
  exit 2
fi
at=(--project="$project" --region="$region")

# Lines "REVISION PERCENT TAG ADDRESS SERVICE-ADDRESS" of a service; `-` for what is empty. gcloud takes a second: ask once.
traffic() {
  gcloud run services describe "$1" "${at[@]}" --flatten='status.traffic[]' \
    --format='csv[no-heading,separator=" "](status.traffic.revisionName.yesno(no="-"),status.traffic.percent.yesno(no="-"),status.traffic.tag.yesno(no="-"),status.traffic.url.yesno(no="-"),status.url)'
}

# Both of such lines.
serving() { awk '$2 != "-" && $2 > 0 { print $1 "=" $2 }' <<<"$1" | paste -sd, -; }
tagged() { awk -v tag="$2" '$3 == tag { print $1; exit }' <<<"$1"; }

update() { gcloud run services update-traffic "$1" "${at[@]}" "${@:2}"; }

hold() {
  local name there lines
  there=$(gcloud run services list "${at[@]}" --format='value(metadata.name)')
  for name in query warm; do
    if ! grep -qx "$name" <<<"$there"; then
      echo "$name: not deployed yet, so its first revision serves at once"
    else
      lines=$(traffic "$name")
      update "$name" --to-revisions="$(serving "$lines")"
    fi
  done
}

# Begins the file of addresses.
begin_out() {
  if [ -z "$out" ]; then echo 'release.sh: where are the addresses to be written? --out=FILE' >&2; exit 2; fi
  mkdir -p "$(dirname "$out")"
  : >"$out"
}

tag() {
  local name revision
  begin_out
  for name in query warm; do
    revision=$(gcloud run services describe "$name" "${at[@]}" --format='value(status.latestReadyRevisionName)')
    update "$name" --update-tags="candidate=$revision"
    traffic "$name" | awk -v name="$name" '$3 == "candidate" { print name "=" $4 }' >>"$out"
  done
}

send() {
  local name lines now candidate
  begin_out
  for name in query warm; do
    lines=$(traffic "$name")
    candidate=$(tagged "$lines" candidate)
    if [ -z "$candidate" ]; then echo "release.sh: $name has no revision tagged candidate" >&2; exit 1; fi
    now=$(serving "$lines")
    # Where nothing else served, there is nothing to go back to.
    if [ "$now" = "$candidate=100" ]; then
      update "$name" --to-revisions="$candidate=100" --remove-tags=candidate
    else
      update "$name" --to-revisions="$candidate=100" --set-tags="previous=${now%%=*}"
    fi
    awk -v name="$name" 'NR == 1 { print name "=" $5 }' <<<"$lines" >>"$out"
  done
}

rollback() {
  local name revision lines
  for name in query warm; do
    revision=${!name}
    if [ -z "$revision" ]; then
      lines=$(traffic "$name")
      revision=$(tagged "$lines" previous)
    fi
    if [ -z "$revision" ]; then echo "release.sh: $name has no revision tagged previous; name one: --$name=REVISION" >&2; exit 1; fi
    update "$name" --to-revisions="$revision=100"
  done
  echo '# Definitions of endpoints are as the last build applied them: npm run lqe -- apply from the older commit restores them.'
}

case $command in
  hold | tag | send | rollback) "$command" ;;
  *) echo 'release.sh: hold, tag, send or rollback; see the head of this file' >&2; exit 2 ;;
esac
