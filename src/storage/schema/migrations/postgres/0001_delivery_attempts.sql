CREATE TABLE "delivery_attempts" (
	"subscription_uid" text collate "C" NOT NULL,
	"start_time" bigint NOT NULL,
	"duration" bigint NOT NULL,
	"event_type" text collate "C" NOT NULL,
	"event_id" text collate "C" NOT NULL,
	"http_status" bigint NOT NULL,
	"response_line" text collate "C" NOT NULL,
	"failure" text collate "C" NOT NULL,
	"is_dropped" boolean NOT NULL,
	CONSTRAINT "delivery_attempts_subscription_uid_start_time_event_id_pk" PRIMARY KEY("subscription_uid","start_time","event_id")
);
--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_subscription_uid_subscriptions_uid_fk" FOREIGN KEY ("subscription_uid") REFERENCES "public"."subscriptions"("uid") ON DELETE cascade ON UPDATE no action;