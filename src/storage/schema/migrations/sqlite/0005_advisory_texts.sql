-- What was found by scanning the rows is found by terms from here on.
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'advisoryIds', `name`, `uid` FROM `advisories` WHERE `name` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'legacyAdvisoryIds', `legacy_advisory_id`, `uid` FROM `advisories` WHERE `legacy_advisory_id` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'artifactNames', `artifact_name`, `uid` FROM `advisories` WHERE `artifact_name` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'artifactTypes', `artifact_type`, `uid` FROM `advisories` WHERE `artifact_type` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'artifactArchitectures', `artifact_architecture`, `uid` FROM `advisories` WHERE `artifact_architecture` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'origins', `origin`, `uid` FROM `advisories` WHERE `origin` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'componentNames', `component_name`, `uid` FROM `advisories` WHERE `component_name` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'componentTypes', `component_type`, `uid` FROM `advisories` WHERE `component_type` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'componentLocations', `component_location`, `uid` FROM `advisories` WHERE `component_location` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT 'latestEventTypes', CAST(`latest_event_type` AS text), `uid` FROM `advisories` WHERE `latest_event_type` <> 0;
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT DISTINCT 'aliases', alias.value, `uid` FROM `advisories`, json_each(`aliases`) AS alias WHERE alias.value <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT DISTINCT 'eventAuthors', `author`, `advisory_uid` FROM `advisory_events` WHERE `author` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT DISTINCT 'eventReviewers', `reviewer`, `advisory_uid` FROM `advisory_events` WHERE `reviewer` <> '';
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT DISTINCT 'eventReviewStates', CAST(`review_state` AS text), `advisory_uid` FROM `advisory_events` WHERE `review_state` <> 0;
--> statement-breakpoint
INSERT INTO `advisory_terms` (`filter`, `value`, `uid`) SELECT DISTINCT 'eventTypes', CAST(`type` AS text), `advisory_uid` FROM `advisory_events` WHERE `type` <> 0;
--> statement-breakpoint
INSERT INTO `advisory_texts` (`uid`, `text`) SELECT `uid`, `search_text` FROM `advisories`;
--> statement-breakpoint
UPDATE `advisories` SET `alias_text` = coalesce((SELECT group_concat(value, char(10)) FROM json_each(`aliases`)), '');
--> statement-breakpoint
ALTER TABLE `advisories` DROP COLUMN `search_text`;