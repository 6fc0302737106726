CREATE TABLE "advisory_terms" (
	"filter" text collate "C" NOT NULL,
	"value" text collate "C" NOT NULL,
	"uid" text collate "C" NOT NULL,
	CONSTRAINT "advisory_terms_filter_value_uid_pk" PRIMARY KEY("filter","value","uid")
);
--> statement-breakpoint
CREATE TABLE "advisory_texts" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"text" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deleted_advisories" (
	"uid" text collate "C" PRIMARY KEY NOT NULL,
	"parent" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"delete_time" bigint NOT NULL,
	"advisory" json NOT NULL,
	"events" json NOT NULL
);
--> statement-breakpoint
ALTER TABLE "advisories" ADD COLUMN "alias_text" text collate "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "deleted_advisories" ADD CONSTRAINT "deleted_advisories_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deleted_advisories_name" ON "deleted_advisories" USING btree ("parent","name","delete_time");