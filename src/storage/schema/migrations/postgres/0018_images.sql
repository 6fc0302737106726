CREATE TABLE "image_children" (
	"parent" bigint NOT NULL,
	"child" bigint NOT NULL,
	CONSTRAINT "image_children_parent_child_pk" PRIMARY KEY("parent","child")
);
--> statement-breakpoint
CREATE TABLE "image_packages" (
	"image" bigint NOT NULL,
	"package" bigint NOT NULL,
	"sources" bigint NOT NULL,
	CONSTRAINT "image_packages_image_package_pk" PRIMARY KEY("image","package")
);
--> statement-breakpoint
CREATE TABLE "image_queue" (
	"image" bigint PRIMARY KEY NOT NULL,
	"due_time" bigint,
	"attempts" bigint NOT NULL,
	"error" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "image_sboms" (
	"image" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"source" bigint NOT NULL,
	"digest" text collate "C" NOT NULL,
	"media_type" text collate "C" NOT NULL,
	"format" text collate "C" NOT NULL,
	"tool" text collate "C" NOT NULL,
	"size" bigint NOT NULL,
	"signed" boolean NOT NULL,
	"packages" bigint NOT NULL,
	"reasons" json NOT NULL,
	"error" text collate "C" NOT NULL,
	"content" text collate "C",
	"create_time" bigint NOT NULL,
	CONSTRAINT "image_sboms_image_name_pk" PRIMARY KEY("image","name")
);
--> statement-breakpoint
CREATE TABLE "images" (
	"no" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "images_no_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"repo_uid" text collate "C" NOT NULL,
	"digest" text collate "C" NOT NULL,
	"architecture" text collate "C" NOT NULL,
	"contents" bigint NOT NULL,
	"create_time" bigint NOT NULL,
	"read_time" bigint,
	"gone_time" bigint
);
--> statement-breakpoint
CREATE TABLE "package_findings" (
	"package" bigint NOT NULL,
	"advisory_uid" text collate "C" NOT NULL,
	"group_uid" text collate "C" NOT NULL,
	"status" bigint NOT NULL,
	"vulnerability" text collate "C" NOT NULL,
	"fixed_versions" json NOT NULL,
	"uncertain" boolean NOT NULL,
	"justification" text collate "C" NOT NULL,
	"first_known_time" bigint NOT NULL,
	CONSTRAINT "package_findings_package_advisory_uid_pk" PRIMARY KEY("package","advisory_uid")
);
--> statement-breakpoint
CREATE TABLE "package_keys" (
	"key" bigint NOT NULL,
	"package" bigint NOT NULL,
	CONSTRAINT "package_keys_key_package_pk" PRIMARY KEY("key","package")
);
--> statement-breakpoint
CREATE TABLE "packages" (
	"no" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "packages_no_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"organization" text collate "C" NOT NULL,
	"purl" text collate "C" NOT NULL,
	"evaluator" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "image_children_child" ON "image_children" USING btree ("child","parent");--> statement-breakpoint
CREATE INDEX "image_packages_package" ON "image_packages" USING btree ("package","image");--> statement-breakpoint
CREATE INDEX "image_queue_due" ON "image_queue" USING btree ("due_time");--> statement-breakpoint
CREATE UNIQUE INDEX "images_once" ON "images" USING btree ("repo_uid","digest");--> statement-breakpoint
CREATE INDEX "images_gone" ON "images" USING btree ("gone_time") WHERE "images"."gone_time" is not null;--> statement-breakpoint
CREATE INDEX "package_findings_advisory" ON "package_findings" USING btree ("advisory_uid","package");--> statement-breakpoint
CREATE INDEX "package_keys_package" ON "package_keys" USING btree ("package","key");--> statement-breakpoint
CREATE UNIQUE INDEX "packages_once" ON "packages" USING btree ("organization","purl");--> statement-breakpoint
CREATE INDEX "packages_evaluator" ON "packages" USING btree ("evaluator","no");