// The metrics of the caches and of replicas.
import type { Tokens } from "../../authn/tokens.ts";
import type { Policy } from "../../authz/policy.ts";
import type { Metrics } from "../../observe/metrics.ts";
import type { Database } from "../../storage/database.ts";

/** Registers hits and misses of the caches, and what became of the lists that replicas may answer. */
export function measureCaches(metrics: Metrics, tokens: Tokens, policy: Policy, { cache, replicas }: Database): void {
  metrics.counter(
    "gatehouse_token_cache_hits_total",
    "Tokens answered by the cache of verified tokens.",
    () => tokens.counters.hits,
  );
  metrics.counter(
    "gatehouse_token_cache_misses_total",
    "Tokens that had to be verified.",
    () => tokens.counters.misses,
  );
  metrics.counter("gatehouse_token_rejections_total", "Tokens that were refused.", () => tokens.counters.rejections);
  metrics.counter("gatehouse_grant_cache_hits_total", "Grants answered by the cache.", () => policy.hits);
  metrics.counter("gatehouse_grant_cache_misses_total", "Grants that had to be read.", () => policy.misses);
  metrics.counter("gatehouse_read_cache_hits_total", "Rows and pages of lists answered from memory.", () => cache.hits);
  metrics.counter(
    "gatehouse_read_cache_misses_total",
    "Rows and pages of lists that had to be read.",
    () => cache.misses,
  );
  metrics.gauges({ name: "gatehouse_cache_entries", help: "Entries of the caches.", combined: "sum" }, "cache", () => ({
    grant: policy.entries,
    read: cache.entries,
    token: tokens.cachedResults,
  }));
  metrics.gauge(
    { name: "gatehouse_read_cache_bytes", help: "Approximate size of cached rows and pages.", combined: "sum" },
    () => cache.bytes,
  );
  metrics.counter("gatehouse_replica_reads_total", "Lists answered by a replica.", () => replicas?.reads ?? 0);
  metrics.counters(
    "gatehouse_replica_fallbacks_total",
    "Lists answered by the primary in place of a replica.",
    "reason",
    () => replicas?.fallbacks ?? {},
  );
}
