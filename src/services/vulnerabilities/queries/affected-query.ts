import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { UIDPFilter } from "../../../../gen/chainguard/platform/common/uidp_pb.ts";
import {
  AdvisoryQueryService,
  type AffectedAdvisorySchema,
  type AffectedStatementSchema,
  type BatchQueryAffectedRequest,
  type PackageQuery,
  type QueryAffectedRequest,
  QueryAffectedRequestSchema,
  type QueryAffectedResponseSchema,
} from "../../../../gen/gatehouse/vulnerabilities/v1/query_pb.ts";
import { RecordFormat } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { Finding } from "../../../advisories/queries/finding.ts";
import { type QueriedPackage, readPackage } from "../../../advisories/queries/package.ts";
import { effectivePageSize } from "../../../aip/pagination.ts";
import { newViolations, type Violations } from "../../../aip/violations.ts";
import { mapSliced, nextSlice } from "../../../base/slices.ts";
import { scopeOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { allExpensive } from "../../../pipeline/expensive.ts";
import { type Handlers, type Implementation, implement } from "../../../pipeline/handlers.ts";
import { queryDigest } from "../../../resource/bound-page-token.ts";
import { selectSources } from "../../../resource/selection.ts";
import type { ServiceContext } from "../../../resource/service-context.ts";
import type { AdvisoryRow } from "../../../storage/vulnerabilities/rows.ts";
import { advisoryLimits } from "../limits.ts";
import { type FoundAdvisory, newBudget, searchPackage } from "./package-search.ts";
import { newSearchTokens } from "./search-tokens.ts";

type Response = MessageInitShape<typeof QueryAffectedResponseSchema>;

/** The method whose page tokens both methods use. */
const { queryAffected: single } = AdvisoryQueryService.method;
const continuing = { path: `/${AdvisoryQueryService.typeName}/${single.name}`, descriptor: single };

/** Serves queries for advisories that affect package versions. */
export function affectedQuery(context: ServiceContext): Implementation {
  const tokens = newSearchTokens(context, "affected");

  function contextOf(call: Call, query: PackageQuery | undefined, uidp: UIDPFilter | undefined): string {
    const asked = { ...(query && { query }), ...(uidp && { uidp }) };
    return queryDigest(call, create(QueryAffectedRequestSchema, asked), continuing);
  }

  const handlers: Handlers<typeof AdvisoryQueryService> = {
    async queryAffected({ query, uidp, pageSize, pageToken }: QueryAffectedRequest, call): Promise<Response> {
      const violations = newViolations();
      const limit = effectivePageSize(pageSize, violations);
      const asked = query && readAsked(query, "query", violations);
      violations.throwIfAny();
      const boundTo = contextOf(call, query, uidp);
      const after = tokens.parse(pageToken, boundTo, "page_token");
      const search = { database: context.database, sources: sourcesOf(call, uidp), asked: asked!, after };
      const { items, next } = await searchPackage(search, limit, newBudget(), (found) => [toAffected(found)]);
      return { advisories: [...items], nextPageToken: tokens.format(next, boundTo) };
    },

    async batchQueryAffected({ queries, uidp }: BatchQueryAffectedRequest, call) {
      const violations = newViolations();
      const asked = await mapSliced(queries, (query, i) => readAsked(query, `queries[${i}]`, violations));
      violations.throwIfAny();
      const sources = sourcesOf(call, uidp);
      const budget = newBudget();
      const results: Response[] = [];
      for (const [i, each] of asked.entries()) {
        await nextSlice();
        const search = { database: context.database, sources, asked: each!, after: undefined };
        const limit = advisoryLimits.search.advisories;
        const { items, next } = await searchPackage(search, limit, budget, (found) => [toAffected(found)]);
        const nextPageToken = next ? tokens.format(next, contextOf(call, queries[i], uidp)) : "";
        results.push({ advisories: [...items], nextPageToken });
      }
      return { results };
    },
  };
  return implement(AdvisoryQueryService, allExpensive(handlers));
}

function sourcesOf(call: Call, uidp: UIDPFilter | undefined) {
  return selectSources(scopeOf(call), uidp, { includesGranted: false, includesRoots: false });
}

function readAsked(query: PackageQuery, path: string, violations: Violations): QueriedPackage | undefined {
  const found = readPackage(query);
  if (!("field" in found)) return found;
  violations.add(`${path}.${found.field}`, found.description);
  return undefined;
}

function toAffected({ row, answer }: FoundAdvisory): MessageInitShape<typeof AffectedAdvisorySchema> {
  const { status, fixedVersions, isUncertain, findings } = answer;
  return {
    uid: row.uid,
    advisoryId: row.name,
    aliases: row.aliases,
    status,
    fixedVersions: [...fixedVersions],
    vulnerability: vulnerabilityOf(row, findings),
    uncertain: isUncertain,
    statements: findings.map(toStatement),
  };
}

/** Formats whose records have an id of their own, with the ids of the vulnerability as aliases. */
const knownByAlias: readonly RecordFormat[] = [RecordFormat.API, RecordFormat.YAML];

/** Returns the id of the vulnerability that an advisory is about, as its sources name it. */
export function vulnerabilityOf({ name, aliases }: AdvisoryRow, findings: readonly Finding[]): string {
  const said = findings.find(({ record }) => !knownByAlias.includes(record.format))?.record.vulnerability;
  return said ?? aliases[0] ?? name;
}

function toStatement(finding: Finding): MessageInitShape<typeof AffectedStatementSchema> {
  const { record, statement, status, fixedVersions, isUncertain } = finding;
  const { source, document, format, modifyTime } = record;
  const { product, release, subcomponents, justification, action } = statement;
  return {
    source,
    document,
    format,
    release,
    subcomponents,
    status,
    justification,
    action,
    ...(modifyTime && { modifyTime }),
    ...(product && { product }),
    fixedVersions: [...fixedVersions],
    uncertain: isUncertain,
    severities: statement.severities.length > 0 ? statement.severities : record.severities,
  };
}
