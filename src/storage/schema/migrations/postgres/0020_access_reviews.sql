CREATE TABLE "access_review_entries" (
	"key" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	CONSTRAINT "access_review_entries_key_name_tail_pk" PRIMARY KEY("key","name","tail")
);
--> statement-breakpoint
CREATE TABLE "access_review_items" (
	"review_uid" text collate "C" NOT NULL,
	"role_binding_uid" text collate "C" NOT NULL,
	"identity_uid" text collate "C" NOT NULL,
	"role_uid" text collate "C" NOT NULL,
	"identity_name" text collate "C" NOT NULL,
	"group_name" text collate "C" NOT NULL,
	"role_name" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"start_time" bigint,
	"expire_time" bigint,
	"last_use_time" bigint,
	"used_capability_count" bigint NOT NULL,
	"capability_count" bigint NOT NULL,
	"observed_time" bigint,
	"delegation_count" bigint NOT NULL,
	"decision" text collate "C" NOT NULL,
	"reviewer_uid" text collate "C" NOT NULL,
	"comment" text collate "C" NOT NULL,
	"decide_time" bigint,
	CONSTRAINT "access_review_items_review_uid_role_binding_uid_pk" PRIMARY KEY("review_uid","role_binding_uid")
);
--> statement-breakpoint
CREATE TABLE "access_reviews" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"due_time" bigint NOT NULL,
	"on_due" text collate "C" NOT NULL,
	"reviewer_identity_uids" json NOT NULL,
	"role_uids" json NOT NULL,
	"holders" text collate "C" NOT NULL,
	"unused_days" bigint NOT NULL,
	"creator_uid" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	"end_time" bigint,
	"close_time" bigint,
	"recorded_time" bigint,
	"kept_unconfirmed" boolean NOT NULL,
	"item_count" bigint NOT NULL,
	"pending_count" bigint NOT NULL,
	"confirmed_count" bigint NOT NULL,
	"revoked_count" bigint NOT NULL,
	"gone_count" bigint NOT NULL,
	"changed_count" bigint NOT NULL,
	"kept_last_owner_count" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "access_review_items" ADD CONSTRAINT "access_review_items_review_uid_access_reviews_uid_fk" FOREIGN KEY ("review_uid") REFERENCES "public"."access_reviews"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_reviews" ADD CONSTRAINT "access_reviews_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_review_entries_create_time" ON "access_review_entries" USING btree ("key","create_time","tail");--> statement-breakpoint
CREATE INDEX "access_review_entries_update_time" ON "access_review_entries" USING btree ("key","update_time","tail");--> statement-breakpoint
CREATE INDEX "access_review_items_decision" ON "access_review_items" USING btree ("review_uid","decision","role_binding_uid");--> statement-breakpoint
CREATE INDEX "access_reviews_parent" ON "access_reviews" USING btree ("parent","uid");--> statement-breakpoint
CREATE INDEX "access_reviews_end" ON "access_reviews" USING btree ("end_time") WHERE "end_time" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "access_reviews_close" ON "access_reviews" USING btree ("close_time") WHERE "close_time" IS NOT NULL;