CREATE TABLE "memberships" (
	"identity_uid" text collate "C" NOT NULL,
	"group_uid" text collate "C" NOT NULL,
	"create_time" bigint NOT NULL,
	CONSTRAINT "memberships_identity_uid_group_uid_pk" PRIMARY KEY("identity_uid","group_uid")
);
--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_identity_uid_identities_uid_fk" FOREIGN KEY ("identity_uid") REFERENCES "public"."identities"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_group_uid_groups_uid_fk" FOREIGN KEY ("group_uid") REFERENCES "public"."groups"("uid") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "memberships_group" ON "memberships" USING btree ("group_uid");--> statement-breakpoint
-- Until now every binding of a person who has registered showed who they are: what is there stays as it is.
INSERT INTO memberships (identity_uid, group_uid, create_time)
SELECT DISTINCT i.uid, substr(b.parent, 1, 40), i.create_time FROM role_bindings b INNER JOIN identities i ON i.uid = b.identity_uid
WHERE i.uid NOT LIKE '%/%' AND i.issuer <> '';