CREATE TABLE "advisories" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"legacy_advisory_id" text collate "C" NOT NULL,
	"author" text collate "C" NOT NULL,
	"artifact_name" text collate "C" NOT NULL,
	"artifact_type" text collate "C" NOT NULL,
	"artifact_architecture" text collate "C" NOT NULL,
	"origin" text collate "C" NOT NULL,
	"component_name" text collate "C" NOT NULL,
	"component_type" text collate "C" NOT NULL,
	"component_location" text collate "C" NOT NULL,
	"aliases" json NOT NULL,
	"severities" json NOT NULL,
	"latest_event_type" bigint NOT NULL,
	"search_text" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "advisory_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "advisory_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "advisory_events" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"advisory_uid" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"author" text collate "C" NOT NULL,
	"reviewer" text collate "C" NOT NULL,
	"review_state" bigint NOT NULL,
	"type" bigint NOT NULL,
	"event" json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "manifests" (
	"repo_uid" text collate "C" NOT NULL,
	"digest" text collate "C" NOT NULL,
	"architecture" text collate "C" NOT NULL,
	"size" bigint NOT NULL,
	CONSTRAINT "manifests_repo_uid_digest_architecture_pk" PRIMARY KEY("repo_uid","digest","architecture")
);
--> statement-breakpoint
CREATE TABLE "readmes" (
	"repo_uid" text collate "C" PRIMARY KEY NOT NULL,
	"content" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "repo_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "repo_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "repos" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"catalog_tier" bigint NOT NULL,
	"bundles" json NOT NULL,
	"aliases" json NOT NULL,
	"active_tags" json NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "subscription_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "subscription_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"sink" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tag_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "tag_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "tags" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"digest" text collate "C" NOT NULL,
	"deprecated" boolean NOT NULL,
	"bundles" json NOT NULL,
	"is_referrer" boolean NOT NULL,
	"is_date" boolean NOT NULL,
	"is_epoch" boolean NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "advisories" ADD CONSTRAINT "advisories_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "advisory_events" ADD CONSTRAINT "advisory_events_advisory_uid_advisories_uid_fk" FOREIGN KEY ("advisory_uid") REFERENCES "public"."advisories"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "manifests" ADD CONSTRAINT "manifests_repo_uid_repos_uid_fk" FOREIGN KEY ("repo_uid") REFERENCES "public"."repos"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "readmes" ADD CONSTRAINT "readmes_repo_uid_repos_uid_fk" FOREIGN KEY ("repo_uid") REFERENCES "public"."repos"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repos" ADD CONSTRAINT "repos_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tags" ADD CONSTRAINT "tags_parent_repos_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."repos"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "advisories_once" ON "advisories" USING btree ("parent","name");--> statement-breakpoint
CREATE INDEX "advisories_parent" ON "advisories" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "advisory_entries_create_time" ON "advisory_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "advisory_entries_update_time" ON "advisory_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE INDEX "advisory_events_of" ON "advisory_events" USING btree ("advisory_uid","create_time","uid");--> statement-breakpoint
CREATE INDEX "repo_entries_create_time" ON "repo_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "repo_entries_update_time" ON "repo_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE UNIQUE INDEX "repos_once" ON "repos" USING btree ("parent","name");--> statement-breakpoint
CREATE INDEX "repos_parent" ON "repos" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "subscription_entries_create_time" ON "subscription_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "subscription_entries_update_time" ON "subscription_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE INDEX "subscriptions_parent" ON "subscriptions" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "tag_entries_create_time" ON "tag_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "tag_entries_update_time" ON "tag_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE UNIQUE INDEX "tags_once" ON "tags" USING btree ("parent","name");--> statement-breakpoint
CREATE INDEX "tags_parent" ON "tags" USING btree ("parent","uid");