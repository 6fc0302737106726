CREATE TABLE "scim_groups" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"provider_uid" text collate "C" NOT NULL,
	"display_name" text collate "C" NOT NULL,
	"display_name_key" text collate "C" NOT NULL,
	"external_id" text collate "C",
	"version" bigint NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "scim_members" (
	"group_uid" text collate "C" NOT NULL,
	"user_uid" text collate "C" NOT NULL,
	CONSTRAINT "scim_members_group_uid_user_uid_pk" PRIMARY KEY("group_uid","user_uid")
);
--> statement-breakpoint
CREATE TABLE "scim_suspensions" (
	"identity_uid" text collate "C" NOT NULL,
	"provider_uid" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	CONSTRAINT "scim_suspensions_identity_uid_provider_uid_pk" PRIMARY KEY("identity_uid","provider_uid")
);
--> statement-breakpoint
CREATE TABLE "scim_users" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"provider_uid" text collate "C" NOT NULL,
	"user_name_key" text collate "C" NOT NULL,
	"display_name_key" text collate "C" NOT NULL,
	"external_id" text collate "C",
	"is_active" boolean NOT NULL,
	"identity_uid" text collate "C",
	"sign_in_time" bigint,
	"attributes" json NOT NULL,
	"version" bigint NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "scim_groups" ADD CONSTRAINT "scim_groups_provider_uid_identity_providers_uid_fk" FOREIGN KEY ("provider_uid") REFERENCES "public"."identity_providers"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scim_members" ADD CONSTRAINT "scim_members_group_uid_scim_groups_uid_fk" FOREIGN KEY ("group_uid") REFERENCES "public"."scim_groups"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scim_members" ADD CONSTRAINT "scim_members_user_uid_scim_users_uid_fk" FOREIGN KEY ("user_uid") REFERENCES "public"."scim_users"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scim_suspensions" ADD CONSTRAINT "scim_suspensions_provider_uid_identity_providers_uid_fk" FOREIGN KEY ("provider_uid") REFERENCES "public"."identity_providers"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "scim_users" ADD CONSTRAINT "scim_users_provider_uid_identity_providers_uid_fk" FOREIGN KEY ("provider_uid") REFERENCES "public"."identity_providers"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "scim_groups_external_id" ON "scim_groups" USING btree ("provider_uid","external_id");--> statement-breakpoint
CREATE INDEX "scim_groups_display_name" ON "scim_groups" USING btree ("provider_uid","display_name_key","uid");--> statement-breakpoint
CREATE INDEX "scim_members_user" ON "scim_members" USING btree ("user_uid");--> statement-breakpoint
CREATE INDEX "scim_suspensions_provider" ON "scim_suspensions" USING btree ("provider_uid");--> statement-breakpoint
CREATE UNIQUE INDEX "scim_users_user_name" ON "scim_users" USING btree ("provider_uid","user_name_key");--> statement-breakpoint
CREATE UNIQUE INDEX "scim_users_external_id" ON "scim_users" USING btree ("provider_uid","external_id");--> statement-breakpoint
CREATE INDEX "scim_users_display_name" ON "scim_users" USING btree ("provider_uid","display_name_key","uid");--> statement-breakpoint
CREATE INDEX "scim_users_identity" ON "scim_users" USING btree ("identity_uid");