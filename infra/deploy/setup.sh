#!/usr/bin/env bash
# Prepares a Google Cloud project for the first deployment: APIs, accounts and their roles, the Firestore database with
# its indexes, the BigQuery dataset with the log tables, metrics with a dashboard and alerts, and on request a trigger for a
# repository. It compares the project with what is needed and does the rest, so it can be run again at any time, also after
# it was interrupted.
#
#   infra/deploy/setup.sh --project=my-project [option ...]
#
#   --region=europe-west1         of the functions, the scheduler's jobs and the trigger
#   --location=EU                 of the dataset
#   --firestore-location=eur3     of the database
#   --dataset=logs                dataset of the log tables
#   --database='(default)'        Firestore database
#   --tables=infra/tables         folder of the tables' schemas
#   --partition-expiry-days=N     partitions are deleted after N days; 0: never (the default for new tables)
#   --partition=HOUR              or DAY, for new tables; by default HOUR where they expire after 416 days at most
#   --project-column              a column `project` for the tables that have it in their metadata only
#   --repository=OWNER/NAME       a trigger that builds and deploys each push to main: a GitHub repository to which the
#                                 Cloud Build app is connected, or projects/../connections/../repositories/.. (2nd gen)
#   --branch=^main$               branches that the trigger builds, as a regular expression
#   --notify=ME@EXAMPLE.COM       address that alerts are sent to; without it they are shown in the console only
#   --only=apis,accounts,...      some of the steps: apis accounts roles firestore tables requests monitoring trigger
#   --dry-run                     print the commands for an empty project, and run none
#
# Needs gcloud, bq and Node, and an account that owns the project.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CLOUDSDK_CORE_DISABLE_PROMPTS=1
PATH=$PWD/node_modules/.bin:$PATH # the Node of this repository, where there is one

project='' region=europe-west1 location=EU firestore_location=eur3 dataset=logs database='(default)' tables=infra/tables
partition='' expiry_days='' project_column='' repository='' branch='^main$' notify='' dry_run=''
only=apis,accounts,roles,firestore,tables,requests,monitoring,trigger
first_pause=${SETUP_FIRST_PAUSE:-3} # seconds before the first retry; tests have less time
for argument in "$@"; do
  case $argument in
    --project=*) project=${argument#*=} ;;
    --region=*) region=${argument#*=} ;;
    --location=*) location=${argument#*=} ;;
    --firestore-location=*) firestore_location=${argument#*=} ;;
    --dataset=*) dataset=${argument#*=} ;;
    --database=*) database=${argument#*=} ;;
    --tables=*) tables=${argument#*=} ;;
    --partition=HOUR | --partition=DAY) partition=${argument#*=} ;;
    --partition-expiry-days=*) expiry_days=${argument#*=} ;;
    --project-column) project_column=--project-column ;;
    --repository=*) repository=${argument#*=} ;;
    --branch=*) branch=${argument#*=} ;;
    --notify=*@*) notify=${argument#*=} ;;
    --only=*) only=${argument#*=} ;;
    --dry-run) dry_run=yes ;;
    *) echo "setup.sh: $argument is not known; see the head of this file" >&2; exit 2 ;;
  esac
done
if [ -z "$project" ]; then echo 'setup.sh: say which project: --project=my-project' >&2; exit 2; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Google's words for what passes by itself: a change beside another (Firestore answers 409 "underlying data changed",
# a policy "concurrent policy changes"), an API, account or metric so new that not all of Google knows it.
passing='ABORTED|underlying data changed|contention|concurrent|has not been used in project'
passing+='|Service account .* does not exist|Cannot find metric'

# Whether the second text holds the pattern; bq breaks its messages into lines of 80 characters.
says() { tr -s '[:space:]' ' ' <<<"$2" | grep -iE "$1" >/dev/null; }

