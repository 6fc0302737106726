ALTER TABLE "access_request_rules" ADD COLUMN "break_glass" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "access_requests" ADD COLUMN "break_glass" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "access_requests" ADD COLUMN "acknowledge_time" bigint;--> statement-breakpoint
ALTER TABLE "access_requests" ADD COLUMN "acknowledger_uid" text collate "C";--> statement-breakpoint
ALTER TABLE "access_requests" ADD COLUMN "acknowledge_comment" text collate "C";--> statement-breakpoint
ALTER TABLE "access_requests" ADD COLUMN "close_time" bigint;--> statement-breakpoint
CREATE INDEX "access_requests_unacknowledged" ON "access_requests" USING btree ("uid") WHERE "break_glass" AND "acknowledge_time" IS NULL;--> statement-breakpoint
CREATE INDEX "access_requests_closed" ON "access_requests" USING btree ("close_time") WHERE "close_time" IS NOT NULL;