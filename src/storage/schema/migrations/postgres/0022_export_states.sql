CREATE TABLE "export_states" (
	"group_uid" text collate "C" PRIMARY KEY NOT NULL,
	"state" text collate "C" NOT NULL,
	"change_time" bigint NOT NULL
);