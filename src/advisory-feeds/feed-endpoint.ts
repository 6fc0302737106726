// Serves feeds: authorization, conditional requests, slots, and the log of what a format cannot express.
import { hash } from "node:crypto";
import type { ExportFormat } from "../advisories/exported.ts";
import { fromTimestamp } from "../aip/timestamps.ts";
import type { Clock } from "../base/clock.ts";
import { version } from "../base/version.ts";
import { rootOf } from "../model/uid.ts";
import type { MethodTable } from "../pipeline/method.ts";
import { settledMs } from "../storage/engine/export-states.ts";
import { detailTypes } from "../transport/error-detail-types.ts";
import type { Validators } from "../transport/http/conditional-request.ts";
import type { Endpoint } from "../transport/pages/endpoints.ts";
import { newErrorResponses } from "../transport/rest/rest-response.ts";
import { exportPages } from "./export-pages.ts";
import { type ExportLimits, newExportSlots } from "./export-slots.ts";
import type { Feed, FeedInput, ParseFeed } from "./feed.ts";

/** The dependencies of the endpoints. */
export interface FeedDeps {
  /** A feed is a client of the API: each page is authorized and logged like any other call. */
  readonly methods: MethodTable;
  readonly clock: Clock;
  readonly limits: ExportLimits;
  /** The domain of ErrorInfo. */
  readonly errorDomain: string;
  /** Called after a response with the counts of data that its format cannot express. */
  readonly log: (event: { readonly format: ExportFormat; readonly lost: Readonly<Record<string, number>> }) => void;
}

/** Makes endpoints, which share the slots, from the parsers of their requests. */
export function feedEndpoints({ methods, clock, limits, errorDomain, log }: FeedDeps): (parse: ParseFeed) => Endpoint {
  const takeSlot = newExportSlots(limits);
  const errorReply = newErrorResponses(() => errorDomain, detailTypes);
  const pages = exportPages(methods);
  return (parse) => ({
    methods: ["GET", "HEAD"],
    maxBodyBytes: 0,
    async handle({ call, path, query }) {
      // This page authorizes the export. Its state is read before the exported data: an export that includes later changes has an older
      // state, so it is never taken for a newer one.
      const { request: feed, state, changeTime } = await pages.begin(call, () => parse(path, query));
      const { group, slot, contentType } = feed;
      const time = changeTime ? fromTimestamp(changeTime) : 0;
      return {
        status: 200,
        headers: { "content-type": contentType, "cache-control": "private, no-cache", vary: "Authorization" },
        validators: validatorsOf(feed, state, time, clock()),
        open: () => ({
          close: slot === "none" ? () => {} : takeSlot(rootOf(group), slot === "gathered"),
          parts: write(feed, { source: pages.source(call, group), time }, log),
        }),
      };
    },
    refuse: (error) => errorReply(error, undefined),
  });
}

/** Writes a feed, and logs the data that its format cannot express. */
async function* write(
  feed: Feed,
  input: Omit<FeedInput, "losses">,
  log: FeedDeps["log"],
): AsyncGenerator<string | Uint8Array> {
  const lost: Record<string, number> = {};
  const losses: FeedInput["losses"] = {
    add(what) {
      lost[what] = (lost[what] ?? 0) + 1;
    },
  };
  yield* feed.write({ ...input, losses });
  if (Object.keys(lost).length > 0) log({ format: feed.format, lost });
}

/** RFC 9110 §8.8.3: weak, because responses of one state may differ by changes that were made while they were written. */
function validatorsOf({ description }: Feed, state: string, time: number, now: number): Validators {
  const digest = hash("sha256", JSON.stringify([version, description, state]), "base64url").slice(0, 22);
  return { etag: `W/"${digest}"`, ...(time > 0 && time + settledMs < now && { lastModified: time }) };
}
