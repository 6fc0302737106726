CREATE TABLE "founding_bindings" (
	"uid" text collate "C" PRIMARY KEY NOT NULL
);
--> statement-breakpoint
ALTER TABLE "founding_bindings" ADD CONSTRAINT "founding_bindings_uid_role_bindings_uid_fk" FOREIGN KEY ("uid") REFERENCES "public"."role_bindings"("uid") ON DELETE cascade ON UPDATE no action;
--> statement-breakpoint
INSERT INTO "founding_bindings" ("uid")
SELECT b."uid" FROM "role_bindings" b
JOIN "groups" g ON g."uid" = b."parent" AND g."create_time" = b."create_time"
JOIN "roles" r ON r."uid" = b."role_uid" AND r."parent" IS NULL AND r."name" = 'owner'
WHERE g."parent" IS NULL AND b."identity_uid" LIKE '%/%';
