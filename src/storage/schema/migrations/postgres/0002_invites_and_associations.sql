CREATE TABLE "account_association_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "account_association_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "account_associations" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C",
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"accounts" json NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "group_invite_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "group_invite_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "group_invites" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"role_uid" text collate "C" NOT NULL,
	"recipient" text collate "C" NOT NULL,
	"expiration_time" bigint NOT NULL,
	"single_use" boolean NOT NULL,
	"key_id" text collate "C" NOT NULL,
	"code_digest" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "account_associations" ADD CONSTRAINT "account_associations_uid_groups_uid_fk" FOREIGN KEY ("uid") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_invites" ADD CONSTRAINT "group_invites_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_association_entries_create_time" ON "account_association_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "account_association_entries_update_time" ON "account_association_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE INDEX "account_associations_parent" ON "account_associations" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "group_invite_entries_create_time" ON "group_invite_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "group_invite_entries_update_time" ON "group_invite_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE INDEX "group_invites_parent" ON "group_invites" USING btree ("parent","uid");--> statement-breakpoint
CREATE UNIQUE INDEX "group_invites_key_id" ON "group_invites" USING btree ("key_id");