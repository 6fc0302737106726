// GET /gatehouse/vulnerabilities/v1/exports/GROUP_UID/FORMAT.json: all advisories of a group in the format of a scanner.
import { hash } from "node:crypto";
import { ecosystemProblem } from "../advisories/ecosystems.ts";
import { type ExportFormat, type ExportSource, exportedAdvisories } from "../advisories/exported.ts";
import { writerOf } from "../advisories/writers.ts";
import type { Losses } from "../advisories/writing.ts";
import { invalidField, resourceExhausted } from "../aip/errors.ts";
import { fromTimestamp } from "../aip/timestamps.ts";
import type { Clock } from "../base/clock.ts";
import { version } from "../base/version.ts";
import { rootOf } from "../model/uid.ts";
import type { MethodTable } from "../pipeline/method.ts";
import { settledMs } from "../storage/engine/export-states.ts";
import { detailTypes } from "../transport/error-detail-types.ts";
import type { Validators } from "../transport/http/conditional-request.ts";
import type { Endpoint, EndpointRequest } from "../transport/pages/endpoints.ts";
import { newErrorResponses } from "../transport/rest/rest-response.ts";
import { exportPages } from "./export-pages.ts";
import { type ExportRequest, parseExport } from "./export-request.ts";
import { type ExportLimits, newExportSlots } from "./export-slots.ts";

/** The dependencies of the endpoint. */
export interface ExportDeps {
  /** An export is a client of the API: each page is authorized and logged like any other call. */
  readonly methods: MethodTable;
  readonly clock: Clock;
  readonly limits: ExportLimits & { readonly gatheredAdvisories: number };
  /** The domain of ErrorInfo. */
  readonly errorDomain: string;
  /** Called after an export with the counts of data that its format cannot express. */
  readonly log: (event: { readonly format: ExportFormat; readonly lost: Readonly<Record<string, number>> }) => void;
}

/** Makes the endpoint. */
export function exportEndpoint(deps: ExportDeps): Endpoint {
  const takeSlot = newExportSlots(deps.limits);
  const errorReply = newErrorResponses(() => deps.errorDomain, detailTypes);
  const pages = exportPages(deps.methods);
  return {
    methods: ["GET", "HEAD"],
    maxBodyBytes: 0,
    async handle({ call, path, query }) {
      // This page authorizes the export. Its state is read before the exported data: an export that includes later changes has an older
      // state, so it is never taken for a newer one.
      const { request, state, changeTime } = await pages.begin(call, () => parseRequest(path, query));
      const { group, format } = request;
      const time = changeTime ? fromTimestamp(changeTime) : 0;
      return {
        status: 200,
        headers: { "content-type": "application/json", "cache-control": "private, no-cache", vary: "Authorization" },
        validators: validatorsOf(request, state, time, deps.clock()),
        open: () => ({
          close: takeSlot(rootOf(group), isGathered(format)),
          parts: write(deps, pages.source(call, group), request, time),
        }),
      };
    },
    refuse: (error) => errorReply(error, undefined),
  };
}

function parseRequest(path: string, query: EndpointRequest["query"]): ExportRequest {
  const request = parseExport(path, query);
  // Other formats name no ecosystem; they use the value as the name of a distribution.
  const problem = request.format === "osv" ? ecosystemProblem(request.options.ecosystem) : "";
  if (problem !== "") throw invalidField("ecosystem", problem);
  return request;
}

/** Writes an export, and logs the data that its format cannot express. */
async function* write(
  { limits, log }: ExportDeps,
  source: ExportSource,
  { group, format, options }: ExportRequest,
  time: number,
): AsyncGenerator<string> {
  const lost: Record<string, number> = {};
  const losses: Losses = {
    add(what) {
      lost[what] = (lost[what] ?? 0) + 1;
    },
  };
  const onKept = newCounter(limits.gatheredAdvisories);
  const all = exportedAdvisories(source, format);
  const advisories = isGathered(format) ? counted(all, onKept) : all;
  yield* writerOf(format)(advisories, { ...options, id: group, time, onKept }, losses);
  if (Object.keys(lost).length > 0) log({ format, lost });
}

/** CSAF has one entry for each CVE, secdb one for each package, so all advisories are collected first. */
function isGathered(format: ExportFormat): boolean {
  return format === "csaf" || format === "secdb";
}

/** Makes a function that throws when it is called more than `most` times. */
function newCounter(most: number): () => void {
  let count = 0;
  return () => {
    if (++count > most)
      throw resourceExhausted(`the format takes ${most} advisories; export groups below, or use the command line`);
  };
}

async function* counted<T>(items: AsyncIterable<T>, onEach: () => void): AsyncGenerator<T> {
  for await (const item of items) {
    onEach();
    yield item;
  }
}

/** RFC 9110 §8.8.3: weak, because exports of one state may differ by changes that were made while they were written. */
function validatorsOf(wanted: ExportRequest, state: string, time: number, now: number): Validators {
  const digest = hash("sha256", JSON.stringify([version, wanted, state]), "base64url").slice(0, 22);
  return { etag: `W/"${digest}"`, ...(time > 0 && time + settledMs < now && { lastModified: time }) };
}
