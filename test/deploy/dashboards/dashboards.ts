// The dashboards of Grafana. Their queries are tested against a Prometheus (test/deploy/monitoring.ts).
import { dashboardOf, type Row, servers } from "./panels.ts";

const rate = (metric: string, labels = "") => `rate(${metric}{${servers}${labels && `,${labels}`}}[$__rate_interval])`;
const sumRate = (metric: string, by = "", labels = "") => `sum ${by && `by (${by}) `}(${rate(metric, labels)})`;
const quantile = (share: number, metric: string, by = "", labels = "") =>
  `histogram_quantile(${share}, sum by (${by && `${by}, `}le) (${rate(`${metric}_bucket`, labels)}))`;
const gauge = (metric: string, labels = "") => `${metric}{${servers}${labels && `,${labels}`}}`;
const ownFailures = 'code=~"INTERNAL|UNKNOWN|DATA_LOSS|UNAVAILABLE"';
const calls = "gatehouse_call_duration_seconds";
/** Endpoints outside the API, such as probes, have no service. */
const api = 'rpc_service!=""';

/** The same metric of a cache counts hits and misses. */
const hitRatio = (cache: string) => {
  const [hits, misses] = ["hits", "misses"].map((one) => sumRate(`gatehouse_${cache}_cache_${one}_total`));
  return `${hits} / (${hits} + ${misses})`;
};

const callRow: Row = {
  title: "Calls",
  graphs: [
    {
      title: "Calls by transport",
      description: "Calls of the API in a second.",
      unit: "reqps",
      queries: { "{{transport}}": sumRate(`${calls}_count`, "transport", api) },
    },
    {
      title: "Failures",
      description: "Share of calls that failed, because of the server and because of the caller.",
      unit: "percentunit",
      queries: {
        server: `(${sumRate(`${calls}_count`, "", `${api},${ownFailures}`)} or vector(0)) / ${sumRate(`${calls}_count`, "", api)}`,
        caller: `(${sumRate(`${calls}_count`, "", `${api},code!="OK",${ownFailures.replace("=~", "!~")}`)} or vector(0)) / ${sumRate(`${calls}_count`, "", api)}`,
      },
    },
    {
      title: "Latency",
      description: "Duration of calls. Points lead to the traces of single calls, if traces are collected.",
      unit: "s",
      hasExemplars: true,
      queries: {
        "99 %": quantile(0.99, calls, "", api),
        "90 %": quantile(0.9, calls, "", api),
        "50 %": quantile(0.5, calls, "", api),
      },
    },
    {
      title: "Busiest methods",
      description: "The ten methods with the most calls in a second.",
      unit: "reqps",
      queries: { "{{rpc_method}}": `topk(10, ${sumRate(`${calls}_count`, "rpc_method", api)})` },
    },
    {
      title: "Slowest methods",
      description: "The ten methods whose slowest 1 % of calls take the longest.",
      unit: "s",
      queries: { "{{rpc_method}}": `topk(10, ${quantile(0.99, calls, "rpc_method", api)})` },
    },
    {
      title: "Codes",
      description: "Calls that did not succeed, by code, in a second.",
      unit: "reqps",
      queries: { "{{code}}": sumRate(`${calls}_count`, "code", `${api},code!="OK"`) },
    },
  ],
};

const tokenRow: Row = {
  title: "Sign-ins and tokens",
  graphs: [
    {
      title: "Sign-ins",
      description: "Sign-ins of people in a minute, by outcome.",
      unit: "short",
      queries: { "{{outcome}}": `60 * ${sumRate("gatehouse_sign_ins_total", "outcome")}` },
    },
    {
      title: "Token exchanges",
      description: "Exchanges of subject tokens and of refresh tokens in a second, by outcome.",
      unit: "reqps",
      queries: {
        "exchange {{outcome}}": sumRate("gatehouse_token_exchanges_total", "outcome"),
        "refresh {{outcome}}": sumRate("gatehouse_token_refreshes_total", "outcome"),
      },
    },
    {
      title: "Rejected tokens",
      description: "Calls with an invalid token in a second: a broken client, or an attack.",
      unit: "reqps",
      queries: { rejected: sumRate("gatehouse_token_rejections_total") },
    },
    {
      title: "Age of the signing key",
      description: "How long the key that signs API tokens has been used.",
      unit: "s",
      queries: { age: `time() - max(${gauge("gatehouse_signing_key_creation_timestamp_seconds")})` },
    },
    {
      title: "Certificate",
      description: "Time until the certificate of the port expires. Empty without TLS.",
      unit: "s",
      queries: { "{{instance}}": `${gauge("gatehouse_tls_certificate_expiry_timestamp_seconds")} - time()` },
    },
  ],
};

