-- The trigram index of the searched texts, where the extension can be had. Everything works without it, but slower
-- (docs/decisions/0052-text-search.md).
DO $$
DECLARE
	place name;
BEGIN
	BEGIN
		CREATE EXTENSION IF NOT EXISTS pg_trgm;
	EXCEPTION WHEN OTHERS THEN
		RAISE NOTICE 'pg_trgm cannot be created: %', SQLERRM;
	END;
	SELECT nspname INTO place FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
	IF place IS NOT NULL THEN
		EXECUTE format('CREATE INDEX "advisory_texts_trigrams" ON "advisory_texts" USING gin ("text" %I.gin_trgm_ops) WITH (gin_pending_list_limit = 512)', place);
	END IF;
END $$;
--> statement-breakpoint
-- The uids of texts that contain a pattern: at most so many. For an index that finds rare parts of a term faster than the whole
-- term, there may be a second pattern and the term itself. A function, since these statements alone are to use bitmap scans and to
-- be planned for their values.
CREATE FUNCTION "find_advisory_texts"(first_pattern text, second_pattern text, term text, low text, high text, uid_length integer, most bigint)
RETURNS SETOF text LANGUAGE plpgsql STABLE SET enable_bitmapscan = on SET plan_cache_mode = force_custom_plan AS $$
BEGIN
	RETURN QUERY SELECT t."uid" FROM "advisory_texts" t
	WHERE t."text" LIKE first_pattern AND (second_pattern IS NULL OR t."text" LIKE second_pattern) AND (term IS NULL OR strpos(t."text", term) > 0)
		AND t."uid" >= low COLLATE "C" AND t."uid" < high COLLATE "C" AND (uid_length IS NULL OR length(t."uid") = uid_length)
	LIMIT most;
END $$;
--> statement-breakpoint
-- How many texts there are of that kind.
CREATE FUNCTION "count_advisory_texts"(first_pattern text, second_pattern text, term text, low text, high text, uid_length integer)
RETURNS SETOF bigint LANGUAGE plpgsql STABLE SET enable_bitmapscan = on SET plan_cache_mode = force_custom_plan AS $$
BEGIN
	RETURN QUERY SELECT count(*) FROM "advisory_texts" t
	WHERE t."text" LIKE first_pattern AND (second_pattern IS NULL OR t."text" LIKE second_pattern) AND (term IS NULL OR strpos(t."text", term) > 0)
		AND t."uid" >= low COLLATE "C" AND t."uid" < high COLLATE "C" AND (uid_length IS NULL OR length(t."uid") = uid_length);
END $$;
