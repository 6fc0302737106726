ALTER TABLE "deleted_advisories" ADD COLUMN "change_time" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "deleted_advisories_changed" ON "deleted_advisories" USING btree (substr("parent", 1, 40),"change_time","uid");--> statement-breakpoint
-- When they were deleted here is not known for those that their source withdrew: a follower is told of all of them rather than of too few.
UPDATE "deleted_advisories" SET "change_time" = CAST(extract(epoch FROM now()) * 1000 AS bigint);