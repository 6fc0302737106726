CREATE TABLE "registry_events" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"time" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "registry_events_time" ON "registry_events" USING btree ("time");