# Runs a command, up to five times with longer and longer pauses while it fails for a reason that passes, and up to nine times,
# for twelve minutes, while a metric is not known. What it prints is in `output`, its errors only where it failed at last.
attempt() {
  local pause=$first_pause most=5 n
  for ((n = 1; n <= most; n++)); do
    if output=$("$@" 2>"$work/error"); then return 0; fi
    output+=$(cat "$work/error") # bq prints its errors where others print results
    ! says 'Cannot find metric' "$output" || most=9
    says "$passing" "$output" && [ "$n" -lt "$most" ] || return 1
    echo "# again in $pause s: $(tr -s '[:space:]' ' ' <<<"$output" | grep -oiE "$passing" | head -n1)" >&2
    sleep "$pause"
    pause=$(node -p "$pause * 2")
  done
}

# Prints a command as it could be pasted, and runs it. What is there already is no failure: somebody else has just made it.
run() {
  printf '%q ' "$@" | sed 's/ $//'
  echo
  [ -z "$dry_run" ] || return 0
  local output
  if attempt "$@"; then cat "$work/error"
  elif ! says 'already[ _]exists' "$output"; then echo "$output" >&2; return 1; fi
  [ -z "$output" ] || echo "$output"
}

# Prints what the project has. Nothing for --dry-run, which is for an empty project.
present() {
  [ -z "$dry_run" ] || return 0
  local output
  attempt "$@" || { echo "$output" >&2; return 1; }
  echo "$output"
}

has_line() { grep -qxF -- "$2" <<<"$1"; }
account() { echo "$1@$project.iam.gserviceaccount.com"; }

# gcloud itself calls Resource Manager and Service Usage in the name of the account that deploys, whose project must have
# them enabled.
set_up_apis() {
  run gcloud services enable --project="$project" \
    artifactregistry.googleapis.com bigquery.googleapis.com cloudbuild.googleapis.com cloudfunctions.googleapis.com \
    cloudresourcemanager.googleapis.com cloudscheduler.googleapis.com firestore.googleapis.com iam.googleapis.com \
    iamcredentials.googleapis.com logging.googleapis.com monitoring.googleapis.com run.googleapis.com \
    serviceusage.googleapis.com storage.googleapis.com
}

# One account for each function, one that calls warm, one that builds and deploys.
set_up_accounts() {
  local emails name
  emails=$(present gcloud iam service-accounts list --project="$project" --format='value(email)')
  for name in query warm scheduler build; do
    has_line "$emails" "$(account "lqe-$name")" ||
      run gcloud iam service-accounts create "lqe-$name" --project="$project" --display-name="Log query endpoints: $name"
  done
}

# Reading the dataset is granted with the tables; calling warm is granted when it is deployed.
set_up_roles() {
  local granted name role
  granted=$(present gcloud projects get-iam-policy "$project" --flatten='bindings[].members' \
    --filter='NOT bindings.condition:*' --format='value[separator=" "](bindings.members,bindings.role)')
  grant() {
    has_line "$granted" "serviceAccount:$(account "$1") $2" ||
      run gcloud projects add-iam-policy-binding "$project" --member="serviceAccount:$(account "$1")" --role="$2" \
        --condition=None --format=none
  }
  for name in query warm; do
    grant "lqe-$name" roles/bigquery.jobUser
    grant "lqe-$name" roles/datastore.user
  done
  for role in roles/cloudbuild.builds.builder roles/cloudfunctions.developer roles/run.admin roles/cloudscheduler.admin \
    roles/bigquery.jobUser roles/datastore.user; do
    grant lqe-build "$role"
  done
  # The build has functions, jobs and itself run as these; for its smoke test it signs one call as the scheduler.
  for name in query warm scheduler build; do
    grant_on "$name" roles/iam.serviceAccountUser
  done
  grant_on scheduler roles/iam.serviceAccountOpenIdTokenCreator
}

