// Feeds: what the server sends of the advisories of a group, such as a document in one format or an archive.
import type { ExportFormat, ExportSource } from "../advisories/exported.ts";
import type { PackageSource } from "../advisories/openvex/by-package.ts";
import type { Losses } from "../advisories/writing.ts";
import type { BodyStream } from "../transport/http/send-stream.ts";
import type { EndpointRequest } from "../transport/pages/endpoints.ts";

/** A requested feed. */
export interface Feed {
  /** The uid of the group, not validated yet. */
  readonly group: string;
  /** The format in which advisories are written; what it cannot express is logged. */
  readonly format: ExportFormat;
  /** All on which the content depends besides the advisories. Feeds of one state with equal descriptions have the same entity tag. */
  readonly description: object;
  readonly contentType: string;
  /** The slot that a response takes: `none` for one that reads no advisories, `gathered` for one that keeps something of all of them. */
  readonly slot: "none" | "streamed" | "gathered";
  /** Writes the content. The advisories can be read several times. */
  write(input: FeedInput): BodyStream["parts"];
}

/** The sources of a feed. */
export interface FeedInput {
  readonly source: ExportSource & PackageSource;
  /** The time of the last change, in milliseconds since the epoch; 0 before the first. */
  readonly time: number;
  readonly losses: Losses;
}

/** Parses the request of a feed. Throws NOT_FOUND and INVALID_ARGUMENT. */
export type ParseFeed = (path: string, query: EndpointRequest["query"]) => Feed;
