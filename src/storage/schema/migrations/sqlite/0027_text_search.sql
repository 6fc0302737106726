-- Texts get a number by which the full-text index knows them. Its bits above the 40th are the organization's, so that the
-- texts of one organization are one range of the table and of the index (docs/decisions/0052-text-search.md).
CREATE TABLE `__new_advisory_texts` (
	`id` integer PRIMARY KEY NOT NULL,
	`uid` text NOT NULL UNIQUE,
	`text` text NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_advisory_texts` (`id`, `uid`, `text`)
SELECT (dense_rank() OVER (ORDER BY substr(`uid`, 1, 40)) << 40) + row_number() OVER (PARTITION BY substr(`uid`, 1, 40) ORDER BY `uid`) - 1, `uid`, `text`
FROM `advisory_texts` ORDER BY `uid`;
--> statement-breakpoint
DROP TABLE `advisory_texts`;
--> statement-breakpoint
ALTER TABLE `__new_advisory_texts` RENAME TO `advisory_texts`;
--> statement-breakpoint
-- The texts are in lower case already. The index knows which texts have a trigram, not where: a search compares the texts.
CREATE VIRTUAL TABLE `advisory_text_index` USING fts5(`text`, content = 'advisory_texts', content_rowid = 'id', columnsize = 0, detail = 'none', tokenize = 'trigram case_sensitive 1');
--> statement-breakpoint
INSERT INTO `advisory_text_index` (`advisory_text_index`) VALUES ('rebuild');
--> statement-breakpoint
-- The trigrams of the index, and how many texts have each: for the check of the database.
CREATE VIRTUAL TABLE `advisory_text_trigrams` USING fts5vocab(`advisory_text_index`, 'row');
--> statement-breakpoint
-- SQLite numbers a new text behind all others. Unless the one before it is of the same organization, it moves behind the
-- organization's last text, or begins the next range.
CREATE TRIGGER `advisory_texts_insert` AFTER INSERT ON `advisory_texts` BEGIN
	UPDATE `advisory_texts` SET `id` = coalesce(
		(SELECT max(`id`) + 1 FROM `advisory_texts` WHERE `id` < (
			SELECT ((`id` >> 40) + 1) << 40 FROM `advisory_texts`
			WHERE `uid` > substr(new.`uid`, 1, 40) || '/' AND `uid` < substr(new.`uid`, 1, 40) || '0' AND `uid` <> new.`uid` LIMIT 1)),
		(((new.`id` - 1) >> 40) + 1) << 40)
	WHERE `id` = new.`id` AND substr((SELECT `uid` FROM `advisory_texts` WHERE `id` = new.`id` - 1), 1, 40) IS NOT substr(new.`uid`, 1, 40);
	INSERT INTO `advisory_text_index` (`rowid`, `text`) SELECT `id`, `text` FROM `advisory_texts` WHERE `uid` = new.`uid`;
END;
--> statement-breakpoint
CREATE TRIGGER `advisory_texts_update` AFTER UPDATE OF `text` ON `advisory_texts` BEGIN
	INSERT INTO `advisory_text_index` (`advisory_text_index`, `rowid`, `text`) VALUES ('delete', old.`id`, old.`text`);
	INSERT INTO `advisory_text_index` (`rowid`, `text`) VALUES (new.`id`, new.`text`);
END;
--> statement-breakpoint
CREATE TRIGGER `advisory_texts_delete` AFTER DELETE ON `advisory_texts` BEGIN
	INSERT INTO `advisory_text_index` (`advisory_text_index`, `rowid`, `text`) VALUES ('delete', old.`id`, old.`text`);
END;
