CREATE TABLE "access_usage" (
	"identity_uid" text collate "C" NOT NULL,
	"group_uid" text collate "C" NOT NULL,
	"days" text collate "C" NOT NULL,
	"last_time" bigint NOT NULL,
	"bind_time" bigint NOT NULL,
	CONSTRAINT "access_usage_identity_uid_group_uid_pk" PRIMARY KEY("identity_uid","group_uid")
);
--> statement-breakpoint
ALTER TABLE "access_usage" ADD CONSTRAINT "access_usage_identity_uid_identities_uid_fk" FOREIGN KEY ("identity_uid") REFERENCES "public"."identities"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "access_usage" ADD CONSTRAINT "access_usage_group_uid_groups_uid_fk" FOREIGN KEY ("group_uid") REFERENCES "public"."groups"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_usage_group" ON "access_usage" USING btree ("group_uid");--> statement-breakpoint
CREATE INDEX "access_usage_last_time" ON "access_usage" USING btree ("last_time");