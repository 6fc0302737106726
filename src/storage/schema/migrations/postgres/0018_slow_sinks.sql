DROP INDEX "event_queues_next_time";--> statement-breakpoint
ALTER TABLE "event_queues" ADD COLUMN "last_duration" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "event_queues_due" ON "event_queues" USING btree ("next_time","last_duration");