# account, role on it: for lqe-build
grant_on() {
  run gcloud iam service-accounts add-iam-policy-binding "$(account "lqe-$1")" --project="$project" \
    --member="serviceAccount:$(account lqe-build)" --role="$2" --format=none
}

# The database, and what infra/deploy/firestore.indexes.json says: no index but those that are searched by. One change at
# a time, each waited for: two at once are refused.
set_up_firestore() {
  local at kind words
  at=(--project="$project" --database="$database")
  present gcloud firestore databases list --project="$project" --format='value(name)' >"$work/databases"
  if grep -qxF "projects/$project/databases/$database" "$work/databases"; then
    present gcloud firestore indexes composite list "${at[@]}" --format=json >"$work/indexes"
    present gcloud firestore indexes fields list "${at[@]}" --format=json >"$work/fields"
    present gcloud firestore fields ttls list "${at[@]}" --format=json >"$work/expiry"
  else
    run gcloud firestore databases create "${at[@]}" --location="$firestore_location" --type=firestore-native \
      --delete-protection
  fi
  node infra/deploy/firestore-plan.ts "$work" >"$work/plan"
  while read -r kind words <&3; do
    read -r -a words <<<"$words"
    case $kind in
      index) run gcloud firestore indexes composite create --query-scope=collection "${at[@]}" "${words[@]}" ;;
      field) run gcloud firestore indexes fields update "${at[@]}" "${words[@]}" ;;
      expiry) run gcloud firestore fields ttls update "${at[@]}" "${words[@]}" --enable-ttl ;;
    esac
  done 3<"$work/plan"
}

