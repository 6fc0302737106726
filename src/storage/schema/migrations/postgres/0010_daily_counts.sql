CREATE TABLE "daily_counts" (
	"group_uid" text collate "C" NOT NULL,
	"metric" text collate "C" NOT NULL,
	"day" bigint NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "daily_counts_group_uid_metric_day_pk" PRIMARY KEY("group_uid","metric","day")
);
--> statement-breakpoint
CREATE INDEX "daily_counts_day" ON "daily_counts" USING btree ("day","group_uid","metric");