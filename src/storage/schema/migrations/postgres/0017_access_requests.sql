CREATE TABLE "access_request_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "access_request_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
);
--> statement-breakpoint
CREATE TABLE "access_request_rule_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "access_request_rule_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
);
--> statement-breakpoint
CREATE TABLE "access_request_rules" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"description" text collate "C" NOT NULL,
	"role_uids" json NOT NULL,
	"max_duration" bigint NOT NULL,
	"decision_time" bigint NOT NULL,
	"required_approvals" bigint NOT NULL,
	"eligible_role_uids" json NOT NULL,
	"eligible_identity_uids" json NOT NULL,
	"approver_role_uids" json NOT NULL,
	"approver_identity_uids" json NOT NULL,
	"reason_pattern" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "access_requests" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"rule_uid" text collate "C" NOT NULL,
	"identity_uid" text collate "C" NOT NULL,
	"role_uid" text collate "C" NOT NULL,
	"duration" bigint NOT NULL,
	"reason" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"decisions" json NOT NULL,
	"session" json NOT NULL,
	"decide_before_time" bigint NOT NULL,
	"due_time" bigint,
	"start_time" bigint,
	"expire_time" bigint,
	"role_binding_uid" text collate "C",
	"own_expire_time" bigint,
	"create_time" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_request_rules" ADD CONSTRAINT "access_request_rules_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_requests" ADD CONSTRAINT "access_requests_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_request_entries_create_time" ON "access_request_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "access_request_entries_update_time" ON "access_request_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "access_request_rule_entries_create_time" ON "access_request_rule_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "access_request_rule_entries_update_time" ON "access_request_rule_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "access_request_rules_parent" ON "access_request_rules" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "access_requests_parent" ON "access_requests" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "access_requests_identity" ON "access_requests" USING btree ("identity_uid","create_time");--> statement-breakpoint
CREATE INDEX "access_requests_binding" ON "access_requests" USING btree ("role_binding_uid");--> statement-breakpoint
CREATE INDEX "access_requests_due" ON "access_requests" USING btree ("due_time") WHERE "due_time" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "access_requests_open" ON "access_requests" USING btree ("uid") WHERE "due_time" IS NOT NULL;