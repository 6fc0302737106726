DROP INDEX `identities_issuer_subject`;--> statement-breakpoint
CREATE INDEX `identities_issuer_subject` ON `identities` (`issuer`,`subject`,`uid`);