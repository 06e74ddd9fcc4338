#!/bin/sh
# Run once by the image of PostgreSQL, in an empty cluster: who owns the tables, and who works with them.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres \
    --set=owner="$CASEFLOW_OWNER_PASSWORD" --set=runtime="$CASEFLOW_RUNTIME_PASSWORD" <<'SQL'
CREATE ROLE caseflow_owner LOGIN NOSUPERUSER NOCREATEROLE PASSWORD :'owner';
CREATE ROLE caseflow_runtime LOGIN NOSUPERUSER NOCREATEROLE PASSWORD :'runtime';
ALTER DATABASE caseflow OWNER TO caseflow_owner;
GRANT CONNECT ON DATABASE caseflow TO caseflow_runtime;
SQL
