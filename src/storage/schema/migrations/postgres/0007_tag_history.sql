CREATE TABLE "tag_history" (
	"tag_uid" text collate "C" NOT NULL,
	"time" bigint NOT NULL,
	"digest" text collate "C" NOT NULL,
	CONSTRAINT "tag_history_tag_uid_time_pk" PRIMARY KEY("tag_uid","time")
);
--> statement-breakpoint
ALTER TABLE "tag_history" ADD CONSTRAINT "tag_history_tag_uid_tags_uid_fk" FOREIGN KEY ("tag_uid") REFERENCES "public"."tags"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
INSERT INTO "tag_history" SELECT "uid", "update_time", "digest" FROM "tags" WHERE "digest" <> '';
