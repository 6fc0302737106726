CREATE TABLE "external_group_role_mapping_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "external_group_role_mapping_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "external_group_role_mappings" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"external_group_id" text collate "C" NOT NULL,
	"role_uid" text collate "C" NOT NULL,
	"scope" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity_provider_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "identity_provider_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "identity_providers" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"default_role" text collate "C" NOT NULL,
	"issuer" text collate "C" NOT NULL,
	"client_id" text collate "C" NOT NULL,
	"client_secret" text collate "C",
	"additional_scopes" json NOT NULL,
	"groups_claim" text collate "C" NOT NULL,
	"correlation_rule" bigint NOT NULL,
	"pkce_enabled" boolean NOT NULL,
	"scim_enabled" boolean NOT NULL,
	"scim_etag" text collate "C" NOT NULL,
	"scim_token_digest" text collate "C",
	"scim_expire_time" bigint,
	"scim_previous_digest" text collate "C",
	"scim_previous_expire_time" bigint,
	"scim_revoke_time" bigint,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "terms_acceptance_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "terms_acceptance_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "terms_acceptances" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"accepted_by" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "external_group_role_mappings" ADD CONSTRAINT "external_group_role_mappings_parent_identity_providers_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."identity_providers"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "external_group_role_mappings" ADD CONSTRAINT "external_group_role_mappings_role_uid_roles_uid_fk" FOREIGN KEY ("role_uid") REFERENCES "public"."roles"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "external_group_role_mappings" ADD CONSTRAINT "external_group_role_mappings_scope_groups_uid_fk" FOREIGN KEY ("scope") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_providers" ADD CONSTRAINT "identity_providers_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_providers" ADD CONSTRAINT "identity_providers_default_role_roles_uid_fk" FOREIGN KEY ("default_role") REFERENCES "public"."roles"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "terms_acceptances" ADD CONSTRAINT "terms_acceptances_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "external_group_role_mapping_entries_create_time" ON "external_group_role_mapping_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "external_group_role_mapping_entries_update_time" ON "external_group_role_mapping_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE UNIQUE INDEX "external_group_role_mappings_once" ON "external_group_role_mappings" USING btree ("parent","external_group_id","role_uid","scope");--> statement-breakpoint
CREATE INDEX "external_group_role_mappings_parent" ON "external_group_role_mappings" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "external_group_role_mappings_role" ON "external_group_role_mappings" USING btree ("role_uid","uid");--> statement-breakpoint
CREATE INDEX "external_group_role_mappings_scope" ON "external_group_role_mappings" USING btree ("scope","uid");--> statement-breakpoint
CREATE INDEX "identity_provider_entries_create_time" ON "identity_provider_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "identity_provider_entries_update_time" ON "identity_provider_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE INDEX "identity_providers_parent" ON "identity_providers" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "identity_providers_issuer" ON "identity_providers" USING btree ("issuer");--> statement-breakpoint
CREATE INDEX "identity_providers_default_role" ON "identity_providers" USING btree ("default_role","uid");--> statement-breakpoint
CREATE INDEX "terms_acceptance_entries_create_time" ON "terms_acceptance_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "terms_acceptance_entries_update_time" ON "terms_acceptance_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE INDEX "terms_acceptances_parent" ON "terms_acceptances" USING btree ("parent","uid");