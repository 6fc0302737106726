// Serves the API of OSV.dev (https://google.github.io/osv.dev/api/) over the advisories that the caller may see.
import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import {
  type BatchQueryVulnerabilitiesRequest,
  type GetVulnerabilityRequest,
  type OsvQuery,
  OsvService,
  type QueryVulnerabilitiesRequest,
  QueryVulnerabilitiesRequestSchema,
} from "../../../../gen/gatehouse/vulnerabilities/v1/osv_pb.ts";
import { commitPackage, type QueriedPackage, readPackage } from "../../../advisories/queries/package.ts";
import { notFound } from "../../../aip/errors.ts";
import { newViolations, type Violations } from "../../../aip/violations.ts";
import { mapSliced, nextSlice } from "../../../base/slices.ts";
import { scopeOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { allExpensive } from "../../../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { queryDigest } from "../../../resource/bound-page-token.ts";
import { selectSources } from "../../../resource/selection.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import type { Source } from "../../../storage/list/list-rows.ts";
import { newOsvRecords, type OsvHead } from "./osv-records.ts";
import { newBudget, type Search, type SearchPage, searchPackage } from "./package-search.ts";
import { newSearchTokens } from "./search-tokens.ts";

/** The maximum number of vulnerabilities per query, as in OSV.dev. */
const mostVulnerabilities = 1000;

/** The maximum number of vulnerabilities per batch, as in OSV.dev. */
const mostOfBatch = 3000;

/** The method whose page tokens both methods use. */
const { queryVulnerabilities: single } = OsvService.method;
const continuing = { path: `/${OsvService.typeName}/${single.name}`, descriptor: single };

type Asked = Pick<OsvQuery, "commit" | "version" | "package">;

/** Serves OSV queries. */
export function osvApi(context: ServiceContext): Implementation {
  const tokens = newSearchTokens(context, "osv");

  function contextOf(call: Call, { commit, version, package: named }: Asked, parent: string): string {
    const asked = { commit, version, parent, ...(named && { package: named }) };
    return queryDigest(call, create(QueryVulnerabilitiesRequestSchema, asked), continuing);
  }

  const handlers: Handlers<typeof OsvService> = {
    async queryVulnerabilities(request: QueryVulnerabilitiesRequest, call) {
      const violations = newViolations();
      const asked = readAsked(request, "", violations);
      violations.throwIfAny();
      const boundTo = contextOf(call, request, request.parent);
      const after = tokens.parse(request.pageToken, boundTo, "page_token");
      const sources = sourcesOf(call, request.parent);
      const records = newOsvRecords({ sources, ecosystem: asked!.ecosystem, now: context.clock() });
      const search = { database: context.database, sources, asked: asked!, after };
      const found = await searchPackage(search, mostVulnerabilities, newBudget(), records.of);
      return { vulns: [...found.items] as JsonObject[], nextPageToken: tokens.format(found.next, boundTo) };
    },

    async batchQueryVulnerabilities({ queries, parent }: BatchQueryVulnerabilitiesRequest, call) {
      const violations = newViolations();
      const asked = await mapSliced(queries, (query, i) => readAsked(query, `queries[${i}].`, violations));
      violations.throwIfAny();
      const contexts = await mapSliced(queries, (query) => contextOf(call, query, parent));
      const searches = await mapSliced(asked, (each, i) => ({
        asked: each!,
        after: tokens.parse(queries[i]!.pageToken, contexts[i]!, `queries[${i}].page_token`),
      }));
      const found = await searchBatch(context, sourcesOf(call, parent), searches);
      const results = await mapSliced(found, ({ items, next }, i) => ({
        vulns: [...items],
        nextPageToken: tokens.format(next, contexts[i]!),
      }));
      return { results };
    },

    async getVulnerability({ id, parent }: GetVulnerabilityRequest, call) {
      const records = newOsvRecords({ sources: sourcesOf(call, parent), ecosystem: "", now: context.clock() });
      const record = await context.database.read((session) => records.get(id, session));
      if (!record) throw notFound("gatehouse.dev/Vulnerability", id);
      return fromJson(StructSchema, record as JsonObject);
    },
  };
  return implement(OsvService, allExpensive(handlers));
}

/** Runs the searches of a batch, which share one limit and one budget. */
async function searchBatch(
  { database, clock }: ServiceContext,
  sources: Source[],
  searches: readonly Pick<Search, "asked" | "after">[],
) {
  const budget = newBudget();
  const results: SearchPage<OsvHead>[] = [];
  let room = mostOfBatch;
  for (const each of searches) {
    await nextSlice();
    const records = newOsvRecords({ sources, ecosystem: each.asked.ecosystem, now: clock() });
    const limit = Math.min(mostVulnerabilities, room);
    const found = await searchPackage({ database, sources, ...each }, limit, budget, records.headsOf);
    room -= found.items.length;
    results.push(found);
  }
  return results;
}

function sourcesOf(call: Call, parent: string): Source[] {
  const below = { ancestorsOf: "", descendantsOf: parent, childrenOf: "", inRoot: false, ids: [] };
  return selectSources(scopeOf(call), below, { includesGranted: false, includesRoots: false });
}

function readAsked({ commit, version, package: named }: Asked, path: string, violations: Violations) {
  if (commit !== "") {
    if (version !== "") violations.add(`${path}version`, "must be empty if commit is set");
    return commitPackage(commit);
  }
  if (!named) return void violations.add(`${path}package`, "is required unless commit is set");
  const { purl, ecosystem, name } = named;
  const found: QueriedPackage | ReturnType<typeof readPackage> = readPackage({ purl, ecosystem, name, version });
  if (!("field" in found)) return found;
  violations.add(`${path}${found.field === "version" ? "" : "package."}${found.field}`, found.description);
  return undefined;
}
