-- Replaces 28 migrations, and has the time of the last of them in meta/_journal.json: a database that has them all counts as
-- migrated. Change neither (docs/decisions/0054-initial-migration.md).
CREATE TABLE "account_association_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "account_association_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
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
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	"alias_text" text collate "C" DEFAULT '' NOT NULL,
	"sources" json DEFAULT '[]'::json NOT NULL,
	"product" text collate "C" DEFAULT '' NOT NULL,
	"look_up_keys" json DEFAULT '[]'::json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "advisory_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "advisory_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
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
	"event" json NOT NULL,
	"derived" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "advisory_record_links" (
	"advisory_uid" text collate "C" NOT NULL,
	"record_id" bigint NOT NULL,
	CONSTRAINT "advisory_record_links_advisory_uid_record_id_pk" PRIMARY KEY("advisory_uid","record_id")
);
--> statement-breakpoint
CREATE TABLE "advisory_records" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "advisory_records_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"parent" text collate "C" NOT NULL,
	"source" text collate "C" NOT NULL,
	"document" text collate "C" NOT NULL,
	"vulnerability" text collate "C" NOT NULL,
	"format" bigint NOT NULL,
	"digest" text collate "C" NOT NULL,
	"publish_time" bigint,
	"modify_time" bigint,
	"withdraw_time" bigint,
	"modify_nanos" bigint NOT NULL,
	"revision" bigint NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	"advisory_uids" json NOT NULL,
	"size" bigint NOT NULL,
	"record" json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "advisory_terms" (
	"filter" text collate "C" NOT NULL,
	"value" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	CONSTRAINT "advisory_terms_value_filter_uid_pk" PRIMARY KEY("value","filter","uid")
);
--> statement-breakpoint
CREATE TABLE "advisory_texts" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"text" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "changes" (
	"sequence" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "changes_sequence_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"time" bigint NOT NULL,
	"actor" text collate "C" NOT NULL,
	"method" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"group_uid" text collate "C" NOT NULL,
	"before" json,
	"after" json,
	"request_id" text collate "C" NOT NULL,
	"actor_claims" json
);
--> statement-breakpoint
CREATE TABLE "complete_documents" (
	"parent" text collate "C" NOT NULL,
	"source" text collate "C" NOT NULL,
	"document" text collate "C" NOT NULL,
	"modify_time" bigint NOT NULL,
	"modify_nanos" bigint NOT NULL,
	"revision" bigint NOT NULL,
	CONSTRAINT "complete_documents_parent_source_document_pk" PRIMARY KEY("parent","source","document")
);
--> statement-breakpoint
CREATE TABLE "counters" (
	"key" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "counters_key_kind_pk" PRIMARY KEY("key","kind")
);
--> statement-breakpoint
CREATE TABLE "delegations" (
	"uid" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"maker_uid" text collate "C",
	"is_installation" boolean NOT NULL,
	"capabilities" json NOT NULL,
	"mappings" json NOT NULL,
	"time" bigint NOT NULL,
	CONSTRAINT "delegations_uid_kind_pk" PRIMARY KEY("uid","kind")
);
--> statement-breakpoint
CREATE TABLE "deleted_advisories" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"delete_time" bigint NOT NULL,
	"advisory" json NOT NULL,
	"events" json NOT NULL,
	"change_time" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_deliveries" (
	"subscription_uid" text collate "C" NOT NULL,
	"sequence" bigint NOT NULL,
	CONSTRAINT "event_deliveries_subscription_uid_sequence_pk" PRIMARY KEY("subscription_uid","sequence")
);
--> statement-breakpoint
CREATE TABLE "event_queues" (
	"subscription_uid" text collate "C" PRIMARY KEY NOT NULL,
	"attempts" bigint NOT NULL,
	"last_failure" text collate "C" NOT NULL,
	"next_time" bigint NOT NULL,
	"last_duration" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"sequence" bigint PRIMARY KEY NOT NULL,
	"time" bigint NOT NULL,
	"headers" json NOT NULL,
	"data" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "export_states" (
	"group_uid" text collate "C" PRIMARY KEY NOT NULL,
	"state" text collate "C" NOT NULL,
	"change_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "external_group_role_mapping_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "external_group_role_mapping_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
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
CREATE TABLE "group_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "group_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
);
--> statement-breakpoint
CREATE TABLE "group_invite_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "group_invite_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
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
CREATE TABLE "groups" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C",
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"resource_limits" json NOT NULL,
	"verified" boolean NOT NULL,
	"kind" bigint NOT NULL,
	"status" bigint NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "headless_sessions" (
	"code" text collate "C" PRIMARY KEY NOT NULL,
	"public_key" text collate "C" NOT NULL,
	"encrypted_token" text collate "C" NOT NULL,
	"expire_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identities" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C",
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"email" text collate "C" NOT NULL,
	"email_unverified" text collate "C" NOT NULL,
	"company" text collate "C" NOT NULL,
	"relationship_type" bigint NOT NULL,
	"relationship" json NOT NULL,
	"issuer" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"metadata" json NOT NULL,
	"last_seen_time" bigint NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "identity_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "identity_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
);
--> statement-breakpoint
CREATE TABLE "identity_provider_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "identity_provider_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
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
CREATE TABLE "manifests" (
	"repo_uid" text collate "C" NOT NULL,
	"digest" text collate "C" NOT NULL,
	"architecture" text collate "C" NOT NULL,
	"size" bigint NOT NULL,
	CONSTRAINT "manifests_repo_uid_digest_architecture_pk" PRIMARY KEY("repo_uid","digest","architecture")
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"identity_uid" text collate "C" NOT NULL,
	"group_uid" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	CONSTRAINT "memberships_identity_uid_group_uid_pk" PRIMARY KEY("identity_uid","group_uid")
);
--> statement-breakpoint
CREATE TABLE "provider_members" (
	"provider_uid" text collate "C" NOT NULL,
	"identity_uid" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	CONSTRAINT "provider_members_provider_uid_identity_uid_pk" PRIMARY KEY("provider_uid","identity_uid")
);
--> statement-breakpoint
CREATE TABLE "readmes" (
	"repo_uid" text collate "C" PRIMARY KEY NOT NULL,
	"content" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "refresh_families" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"identity_uid" text collate "C" NOT NULL,
	"digest" text collate "C" NOT NULL,
	"sign_in" json NOT NULL,
	"create_time" bigint NOT NULL,
	"expire_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "registry_events" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "repo_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "repo_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
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
CREATE TABLE "role_binding_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "role_binding_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
);
--> statement-breakpoint
CREATE TABLE "role_bindings" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"identity_uid" text collate "C" NOT NULL,
	"role_uid" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "role_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "role_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
);
--> statement-breakpoint
CREATE TABLE "roles" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C",
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"capabilities" json NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"name" text collate "C" PRIMARY KEY NOT NULL,
	"value" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_ins" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"browser_digest" text collate "C" NOT NULL,
	"sealed" text collate "C" NOT NULL,
	"expire_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "signing_keys" (
	"kid" text collate "C" PRIMARY KEY NOT NULL,
	"algorithm" text collate "C" NOT NULL,
	"private_jwk" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"retire_time" bigint
);
--> statement-breakpoint
CREATE TABLE "subscription_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "subscription_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
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
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "tag_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
);
--> statement-breakpoint
CREATE TABLE "tag_history" (
	"tag_uid" text collate "C" NOT NULL,
	"time" bigint NOT NULL,
	"digest" text collate "C" NOT NULL,
	CONSTRAINT "tag_history_tag_uid_time_pk" PRIMARY KEY("tag_uid","time")
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
CREATE TABLE "terms_acceptance_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "terms_acceptance_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
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
ALTER TABLE "account_associations" ADD CONSTRAINT "account_associations_uid_groups_uid_fk" FOREIGN KEY ("uid") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "advisories" ADD CONSTRAINT "advisories_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "advisory_events" ADD CONSTRAINT "advisory_events_advisory_uid_advisories_uid_fk" FOREIGN KEY ("advisory_uid") REFERENCES "public"."advisories"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "advisory_records" ADD CONSTRAINT "advisory_records_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "complete_documents" ADD CONSTRAINT "complete_documents_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delegations" ADD CONSTRAINT "delegations_maker_uid_identities_uid_fk" FOREIGN KEY ("maker_uid") REFERENCES "public"."identities"("uid") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deleted_advisories" ADD CONSTRAINT "deleted_advisories_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_subscription_uid_subscriptions_uid_fk" FOREIGN KEY ("subscription_uid") REFERENCES "public"."subscriptions"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_deliveries" ADD CONSTRAINT "event_deliveries_sequence_events_sequence_fk" FOREIGN KEY ("sequence") REFERENCES "public"."events"("sequence") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "event_queues" ADD CONSTRAINT "event_queues_subscription_uid_subscriptions_uid_fk" FOREIGN KEY ("subscription_uid") REFERENCES "public"."subscriptions"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "external_group_role_mappings" ADD CONSTRAINT "external_group_role_mappings_parent_identity_providers_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."identity_providers"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "external_group_role_mappings" ADD CONSTRAINT "external_group_role_mappings_role_uid_roles_uid_fk" FOREIGN KEY ("role_uid") REFERENCES "public"."roles"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "external_group_role_mappings" ADD CONSTRAINT "external_group_role_mappings_scope_groups_uid_fk" FOREIGN KEY ("scope") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "group_invites" ADD CONSTRAINT "group_invites_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "groups" ADD CONSTRAINT "groups_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_providers" ADD CONSTRAINT "identity_providers_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identity_providers" ADD CONSTRAINT "identity_providers_default_role_roles_uid_fk" FOREIGN KEY ("default_role") REFERENCES "public"."roles"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "manifests" ADD CONSTRAINT "manifests_repo_uid_repos_uid_fk" FOREIGN KEY ("repo_uid") REFERENCES "public"."repos"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_identity_uid_identities_uid_fk" FOREIGN KEY ("identity_uid") REFERENCES "public"."identities"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_group_uid_groups_uid_fk" FOREIGN KEY ("group_uid") REFERENCES "public"."groups"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_members" ADD CONSTRAINT "provider_members_provider_uid_identity_providers_uid_fk" FOREIGN KEY ("provider_uid") REFERENCES "public"."identity_providers"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "readmes" ADD CONSTRAINT "readmes_repo_uid_repos_uid_fk" FOREIGN KEY ("repo_uid") REFERENCES "public"."repos"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refresh_families" ADD CONSTRAINT "refresh_families_identity_uid_identities_uid_fk" FOREIGN KEY ("identity_uid") REFERENCES "public"."identities"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "repos" ADD CONSTRAINT "repos_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_bindings" ADD CONSTRAINT "role_bindings_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_bindings" ADD CONSTRAINT "role_bindings_identity_uid_identities_uid_fk" FOREIGN KEY ("identity_uid") REFERENCES "public"."identities"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_bindings" ADD CONSTRAINT "role_bindings_role_uid_roles_uid_fk" FOREIGN KEY ("role_uid") REFERENCES "public"."roles"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "roles" ADD CONSTRAINT "roles_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subscriptions" ADD CONSTRAINT "subscriptions_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tag_history" ADD CONSTRAINT "tag_history_tag_uid_tags_uid_fk" FOREIGN KEY ("tag_uid") REFERENCES "public"."tags"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tags" ADD CONSTRAINT "tags_parent_repos_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."repos"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "terms_acceptances" ADD CONSTRAINT "terms_acceptances_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_association_entries_create_time" ON "account_association_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "account_association_entries_update_time" ON "account_association_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "account_associations_parent" ON "account_associations" USING btree ("parent","uid");--> statement-breakpoint
CREATE UNIQUE INDEX "advisories_once" ON "advisories" USING btree ("parent","name","product");--> statement-breakpoint
CREATE INDEX "advisories_parent" ON "advisories" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "advisory_entries_create_time" ON "advisory_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "advisory_entries_update_time" ON "advisory_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "advisory_events_of" ON "advisory_events" USING btree ("advisory_uid","create_time","uid");--> statement-breakpoint
CREATE UNIQUE INDEX "advisory_records_key" ON "advisory_records" USING btree ("parent","source","document","vulnerability");--> statement-breakpoint
CREATE INDEX "changes_kind" ON "changes" USING btree ("kind","sequence");--> statement-breakpoint
CREATE INDEX "changes_organization" ON "changes" USING btree (substr("group_uid", 1, 40),"sequence");--> statement-breakpoint
CREATE INDEX "changes_access_requests" ON "changes" USING btree ("uid","actor","sequence") WHERE "changes"."kind" = 'group_access_requests';--> statement-breakpoint
CREATE INDEX "delegations_maker" ON "delegations" USING btree ("maker_uid");--> statement-breakpoint
CREATE INDEX "deleted_advisories_name" ON "deleted_advisories" USING btree ("parent","name","delete_time");--> statement-breakpoint
CREATE INDEX "deleted_advisories_changed" ON "deleted_advisories" USING btree (substr("parent", 1, 40),"change_time","uid");--> statement-breakpoint
CREATE INDEX "event_deliveries_sequence" ON "event_deliveries" USING btree ("sequence");--> statement-breakpoint
CREATE INDEX "event_queues_due" ON "event_queues" USING btree ("next_time","last_duration");--> statement-breakpoint
CREATE INDEX "events_time" ON "events" USING btree ("time");--> statement-breakpoint
CREATE INDEX "external_group_role_mapping_entries_create_time" ON "external_group_role_mapping_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "external_group_role_mapping_entries_update_time" ON "external_group_role_mapping_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE UNIQUE INDEX "external_group_role_mappings_once" ON "external_group_role_mappings" USING btree ("parent","external_group_id","role_uid","scope");--> statement-breakpoint
CREATE INDEX "external_group_role_mappings_parent" ON "external_group_role_mappings" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "external_group_role_mappings_role" ON "external_group_role_mappings" USING btree ("role_uid","uid");--> statement-breakpoint
CREATE INDEX "external_group_role_mappings_scope" ON "external_group_role_mappings" USING btree ("scope","uid");--> statement-breakpoint
CREATE INDEX "group_entries_create_time" ON "group_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "group_entries_update_time" ON "group_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "group_invite_entries_create_time" ON "group_invite_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "group_invite_entries_update_time" ON "group_invite_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "group_invites_parent" ON "group_invites" USING btree ("parent","uid");--> statement-breakpoint
CREATE UNIQUE INDEX "group_invites_key_id" ON "group_invites" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "groups_parent" ON "groups" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "groups_last_segment" ON "groups" USING btree (substr("uid", length("uid") - 15));--> statement-breakpoint
CREATE INDEX "headless_sessions_expire_time" ON "headless_sessions" USING btree ("expire_time");--> statement-breakpoint
CREATE INDEX "identities_parent" ON "identities" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "identities_issuer_subject" ON "identities" USING btree ("issuer","subject");--> statement-breakpoint
CREATE INDEX "identities_relationship_type" ON "identities" USING btree ("relationship_type","uid");--> statement-breakpoint
CREATE INDEX "identity_entries_create_time" ON "identity_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "identity_entries_update_time" ON "identity_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "identity_provider_entries_create_time" ON "identity_provider_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "identity_provider_entries_update_time" ON "identity_provider_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "identity_providers_parent" ON "identity_providers" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "identity_providers_issuer" ON "identity_providers" USING btree ("issuer");--> statement-breakpoint
CREATE INDEX "identity_providers_default_role" ON "identity_providers" USING btree ("default_role","uid");--> statement-breakpoint
CREATE INDEX "memberships_group" ON "memberships" USING btree ("group_uid");--> statement-breakpoint
CREATE INDEX "provider_members_identity" ON "provider_members" USING btree ("identity_uid");--> statement-breakpoint
CREATE INDEX "refresh_families_identity" ON "refresh_families" USING btree ("identity_uid","create_time");--> statement-breakpoint
CREATE INDEX "refresh_families_expire_time" ON "refresh_families" USING btree ("expire_time");--> statement-breakpoint
CREATE INDEX "registry_events_time" ON "registry_events" USING btree ("time");--> statement-breakpoint
CREATE INDEX "repo_entries_create_time" ON "repo_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "repo_entries_update_time" ON "repo_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE UNIQUE INDEX "repos_once" ON "repos" USING btree ("parent","name");--> statement-breakpoint
CREATE INDEX "repos_parent" ON "repos" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "role_binding_entries_create_time" ON "role_binding_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "role_binding_entries_update_time" ON "role_binding_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE UNIQUE INDEX "role_bindings_once" ON "role_bindings" USING btree ("parent","role_uid","identity_uid");--> statement-breakpoint
CREATE INDEX "role_bindings_parent" ON "role_bindings" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "role_bindings_identity" ON "role_bindings" USING btree ("identity_uid","uid");--> statement-breakpoint
CREATE INDEX "role_bindings_role" ON "role_bindings" USING btree ("role_uid","uid");--> statement-breakpoint
CREATE INDEX "role_entries_create_time" ON "role_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "role_entries_update_time" ON "role_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "roles_parent" ON "roles" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "sign_ins_expire_time" ON "sign_ins" USING btree ("expire_time");--> statement-breakpoint
CREATE INDEX "subscription_entries_create_time" ON "subscription_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "subscription_entries_update_time" ON "subscription_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "subscriptions_parent" ON "subscriptions" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "tag_entries_create_time" ON "tag_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "tag_entries_update_time" ON "tag_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE UNIQUE INDEX "tags_once" ON "tags" USING btree ("parent","name");--> statement-breakpoint
CREATE INDEX "tags_parent" ON "tags" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "terms_acceptance_entries_create_time" ON "terms_acceptance_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "terms_acceptance_entries_update_time" ON "terms_acceptance_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "terms_acceptances_parent" ON "terms_acceptances" USING btree ("parent","uid");--> statement-breakpoint
-- The trigram index of the searched texts, where the extension can be had. Everything works without it, but slower
-- (docs/decisions/0052-text-search.md).
DO $$
DECLARE
	place name;
BEGIN
	BEGIN
		-- In the schema that does not end with one of several installations.
		CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
	EXCEPTION WHEN OTHERS THEN
		BEGIN
			CREATE EXTENSION IF NOT EXISTS pg_trgm;
		EXCEPTION WHEN OTHERS THEN
			RAISE NOTICE 'pg_trgm cannot be created: %', SQLERRM;
		END;
	END;
	SELECT nspname INTO place FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm'
		AND has_schema_privilege(extnamespace, 'USAGE');
	IF place IS NOT NULL THEN
		EXECUTE format('CREATE INDEX "advisory_texts_trigrams" ON "advisory_texts" USING gin ("text" %I.gin_trgm_ops) WITH (gin_pending_list_limit = 512)', place);
	END IF;
END $$;
--> statement-breakpoint
-- The uids of texts that contain a pattern: at most so many. For an index that finds rare parts of a term faster than the whole
-- term, there may be a second pattern and the term itself. A function, since these statements alone are to use bitmap scans and to
-- be planned for their values.
CREATE FUNCTION "find_advisory_texts"(first_pattern text, second_pattern text, term text, low text, high text, uid_length integer, most bigint)
RETURNS SETOF text LANGUAGE plpgsql STABLE SET enable_bitmapscan = on SET plan_cache_mode = force_custom_plan AS $$
BEGIN
	RETURN QUERY SELECT t."uid" FROM "advisory_texts" t
	WHERE t."text" LIKE first_pattern AND (second_pattern IS NULL OR t."text" LIKE second_pattern) AND (term IS NULL OR strpos(t."text", term) > 0)
		AND t."uid" >= low COLLATE "C" AND t."uid" < high COLLATE "C" AND (uid_length IS NULL OR length(t."uid") = uid_length)
	LIMIT most;
END $$;
--> statement-breakpoint
-- How many texts there are of that kind.
CREATE FUNCTION "count_advisory_texts"(first_pattern text, second_pattern text, term text, low text, high text, uid_length integer)
RETURNS SETOF bigint LANGUAGE plpgsql STABLE SET enable_bitmapscan = on SET plan_cache_mode = force_custom_plan AS $$
BEGIN
	RETURN QUERY SELECT count(*) FROM "advisory_texts" t
	WHERE t."text" LIKE first_pattern AND (second_pattern IS NULL OR t."text" LIKE second_pattern) AND (term IS NULL OR strpos(t."text", term) > 0)
		AND t."uid" >= low COLLATE "C" AND t."uid" < high COLLATE "C" AND (uid_length IS NULL OR length(t."uid") = uid_length);
END $$;
--> statement-breakpoint
-- The last change whose events are queued, and the last one that retention deleted.
INSERT INTO "settings" ("name", "value") VALUES ('events_position', '0'), ('changes_removed', '0');