# The dataset, the log tables, and who may read them.
set_up_tables() {
  local file names members=()
  run bq --location="$location" --project_id="$project" mk --force --dataset "$project:$dataset"
  names=$(tables_there)
  for file in "$tables"/*.json; do
    [ "$(basename "$file")" = service.requests.json ] || # a view
      set_up_table "$(basename "$file" .json)" "$file"
  done
  for name in query warm build; do members+=("\"serviceAccount:$(account "lqe-$name")\""); done
  query "GRANT \`roles/bigquery.dataViewer\` ON SCHEMA \`$project\`.\`$dataset\` TO $(IFS=,; echo "${members[*]}")"
  # The build applies endpoints, and makes the views of their roll-ups.
  query "GRANT \`roles/bigquery.dataEditor\` ON SCHEMA \`$project\`.\`$dataset\` TO \"serviceAccount:$(account lqe-build)\""
}

tables_there() { present bq --project_id="$project" ls --format=json --max_results=10000 "$project:$dataset"; }
query() { run bq --project_id="$project" --location="$location" query --use_legacy_sql=false "$1"; }

# name, file of its schema: makes a table, or adds what it lacks. Columns that the table has and the file has not stay.
set_up_table() {
  local id=${1//[^A-Za-z0-9_]/_} words
  : >"$work/table"
  if grep -qF "\"tableId\":\"$id\"" <<<"$names"; then
    present bq --project_id="$project" show --format=json "$project:$dataset.$id" >"$work/table"
  fi
  node infra/deploy/table-plan.ts "$2" "$work/table" --schema-out="$work/$id.json" ${partition:+"--partition=$partition"} \
    ${expiry_days:+"--expiry-days=$expiry_days"} ${project_column:+"$project_column"} >"$work/plan"
  while read -r -a words <&3; do
    case ${words[0]} in
      note) echo "# $id: ${words[*]:1}" ;;
      mk) run bq --project_id="$project" "${words[@]}" --description="$1" "$project:$dataset.$id" ;;
      update) run bq --project_id="$project" "${words[@]}" "$project:$dataset.$id" "$work/$id.json" ;;
    esac
  done 3<"$work/plan"
}

# The service's own requests: a sink routes their lines to a table by the day, and the view service_requests is over it.
set_up_requests() {
  local to="bigquery.googleapis.com/projects/$project/datasets/$dataset" there='' writer names view verb=create
  local filter='resource.type="cloud_run_revision" AND (resource.labels.service_name="query" OR resource.labels.service_name="warm") AND jsonPayload.how:*'
  local partition=DAY project_column=''
  names=$(tables_there)
  view=$(node infra/deploy/requests-view.ts "$project.$dataset" "$work/requests.json")
  set_up_table run_googleapis_com_stdout "$work/requests.json"
  query "CREATE OR REPLACE VIEW \`$project\`.\`$dataset\`.\`service_requests\` AS $view"
  sinks() { present gcloud logging sinks list --project="$project" --filter=name=lqe-requests --format="value[separator=' '](${*})"; }
  there=$(sinks destination,filter)
  [ -z "$there" ] || verb=update
  [ "$there" = "$to $filter" ] ||
    run gcloud logging sinks "$verb" lqe-requests "$to" --project="$project" --log-filter="$filter" --use-partitioned-tables
  writer=$(sinks writerIdentity)
  query "GRANT \`roles/bigquery.dataEditor\` ON SCHEMA \`$project\`.\`$dataset\` TO \"${writer:-the writer of the sink}\""
}

# Log-based metrics, the uptime check, the dashboard and the alert policies of infra/deploy/alerts-and-metrics.ts. A policy is refused
# until its metric is known, which takes up to ten minutes (terraform-provider-google, issue 11102).
set_up_monitoring() {
  local addresses words
  if [ -n "$notify" ]; then
    addresses=$(present gcloud beta monitoring channels list --project="$project" --format='value(labels.email_address)')
    has_line "$addresses" "$notify" ||
      run gcloud beta monitoring channels create --project="$project" --type=email --display-name="lqe: $notify" \
        --channel-labels=email_address="$notify" --user-labels=service=lqe
  fi
  present gcloud logging metrics list --project="$project" --format=json >"$work/metrics"
  present gcloud beta monitoring channels list --project="$project" --format=json >"$work/channels"
  present gcloud monitoring uptime list-configs --project="$project" --format=json >"$work/uptime"
  present gcloud monitoring dashboards list --project="$project" --format=json >"$work/dashboards"
  present gcloud alpha monitoring policies list --project="$project" --format=json >"$work/policies"
  node infra/deploy/monitoring-plan.ts "$work" --project="$project" --region="$region" ${notify:+"--notify=$notify"} \
    >"$work/plan"
  while read -r -a words <&3; do
    run gcloud "${words[@]}" --project="$project"
  done 3<"$work/plan"
}

# A push to the repository builds and deploys. To connect a repository takes a browser, once.
set_up_trigger() {
  [ -n "$repository" ] || return 0
  local names verb=create source kind=github
  names=$(present gcloud builds triggers list --project="$project" --region="$region" --format='value(name)')
  ! has_line "$names" lqe-deploy || verb=update
  case $repository in
    projects/*) source=(--repository="$repository") ;;
    *) source=(--repo-owner="${repository%%/*}" --repo-name="${repository#*/}") ;;
  esac
  local subject=(--name=lqe-deploy)
  [ "$verb" = create ] || subject=(lqe-deploy)
  run gcloud builds triggers "$verb" "$kind" "${subject[@]}" --project="$project" --region="$region" "${source[@]}" \
    --branch-pattern="$branch" --build-config=cloudbuild.yaml \
    --service-account="projects/$project/serviceAccounts/$(account lqe-build)" \
    "--$([ "$verb" = create ] || echo update-)substitutions=_REGION=$region,_DATASET=$dataset,_LOCATION=$location,_DATABASE=$database"
}

for step in ${only//,/ }; do
  echo "# $step"
  "set_up_$step"
done

echo '# Done. Next:'
echo "# gcloud beta builds submit --project=$project --config=cloudbuild.yaml" \
  "--substitutions=_REGION=$region,_DATASET=$dataset,_LOCATION=$location,_DATABASE='$database'"
