// Writes the golden table of routes; what changes in it is to be read in review.
import { writeFileSync } from "node:fs";
import { formatRoutes, goldenFile } from "./routes.ts";

writeFileSync(goldenFile, await formatRoutes());