const processRow: Row = {
  title: "Processes",
  graphs: [
    {
      title: "CPU",
      description: "Cores in use.",
      unit: "short",
      queries: { "{{instance}}": rate("process_cpu_seconds_total") },
    },
    {
      title: "Memory",
      description: "Resident memory, and the heap of JavaScript in use.",
      unit: "bytes",
      queries: {
        "{{instance}} resident": gauge("process_resident_memory_bytes"),
        "{{instance}} heap": gauge("nodejs_heap_size_used_bytes"),
      },
    },
    {
      title: "Delay of the event loop",
      description: "Above 100 ms a server is overloaded. With several workers, their mean.",
      unit: "s",
      queries: { "{{instance}}": gauge("nodejs_eventloop_lag_p99_seconds") },
    },
    {
      title: "Garbage collection",
      description: "Share of the time.",
      unit: "percentunit",
      queries: { "{{instance}}": `sum by (instance) (${rate("nodejs_gc_duration_seconds_sum")})` },
    },
    {
      title: "File descriptors",
      description: "Share of those that a process may open.",
      unit: "percentunit",
      queries: { "{{instance}}": `${gauge("process_open_fds")} / ${gauge("process_max_fds")}` },
    },
    {
      title: "Limits met",
      description: "Connections and requests in a second that were rejected or ended because of a limit.",
      unit: "reqps",
      queries: { "{{limit}}": sumRate("gatehouse_limits_met_total", "limit") },
    },
    {
      title: "Versions",
      description: "Servers by version.",
      unit: "short",
      queries: { "{{version}}": `count by (version) (${gauge("gatehouse_build_info")})` },
    },
    {
      title: "Forwarded calls",
      description: "Calls that write, in workers that forward them to the first one. Empty without such workers.",
      unit: "reqps",
      queries: { "{{result}}": sumRate("gatehouse_forwarded_calls_total", "result") },
    },
  ],
};

const statements = "gatehouse_database_statement_duration_seconds";
const transactions = "gatehouse_database_transaction_duration_seconds";

const databaseRow: Row = {
  title: "Database",
  graphs: [
    {
      title: "Statements",
      description: "Statements in a second.",
      unit: "ops",
      queries: { "{{kind}}": sumRate(`${statements}_count`, "kind") },
    },
    {
      title: "Duration of statements",
      description: "On PostgreSQL with the wait for a connection.",
      unit: "s",
      queries: {
        "99 % {{kind}}": quantile(0.99, statements, "kind"),
        "50 % {{kind}}": quantile(0.5, statements, "kind"),
      },
    },
    {
      title: "Duration of commits",
      description: "Of transactions that write, from the request until the commit was durable.",
      unit: "s",
      queries: {
        "99 %": quantile(0.99, transactions, "", 'outcome="committed"'),
        "50 %": quantile(0.5, transactions, "", 'outcome="committed"'),
      },
    },
    {
      title: "Transactions",
      description:
        "Transactions that write, in a second. Failed ones are mostly requests that break a rule; those that only validate are rolled back.",
      unit: "ops",
      queries: { "{{outcome}}": sumRate(`${transactions}_count`, "outcome") },
    },
    {
      title: "Connections",
      description: "Of the pool for PostgreSQL. Empty on SQLite.",
      unit: "short",
      queries: {
        "{{state}}": `sum by (state) (${gauge("gatehouse_database_connections")})`,
        pending: `sum(${gauge("gatehouse_database_connections_pending")})`,
        "at most": `sum(${gauge("gatehouse_database_connections_max")})`,
      },
    },
    {
      title: "Size",
      description: "Of the database with its indexes.",
      unit: "bytes",
      queries: { size: `max(${gauge("gatehouse_database_size_bytes")})` },
    },
  ],
};

const cacheRow: Row = {
  title: "Caches and standbys",
  graphs: [
    {
      title: "Cache hits",
      description: "Share of lookups that a cache answered.",
      unit: "percentunit",
      queries: { tokens: hitRatio("token"), grants: hitRatio("grant"), reads: hitRatio("read") },
    },
    {
      title: "Cache entries",
      description: "Verified tokens, identities with their role bindings, rows and list pages.",
      unit: "short",
      queries: { "{{cache}}": `sum by (cache) (${gauge("gatehouse_cache_entries")})` },
    },
    {
      title: "Size of cached rows and pages",
      description: "Each process may have 8 MiB.",
      unit: "bytes",
      queries: { "{{instance}}": gauge("gatehouse_read_cache_bytes") },
    },
    {
      title: "Lists from standbys",
      description:
        "Lists in a second that a standby answered, and those that the primary answered in its place, by reason.",
      unit: "reqps",
      queries: {
        standby: sumRate("gatehouse_replica_reads_total"),
        "primary: {{reason}}": sumRate("gatehouse_replica_fallbacks_total", "reason"),
      },
    },
  ],
};

const eventRow: Row = {
  title: "Events",
  graphs: [
    {
      title: "Deliveries",
      description: "Attempts in a second, by outcome.",
      unit: "ops",
      queries: { "{{outcome}}": sumRate("gatehouse_event_deliveries_total", "outcome") },
    },
    {
      title: "Waiting deliveries",
      description: "Of all subscriptions.",
      unit: "short",
      queries: { waiting: `max(${gauge("gatehouse_event_queue_deliveries")})` },
    },
    {
      title: "Age",
      description:
        "Of the oldest event that a subscription lacks, and of the oldest change that was not made into events.",
      unit: "s",
      queries: {
        "oldest event": `max(${gauge("gatehouse_event_queue_age_seconds")})`,
        "dispatch lag": `max(${gauge("gatehouse_event_dispatch_lag_seconds")})`,
      },
    },
  ],
};

/** Returns the dashboards as JSON, by the name of their file. */
export function dashboards(): Readonly<Record<string, string>> {
  return {
    "gatehouse.json": dashboardOf("gatehouse", "Gatehouse", "Calls, sign-ins, tokens and processes of the servers.", [
      callRow,
      tokenRow,
      processRow,
    ]),
    "gatehouse-storage.json": dashboardOf(
      "gatehouse-storage",
      "Gatehouse: storage and events",
      "Database, caches, standbys and event deliveries of the servers.",
      [databaseRow, cacheRow, eventRow],
    ),
  };
}
