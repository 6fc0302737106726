CREATE TABLE "image_uses" (
	"image" bigint NOT NULL,
	"hour" bigint NOT NULL,
	"actor" text collate "C" NOT NULL,
	"kind" bigint NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "image_uses_image_hour_actor_kind_pk" PRIMARY KEY("image","hour","actor","kind")
);
--> statement-breakpoint
CREATE TABLE "repo_registries" (
	"repo_uid" text collate "C" PRIMARY KEY NOT NULL,
	"registry" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tag_uses" (
	"tag_uid" text collate "C" NOT NULL,
	"kind" bigint NOT NULL,
	"hour" bigint NOT NULL,
	CONSTRAINT "tag_uses_tag_uid_kind_pk" PRIMARY KEY("tag_uid","kind")
);
--> statement-breakpoint
ALTER TABLE "images" ADD COLUMN "push_time" bigint;--> statement-breakpoint
ALTER TABLE "repo_registries" ADD CONSTRAINT "repo_registries_repo_uid_repos_uid_fk" FOREIGN KEY ("repo_uid") REFERENCES "public"."repos"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tag_uses" ADD CONSTRAINT "tag_uses_tag_uid_tags_uid_fk" FOREIGN KEY ("tag_uid") REFERENCES "public"."tags"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "image_uses_hour" ON "image_uses" USING btree ("hour");--> statement-breakpoint
CREATE INDEX "tag_uses_hour" ON "tag_uses" USING btree ("hour");