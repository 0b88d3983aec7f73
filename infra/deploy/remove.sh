#!/usr/bin/env bash
# Removes the service from a Google Cloud project: alerts, dashboard and metrics, the sink of requests, the scheduler's jobs, the
# trigger, both functions, the accounts and what they were granted. It can be run again. Data stay, unless they are named:
#
#   infra/deploy/remove.sh --project=my-project [--region=europe-west1] [--dataset=logs] [--database='(default)']
#                          [--delete-dataset=logs] [--delete-database='(default)'] [--dry-run]
#
#   --delete-dataset=NAME    the dataset with all its tables too; NAME must be that of --dataset
#   --delete-database=NAME   the Firestore database too: definitions, keys, answers; its delete protection is lifted first
#   --dry-run                print the commands, and run none that changes anything
set -euo pipefail
export CLOUDSDK_CORE_DISABLE_PROMPTS=1

project='' region=europe-west1 dataset=logs database='(default)' delete_dataset='' delete_database='' dry_run=''
for argument in "$@"; do
  case $argument in
    --project=*) project=${argument#*=} ;;
    --region=*) region=${argument#*=} ;;
    --dataset=*) dataset=${argument#*=} ;;
    --database=*) database=${argument#*=} ;;
    --delete-dataset=*) delete_dataset=${argument#*=} ;;
    --delete-database=*) delete_database=${argument#*=} ;;
    --dry-run) dry_run=yes ;;
    *) echo "remove.sh: $argument is not known; see the head of this file" >&2; exit 2 ;;
  esac
done
if [ -z "$project" ]; then echo 'remove.sh: say which project: --project=my-project' >&2; exit 2; fi
if [ -n "$delete_dataset" ] && [ "$delete_dataset" != "$dataset" ]; then
  echo "remove.sh: --delete-dataset=$delete_dataset is not the dataset $dataset" >&2
  exit 2
fi
if [ -n "$delete_database" ] && [ "$delete_database" != "$database" ]; then
  echo "remove.sh: --delete-database=$delete_database is not the database $database" >&2
  exit 2
fi

run() {
  printf '%q ' "$@" | sed 's/ $//'
  echo
  [ -n "$dry_run" ] || "$@"
}

has_line() { grep -qxF -- "$2" <<<"$1"; }
account() { echo "$1@$project.iam.gserviceaccount.com"; }
# A role on the dataset, from members in quotation marks.
revoke() {
  run bq --project_id="$project" query --use_legacy_sql=false \
    "REVOKE \`roles/bigquery.$1\` ON SCHEMA \`$project\`.\`$dataset\` FROM $2"
}
accounts=(lqe-query lqe-warm lqe-scheduler lqe-build)
kept=()

# First, so that the removal itself raises no alert. Policies before the channels that they use: Google refuses it otherwise.
echo '# monitoring'
ours() { sed -n 's/^lqe //p'; }
at=(--project="$project" --format='value[separator=" "](userLabels.service,name)')
policies=$(gcloud alpha monitoring policies list "${at[@]}" | ours)
for name in $policies; do
  run gcloud alpha monitoring policies delete "$name" --project="$project"
done
checks=$(gcloud monitoring uptime list-configs "${at[@]}" | ours)
for name in $checks; do
  run gcloud monitoring uptime delete "$name" --project="$project"
done
channels=$(gcloud beta monitoring channels list "${at[@]}" | ours)
for name in $channels; do
  run gcloud beta monitoring channels delete "$name" --project="$project" ||
    kept+=("notification channel $name, which other policies use")
done
dashboards=$(gcloud monitoring dashboards list --project="$project" --format='value(name.basename())')
for name in $dashboards; do
  [ "$name" != lqe ] || run gcloud monitoring dashboards delete lqe --project="$project"
done
metrics=$(gcloud logging metrics list --project="$project" --format='value(name)')
for name in $metrics; do
  case $name in lqe_*) run gcloud logging metrics delete "$name" --project="$project" ;; esac
