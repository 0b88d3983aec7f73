#!/usr/bin/env bash
# Prepares a Google Cloud project for the first deployment: APIs, accounts and their roles, the Firestore database with its
# indexes, the BigQuery dataset with the log tables. May be repeated: existing resources stay.
#
#   infra/deploy/setup.sh --project=my-project [--region=europe-west1] [--location=EU] [--firestore-location=eur3]
#                  [--dataset=logs] [--database='(default)'] [--dry-run]
#
# --dry-run prints the commands and does nothing. Needs gcloud, bq and Node, and an account that owns the project.
set -euo pipefail
cd "$(dirname "$0")/../.."
export CLOUDSDK_CORE_DISABLE_PROMPTS=1

project='' region=europe-west1 location=EU firestore_location=eur3 dataset=logs database='(default)' dry_run=''
for argument in "$@"; do
  case $argument in
    --project=*) project=${argument#*=} ;;
    --region=*) region=${argument#*=} ;;
    --location=*) location=${argument#*=} ;;
    --firestore-location=*) firestore_location=${argument#*=} ;;
    --dataset=*) dataset=${argument#*=} ;;
    --database=*) database=${argument#*=} ;;
    --dry-run) dry_run=yes ;;
    *) echo "setup.sh: $argument is not known; see the head of this file" >&2; exit 2 ;;
  esac
done
if [ -z "$project" ]; then echo 'setup.sh: say which project: --project=my-project' >&2; exit 2; fi

# Prints a command as it could be pasted, and runs it.
run() {
  printf '%q ' "$@" | sed 's/ $//'
  echo
  [ -n "$dry_run" ] || "$@"
}

# The same for a resource that may exist: then the command fails with "already exists".
ensure() {
  if [ -n "$dry_run" ]; then run "$@"; return; fi
  local output
  if output=$(run "$@" 2>&1) || grep -qiE 'already[ _]exists' <<<"$output"; then echo "$output"; return; fi
  echo "$output" >&2
  return 1
}

account() { echo "$1@$project.iam.gserviceaccount.com"; }

# account, role: for the whole project
grant() {
  run gcloud projects add-iam-policy-binding "$project" --member="serviceAccount:$(account "$1")" --role="$2" \
    --condition=None --format=none
}

# account, account: the first may deploy and run as the second
let_use() {
  run gcloud iam service-accounts add-iam-policy-binding "$(account "$2")" --project="$project" \
    --member="serviceAccount:$(account "$1")" --role=roles/iam.serviceAccountUser --format=none
}

echo '# APIs'
run gcloud services enable --project="$project" \
  artifactregistry.googleapis.com bigquery.googleapis.com cloudbuild.googleapis.com cloudfunctions.googleapis.com \
  cloudscheduler.googleapis.com firestore.googleapis.com iam.googleapis.com logging.googleapis.com run.googleapis.com

echo '# Accounts: one for each function, one that calls warm, one that builds and deploys'
for name in query warm scheduler build; do
  ensure gcloud iam service-accounts create "lqe-$name" --project="$project" --display-name="Log query endpoints: $name"
done

echo '# Roles: reading the dataset is granted below; calling warm is granted when it is deployed'
for name in query warm; do
  grant "lqe-$name" roles/bigquery.jobUser
  grant "lqe-$name" roles/datastore.user
done
for role in roles/cloudbuild.builds.builder roles/cloudfunctions.developer roles/run.admin roles/cloudscheduler.admin \
  roles/bigquery.jobUser roles/datastore.user; do
  grant lqe-build "$role"
done
for name in query warm scheduler build; do let_use lqe-build "lqe-$name"; done

echo '# Firestore: the database, and infra/deploy/firestore.indexes.json: no indexes but those of the searches'
ensure gcloud firestore databases create --project="$project" --database="$database" \
  --location="$firestore_location" --type=firestore-native --delete-protection
at=(--project="$project" --database="$database" --async)
while read -r -a words <&3; do
  case ${words[0]} in
    index) ensure gcloud firestore indexes composite create --query-scope=collection "${at[@]}" "${words[@]:1}" ;;
    field) run gcloud firestore indexes fields update "${at[@]}" "${words[@]:1}" ;;
    expiry) run gcloud firestore fields ttls update "${at[@]}" "${words[@]:1}" --enable-ttl ;;
  esac
done 3< <(node -e '
  const { indexes, fieldOverrides } = JSON.parse(fs.readFileSync("infra/deploy/firestore.indexes.json"))
  const say = (kind, group, ...words) => console.log(kind, `--collection-group=${group}`, ...words)
  for (const { collectionGroup, fields } of indexes)
    say("index", collectionGroup, ...fields.map(field =>
      `--field-config=field-path=${field.fieldPath},order=${field.order.toLowerCase()}`))
  for (const { collectionGroup, fieldPath, indexes, ttl } of fieldOverrides) {
    const wanted = indexes.map(({ order }) => `--index=order=${order.toLowerCase()}`)
    say("field", collectionGroup, fieldPath, ...(wanted.length > 0 ? wanted : ["--disable-indexes"]))
    if (ttl) say("expiry", collectionGroup, fieldPath)
  }
')

echo '# BigQuery: the dataset, the log tables from infra/tables, and who may read them'
run bq --location="$location" --project_id="$project" mk --force --dataset "$project:$dataset"
for file in infra/tables/*.json; do
  logical=$(basename "$file" .json)
  table="$project:$dataset.${logical//[^A-Za-z0-9_]/_}"
  # Four tables have the project within their metadata only, and BigQuery clusters by columns.
  columns=$(node -p 'JSON.parse(fs.readFileSync(process.argv[1])).map(column => column.name).join(" ")' "$file")
  cluster=()
  [[ " $columns " != *' project '* ]] || cluster=(--clustering_fields=project)
  run bq --project_id="$project" mk --force --table --schema="$file" --time_partitioning_type=DAY \
    --time_partitioning_field=timestamp ${cluster[@]+"${cluster[@]}"} --description="$logical" "$table"
  run bq --project_id="$project" update "$table" "$file" # new columns of the file
done
for name in query warm build; do
  run bq --project_id="$project" --location="$location" query --use_legacy_sql=false \
    "GRANT \`roles/bigquery.dataViewer\` ON SCHEMA \`$project\`.\`$dataset\` TO \"serviceAccount:$(account "lqe-$name")\""
done

echo '# Done. Next:'
echo "# gcloud builds submit --project=$project --config=cloudbuild.yaml" \
  "--substitutions=_REGION=$region,_DATASET=$dataset,_LOCATION=$location,_DATABASE='$database'"
