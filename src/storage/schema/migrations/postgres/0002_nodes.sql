CREATE TABLE "nodes" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"host_name" text collate "C" NOT NULL,
	"version" text collate "C" NOT NULL,
	"worker_count" bigint NOT NULL,
	"start_time" bigint NOT NULL,
	"last_seen_time" bigint NOT NULL
);
