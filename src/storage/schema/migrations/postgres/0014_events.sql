CREATE TABLE "event_deliveries" (
	"subscription_uid" text collate "C" NOT NULL,
	"sequence" bigint NOT NULL,
	CONSTRAINT "event_deliveries_subscription_uid_sequence_pk" PRIMARY KEY("subscription_uid","sequence")
);
--> statement-breakpoint
CREATE TABLE "event_queues" (
	"subscription_uid" text collate "C" PRIMARY KEY NOT NULL,
	"attempts" bigint NOT NULL,
	"last_failure" text collate "C" NOT NULL,
	"next_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"sequence" bigint PRIMARY KEY NOT NULL,
	"time" bigint NOT NULL,
	"headers" json NOT NULL,
	"data" text collate "C" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "changes" ADD COLUMN "actor_claims" json;--> statement-breakpoint
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_subscription_uid_subscriptions_uid_fk" FOREIGN KEY ("subscription_uid") REFERENCES "public"."subscriptions"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_sequence_events_sequence_fk" FOREIGN KEY ("sequence") REFERENCES "public"."events"("sequence") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_queues" ADD CONSTRAINT "event_queues_subscription_uid_subscriptions_uid_fk" FOREIGN KEY ("subscription_uid") REFERENCES "public"."subscriptions"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "event_deliveries_sequence" ON "event_deliveries" USING btree ("sequence");--> statement-breakpoint
CREATE INDEX "event_queues_next_time" ON "event_queues" USING btree ("next_time");--> statement-breakpoint
CREATE INDEX "events_time" ON "events" USING btree ("time");--> statement-breakpoint
INSERT INTO "settings" ("name", "value") SELECT 'events_position', cast(coalesce(max("sequence"), 0) as text) FROM "changes";