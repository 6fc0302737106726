CREATE TABLE `nodes` (
	`id` text PRIMARY KEY NOT NULL,
	`host_name` text NOT NULL,
	`version` text NOT NULL,
	`worker_count` integer NOT NULL,
	`start_time` integer NOT NULL,
	`last_seen_time` integer NOT NULL
) STRICT, WITHOUT ROWID;
