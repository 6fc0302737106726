CREATE TABLE "headless_sessions" (
	"code" text collate "C" PRIMARY KEY NOT NULL,
	"public_key" text collate "C" NOT NULL,
	"encrypted_token" text collate "C" NOT NULL,
	"expire_time" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "provider_members" (
	"provider_uid" text collate "C" NOT NULL,
	"identity_uid" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	CONSTRAINT "provider_members_provider_uid_identity_uid_pk" PRIMARY KEY("provider_uid","identity_uid")
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
CREATE TABLE "sign_ins" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"browser_digest" text collate "C" NOT NULL,
	"sealed" text collate "C" NOT NULL,
	"expire_time" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "provider_members" ADD CONSTRAINT "provider_members_provider_uid_identity_providers_uid_fk" FOREIGN KEY ("provider_uid") REFERENCES "public"."identity_providers"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "provider_members" ADD CONSTRAINT "provider_members_identity_uid_identities_uid_fk" FOREIGN KEY ("identity_uid") REFERENCES "public"."identities"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "refresh_families" ADD CONSTRAINT "refresh_families_identity_uid_identities_uid_fk" FOREIGN KEY ("identity_uid") REFERENCES "public"."identities"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "headless_sessions_expire_time" ON "headless_sessions" USING btree ("expire_time");--> statement-breakpoint
CREATE INDEX "provider_members_identity" ON "provider_members" USING btree ("identity_uid");--> statement-breakpoint
CREATE INDEX "refresh_families_identity" ON "refresh_families" USING btree ("identity_uid","create_time");--> statement-breakpoint
CREATE INDEX "refresh_families_expire_time" ON "refresh_families" USING btree ("expire_time");--> statement-breakpoint
CREATE INDEX "sign_ins_expire_time" ON "sign_ins" USING btree ("expire_time");