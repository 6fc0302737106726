// The metrics of statistics. A new metric is a line here, and a call of `DailyTally.count` where it happens.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";

/** The declaration of a metric. */
interface Metric {
  /** The counted things, for people. */
  readonly help: string;
  /** The capability that a caller needs at a group to see the count there: that for the kind in the audit log. */
  readonly capability: Capability;
  /** Whether several days are added up, or the last one counts. */
  readonly kind: "sum" | "level";
}

const {
  CAP_EVENTS_SUBSCRIPTION_CREATE: auditLog,
  CAP_EVENTS_SUBSCRIPTION_LIST: deliveries,
  CAP_ADVISORIES_LIST: advisories,
} = Capability;

/** The metrics by name. */
export const metrics = {
  sign_ins: { help: "people who signed in", capability: auditLog, kind: "sum" },
  sign_ins_failed: {
    help: "sign-ins that the organization's provider did not complete",
    capability: auditLog,
    kind: "sum",
  },
  exchanges: { help: "tokens exchanged", capability: auditLog, kind: "sum" },
  exchanges_failed: { help: "token exchanges denied", capability: auditLog, kind: "sum" },
  denials: { help: "calls denied", capability: auditLog, kind: "sum" },
  access_changes: { help: "changes of who may do what", capability: auditLog, kind: "sum" },
  changes: { help: "changes of resources of any kind", capability: auditLog, kind: "sum" },
  deliveries: { help: "events delivered to subscriptions", capability: deliveries, kind: "sum" },
  deliveries_failed: { help: "attempts to deliver that failed", capability: deliveries, kind: "sum" },
  advisories_open_critical: { help: "open advisories with a score from 9.0", capability: advisories, kind: "level" },
  advisories_open_high: { help: "open advisories with a score from 7.0 to 8.9", capability: advisories, kind: "level" },
  advisories_open_medium: {
    help: "open advisories with a score from 4.0 to 6.9",
    capability: advisories,
    kind: "level",
  },
  advisories_open_low: { help: "open advisories with a score from 0.1 to 3.9", capability: advisories, kind: "level" },
} as const satisfies Readonly<Record<string, Metric>>;

/** The name of a metric. */
export type MetricName = keyof typeof metrics;

/** Whether a text is the name of a metric. */
export function isMetric(name: string): name is MetricName {
  return Object.hasOwn(metrics, name);
}
