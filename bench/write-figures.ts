// Writes the recorded figures into the rows of docs/design/performance.md.
import { readFileSync, writeFileSync } from "node:fs";
import { figuresPage, withRecordedFigures } from "./figures.ts";

writeFileSync(figuresPage, withRecordedFigures(readFileSync(figuresPage, "utf8")));
