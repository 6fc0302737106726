CREATE TABLE "advisory_record_links" (
	"advisory_uid" text collate "C" NOT NULL,
	"record_id" bigint NOT NULL,
	CONSTRAINT "advisory_record_links_advisory_uid_record_id_pk" PRIMARY KEY("advisory_uid","record_id")
);
--> statement-breakpoint
CREATE TABLE "advisory_records" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "advisory_records_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"parent" text collate "C" NOT NULL,
	"source" text collate "C" NOT NULL,
	"document" text collate "C" NOT NULL,
	"vulnerability" text collate "C" NOT NULL,
	"format" bigint NOT NULL,
	"digest" text collate "C" NOT NULL,
	"publish_time" bigint,
	"modify_time" bigint,
	"withdraw_time" bigint,
	"modify_nanos" bigint NOT NULL,
	"revision" bigint NOT NULL,
	"create_time" bigint NOT NULL,
	"update_time" bigint NOT NULL,
	"advisory_uids" json NOT NULL,
	"size" bigint NOT NULL,
	"record" json NOT NULL
);
--> statement-breakpoint
CREATE TABLE "complete_documents" (
	"parent" text collate "C" NOT NULL,
	"source" text collate "C" NOT NULL,
	"document" text collate "C" NOT NULL,
	"modify_time" bigint NOT NULL,
	"modify_nanos" bigint NOT NULL,
	"revision" bigint NOT NULL,
	CONSTRAINT "complete_documents_parent_source_document_pk" PRIMARY KEY("parent","source","document")
);
--> statement-breakpoint
DROP INDEX "advisories_once";--> statement-breakpoint
ALTER TABLE "advisories" ADD COLUMN "product" text collate "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "advisories" ADD COLUMN "package_key" text collate "C" DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "advisory_events" ADD COLUMN "derived" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "advisory_records" ADD CONSTRAINT "advisory_records_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "complete_documents" ADD CONSTRAINT "complete_documents_parent_groups_uid_fk" FOREIGN KEY ("parent") REFERENCES "public"."groups"("uid") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "advisory_records_key" ON "advisory_records" USING btree ("parent","source","document","vulnerability");--> statement-breakpoint
CREATE UNIQUE INDEX "advisories_once" ON "advisories" USING btree ("parent","name","product");