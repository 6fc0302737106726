CREATE TABLE "subscription_settings" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"is_paused" boolean NOT NULL,
	"kinds" json NOT NULL,
	"description" text collate "C" NOT NULL,
	"dropped_events" bigint NOT NULL,
	"last_drop_time" bigint,
	"test_time" bigint NOT NULL,
	"test_events" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD COLUMN "uid" text collate "C";--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD COLUMN "reason" text collate "C";--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD COLUMN "sequence" bigint;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD COLUMN "payload" text collate "C";--> statement-breakpoint
ALTER TABLE "subscription_settings" ADD CONSTRAINT "subscription_settings_uid_subscriptions_uid_fk" FOREIGN KEY ("uid") REFERENCES "public"."subscriptions"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "delivery_attempts_uid" ON "delivery_attempts" USING btree ("uid");