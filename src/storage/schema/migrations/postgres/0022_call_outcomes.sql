CREATE TABLE "call_outcomes" (
	"key_digest" text collate "C" NOT NULL,
	"organization" text collate "C",
	"request_digest" text collate "C" NOT NULL,
	"outcome" text collate "C" NOT NULL,
	"expire_time" bigint NOT NULL,
	CONSTRAINT "call_outcomes_expire_time_key_digest_pk" PRIMARY KEY("expire_time","key_digest")
);
--> statement-breakpoint
ALTER TABLE "call_outcomes" ADD CONSTRAINT "call_outcomes_organization_groups_uid_fk" FOREIGN KEY ("organization") REFERENCES "public"."groups"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "call_outcomes_key_digest" ON "call_outcomes" USING btree ("key_digest");--> statement-breakpoint
CREATE INDEX "call_outcomes_organization" ON "call_outcomes" USING btree ("organization");