done

echo '# jobs of the scheduler'
jobs=$(gcloud scheduler jobs list --project="$project" --location="$region" --format='value(name.basename())')
for job in $jobs; do
  case $job in lqe-warm-*) run gcloud scheduler jobs delete "$job" --project="$project" --location="$region" ;; esac
done

echo '# trigger'
triggers=$(gcloud builds triggers list --project="$project" --region="$region" --format='value(name)')
! has_line "$triggers" lqe-deploy || run gcloud builds triggers delete lqe-deploy --project="$project" --region="$region"

echo '# functions'
functions=$(gcloud functions list --v2 --project="$project" --regions="$region" --format='value(name.basename())')
for name in query warm; do
  ! has_line "$functions" "$name" || run gcloud functions delete "$name" --gen2 --project="$project" --region="$region"
done

echo '# roles'
writer=$(gcloud logging sinks list --project="$project" --filter=name=lqe-requests --format='value(writerIdentity)')
granted=$(gcloud projects get-iam-policy "$project" --flatten='bindings[].members' \
  --filter='NOT bindings.condition:*' --format='value[separator=" "](bindings.members,bindings.role)')
while read -r member role <&3; do
  for name in "${accounts[@]}"; do
    [ "$member" != "serviceAccount:$(account "$name")" ] ||
      run gcloud projects remove-iam-policy-binding "$project" --member="$member" --role="$role" --condition=None --format=none
  done
done 3<<<"$granted"
emails=$(gcloud iam service-accounts list --project="$project" --format='value(email)')
datasets=$(bq --project_id="$project" ls --format=json --max_results=10000)
there=''
! grep -qF "\"datasetId\":\"$dataset\"" <<<"$datasets" || there=yes
if [ -n "$there" ] && [ -z "$delete_dataset" ]; then
  members=()
  for name in query warm build; do
    ! has_line "$emails" "$(account "lqe-$name")" || members+=("\"serviceAccount:$(account "lqe-$name")\"")
  done
  [ ${#members[@]} -eq 0 ] || revoke dataViewer "$(IFS=,; echo "${members[*]}")"
  members=()
  ! has_line "$emails" "$(account lqe-build)" || members+=("\"serviceAccount:$(account lqe-build)\"")
  [ -z "$writer" ] || members+=("\"$writer\"")
  [ ${#members[@]} -eq 0 ] || revoke dataEditor "$(IFS=,; echo "${members[*]}")"
fi

# After its right, which it names.
[ -z "$writer" ] || run gcloud logging sinks delete lqe-requests --project="$project"

echo '# accounts'
for name in "${accounts[@]}"; do
  ! has_line "$emails" "$(account "$name")" ||
    run gcloud iam service-accounts delete "$(account "$name")" --project="$project"
done

echo '# data'
databases=$(gcloud firestore databases list --project="$project" --format='value(name)')
if has_line "$databases" "projects/$project/databases/$database"; then
  if [ -n "$delete_database" ]; then
    run gcloud firestore databases update --project="$project" --database="$database" --no-delete-protection
    run gcloud firestore databases delete --project="$project" --database="$database"
  else
    kept+=("Firestore database $database (definitions, keys, answers): --delete-database='$database'")
  fi
fi
if [ -n "$there" ]; then
  if [ -n "$delete_dataset" ]; then run bq --project_id="$project" rm -r -f --dataset "$project:$dataset"
  else kept+=("dataset $dataset with its tables: --delete-dataset=$dataset"); fi
fi
kept+=(
  'enabled APIs: other services may need them'
  "sources and images of the builds: buckets gcf-v2-* and ${project}_cloudbuild, Artifact Registry repository gcf-artifacts"
  'logs, as long as Cloud Logging keeps them'
)
echo '# Kept:'
printf '#   %s\n' "${kept[@]}"
