// The schema of the chart's values. Settings come from the program: a misspelt one fails before anything is installed.
import { type Setting, settings } from "../../src/config/settings.ts";

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: "string" };
const flag: Schema = { type: "boolean" };
const anyObject: Schema = { type: "object" };
const texts: Schema = { type: "object", additionalProperties: text };
const count = (minimum: number, maximum?: number): Schema => ({
  type: "integer",
  minimum,
  ...(maximum !== undefined && { maximum }),
});
const list = (items: Schema): Schema => ({ type: "array", items });
const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...(required.length > 0 && { required }),
});

/** Settings that the chart decides, or that are not for production. */
const ownSettings = ["listen", "metrics-listen", "shutdown-delay", "drain-timeout", "tls-cert", "tls-key", "dev"];

function settingsSchema(): Schema {
  const values = (settings as readonly Setting[]).filter(({ name }) => !ownSettings.includes(name));
  const properties = values.map(({ name, isSecret, description }): [string, Schema] => [
    name,
    // A secret in the values would be in the history of the release, and in every output of `helm get values`.
    isSecret
      ? { not: {}, description: "is a secret: put its variable into existingSecret" }
      : { ...value, description },
  ]);
  return object(Object.fromEntries(properties), ["base-url"]);
}

const value: Schema = { type: ["string", "number", "boolean", "array"], items: text };

/** Returns the content of values.schema.json. */
export function valuesSchema(): string {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Values of the gatehouse chart",
    ...object(
      {
        global: anyObject,
        image: object({
          repository: { ...text, minLength: 1 },
          tag: text,
          pullPolicy: { enum: ["Always", "IfNotPresent", "Never"] },
        }),
        imagePullSecrets: list(object({ name: text }, ["name"])),
        replicas: count(1, 1000),
        settings: settingsSchema(),
        existingSecret: text,
        extraEnv: list(anyObject),
        persistence: object({ enabled: flag, size: text, storageClass: text }),
        migrationJob: object({ enabled: flag }),
        service: object({
          type: { enum: ["ClusterIP", "NodePort", "LoadBalancer"] },
          port: count(1, 65_535),
          annotations: texts,
        }),
        tls: object({ secretName: text }),
        ingress: object({
          enabled: flag,
          className: text,
          annotations: texts,
          host: { ...text, minLength: 1 },
          tlsSecretName: text,
        }),
        gateway: object({ enabled: flag, parentRefs: list(anyObject), hostnames: list(text) }),
        autoscaling: object({
          enabled: flag,
          minReplicas: count(1, 1000),
          maxReplicas: count(1, 1000),
          targetCPUUtilizationPercentage: count(1, 100),
        }),
        podDisruptionBudget: object({ enabled: flag, maxUnavailable: { type: ["integer", "string"] } }),
        metrics: object({
          port: count(1, 65_535),
          serviceMonitor: object({ enabled: flag, interval: text, labels: texts }),
          prometheusRule: object({ enabled: flag, labels: texts, runbookUrl: { ...text, pattern: "^https?://" } }),
          dashboards: object({ enabled: flag, labels: texts }),
        }),
        networkPolicy: object({
          enabled: flag,
          from: list(anyObject),
          metricsFrom: list(anyObject),
          egress: list(anyObject),
        }),
        serviceAccount: object({ create: flag, name: text, annotations: texts }),
        kubelet: object({ audienceRole: object({ enabled: flag, audience: text }) }),
        resources: anyObject,
        shutdownDelaySeconds: count(0, 600),
        drainTimeoutSeconds: count(0, 3600),
        podSecurityContext: anyObject,
        securityContext: anyObject,
        podAnnotations: texts,
        podLabels: texts,
        nodeSelector: texts,
        tolerations: list(anyObject),
        affinity: anyObject,
        topologySpreadConstraints: list(anyObject),
      },
      ["settings"],
    ),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}
