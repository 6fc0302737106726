CREATE TABLE "name_words" (
	"root" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"word" text collate "C" NOT NULL,
	"tail" text collate "C" NOT NULL,
	CONSTRAINT "name_words_root_kind_word_tail_pk" PRIMARY KEY("root","kind","word","tail")
);
--> statement-breakpoint
CREATE INDEX "name_words_person" ON "name_words" USING btree ("tail") WHERE "name_words"."kind" = 'people';