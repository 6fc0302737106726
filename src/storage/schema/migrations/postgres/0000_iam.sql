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
	"request_id" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "counters" (
	"key" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "counters_key_kind_pk" PRIMARY KEY("key","kind")
);
--> statement-breakpoint
CREATE TABLE "group_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "group_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
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
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "identity_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
);
--> statement-breakpoint
CREATE TABLE "role_binding_entries" (
	"key" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "role_binding_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
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
	"uid" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "role_entries_key_name_uid_pk" PRIMARY KEY("key","name","uid")
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
CREATE TABLE "signing_keys" (
	"kid" text collate "C" PRIMARY KEY NOT NULL,
	"algorithm" text collate "C" NOT NULL,
	"private_jwk" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"retire_time" bigint
);
--> statement-breakpoint
ALTER TABLE "groups" ADD CONSTRAINT "groups_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_bindings" ADD CONSTRAINT "role_bindings_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_bindings" ADD CONSTRAINT "role_bindings_identity_uid_identities_uid_fk" FOREIGN KEY ("identity_uid") REFERENCES "public"."identities"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "role_bindings" ADD CONSTRAINT "role_bindings_role_uid_roles_uid_fk" FOREIGN KEY ("role_uid") REFERENCES "public"."roles"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "roles" ADD CONSTRAINT "roles_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "changes_uid" ON "changes" USING btree ("uid","sequence");--> statement-breakpoint
CREATE INDEX "group_entries_create_time" ON "group_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "group_entries_update_time" ON "group_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE INDEX "groups_parent" ON "groups" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "groups_name" ON "groups" USING btree ("name");--> statement-breakpoint
CREATE INDEX "identities_parent" ON "identities" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "identities_issuer_subject" ON "identities" USING btree ("issuer","subject");--> statement-breakpoint
CREATE INDEX "identities_relationship_type" ON "identities" USING btree ("relationship_type","uid");--> statement-breakpoint
CREATE INDEX "identity_entries_create_time" ON "identity_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "identity_entries_update_time" ON "identity_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE INDEX "role_binding_entries_create_time" ON "role_binding_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "role_binding_entries_update_time" ON "role_binding_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE UNIQUE INDEX "role_bindings_once" ON "role_bindings" USING btree ("parent","role_uid","identity_uid");--> statement-breakpoint
CREATE INDEX "role_bindings_parent" ON "role_bindings" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "role_bindings_identity" ON "role_bindings" USING btree ("identity_uid","uid");--> statement-breakpoint
CREATE INDEX "role_bindings_role" ON "role_bindings" USING btree ("role_uid","uid");--> statement-breakpoint
CREATE INDEX "role_entries_create_time" ON "role_entries" USING btree ("key","create_time","uid");--> statement-breakpoint
CREATE INDEX "role_entries_update_time" ON "role_entries" USING btree ("key","update_time","uid");--> statement-breakpoint
CREATE INDEX "roles_parent" ON "roles" USING btree ("parent","uid");