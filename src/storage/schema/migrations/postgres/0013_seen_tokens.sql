CREATE TABLE "seen_tokens" (
	"identity_uid" text collate "C" NOT NULL,
	"digest" text collate "C" NOT NULL,
	"root_uid" text collate "C" NOT NULL,
	"claims" text collate "C" NOT NULL,
	"failed_check" text collate "C" NOT NULL,
	"is_registry" boolean NOT NULL,
	"count" bigint NOT NULL,
	"first_time" bigint NOT NULL,
	"last_time" bigint NOT NULL,
	CONSTRAINT "seen_tokens_identity_uid_digest_pk" PRIMARY KEY("identity_uid","digest")
);
--> statement-breakpoint
ALTER TABLE "seen_tokens" ADD CONSTRAINT "seen_tokens_identity_uid_identities_uid_fk" FOREIGN KEY ("identity_uid") REFERENCES "public"."identities"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "seen_tokens_root" ON "seen_tokens" USING btree ("root_uid","last_time");--> statement-breakpoint
CREATE INDEX "seen_tokens_last_time" ON "seen_tokens" USING btree ("last_time");