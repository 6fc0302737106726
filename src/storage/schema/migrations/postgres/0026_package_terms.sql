UPDATE "advisory_terms" SET "value" = regexp_replace("value", '^(pkg:.*/)(.*)$', '\2 \1')
WHERE "filter" = 'products' AND "value" LIKE 'pkg:%/%';
