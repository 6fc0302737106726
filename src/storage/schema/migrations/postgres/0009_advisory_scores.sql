ALTER TABLE "advisories" ADD COLUMN "score" bigint;--> statement-breakpoint
ALTER TABLE "advisories" ADD COLUMN "publish_time" bigint;--> statement-breakpoint
CREATE INDEX "advisories_score" ON "advisories" USING btree ("parent","latest_event_type","score","uid");--> statement-breakpoint
CREATE INDEX "advisories_unscored" ON "advisories" USING btree ("uid") WHERE "score" IS NULL;