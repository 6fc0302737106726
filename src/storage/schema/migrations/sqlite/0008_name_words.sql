CREATE TABLE `name_words` (
	`root` text NOT NULL,
	`kind` text NOT NULL,
	`word` text NOT NULL,
	`tail` text NOT NULL,
	PRIMARY KEY(`root`, `kind`, `word`, `tail`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `name_words_person` ON `name_words` (`tail`) WHERE `kind` = 'people';