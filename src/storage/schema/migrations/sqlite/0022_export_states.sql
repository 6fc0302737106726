CREATE TABLE `export_states` (
	`group_uid` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`change_time` integer NOT NULL
) STRICT, WITHOUT ROWID;