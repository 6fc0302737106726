// The job of a workload that a page shows: a script, alone or in the configuration of its platform.
import path from "node:path";
import { parse } from "yaml";

/** A token that the platform gives to the job. */
interface GivenToken {
  readonly audience: string;
  /** Where the job finds it: a variable, or a file. */
  readonly variable?: string;
  readonly file?: string;
}

/** A job. */
export interface Job {
  readonly script: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly tokens: readonly GivenToken[];
}

/** Reads the job in a block: a workflow of GitHub, a job of GitLab, a pipeline of Buildkite, a pod, a CronJob, or a script. */
export function jobOf(language: string, text: string): Job {
  if (language !== "yaml") return { script: text, variables: {}, tokens: [] };
  const file = parse(text, { merge: true });
  if (file.jobs) return workflow(file);
  if (file.steps) return pipeline(file);
  if (file.kind === "CronJob") return cronJob(file.spec.jobTemplate.spec.template.spec);
  return file.kind === "Pod" ? pod(file.spec) : gitLabJob(Object.values(file)[0] as GitLabJob);
}

interface Step {
  readonly run?: string;
  readonly command?: string;
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly env?: Record<string, string>; readonly steps: readonly Step[] }>>;
}

function workflow({ permissions, jobs }: Workflow): Job {
  if (permissions["id-token"] !== "write") throw new Error("the job gets no token without id-token: write");
  const [job] = Object.values(jobs);
  return { script: job!.steps.map(({ run }) => run ?? "").join("\n"), variables: job!.env ?? {}, tokens: [] };
}

interface Pipeline {
  readonly env?: Record<string, string>;
  readonly steps: readonly Step[];
}

function pipeline({ env = {}, steps }: Pipeline): Job {
  const commands = steps.map(({ command }) => command ?? "").join("\n");
  // A single $ names a variable of the upload, which has none of those that the job sets.
  if (/(?<!\$)(?:\$\$)*\$(?!\$)/.test(commands)) throw new Error("the upload replaces what follows a single $");
  return { script: commands.replaceAll("$$", "$"), variables: env, tokens: [] };
}

interface GitLabJob {
  readonly variables?: Record<string, string>;
  readonly id_tokens: Readonly<Record<string, { readonly aud: string }>>;
  readonly script: readonly string[];
}

function gitLabJob({ variables = {}, id_tokens, script }: GitLabJob): Job {
  const tokens = Object.entries(id_tokens).map(([variable, { aud }]) => ({ variable, audience: aud }));
  return { script: script.join("\n"), variables, tokens };
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Pod {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly {
    readonly name: string;
    readonly emptyDir?: object;
    readonly projected?: {
      readonly sources: readonly {
        readonly serviceAccountToken: { readonly path: string; readonly audience: string };
      }[];
    };
  }[];
}

/** Returns the paths at which a container has the volumes of a kind, with the volumes. */
function mounts({ volumeMounts }: Container, { volumes }: Pod) {
  return volumeMounts.flatMap(({ name, mountPath }) =>
    volumes.filter((volume) => volume.name === name).map((volume) => ({ mountPath, ...volume })),
  );
}

function pod(spec: Pod): Job {
  const [container] = spec.containers;
  const { args, env } = container!;
  const mounted = mounts(container!, spec);
  const tokens = mounted.flatMap(({ mountPath, projected }) =>
    (projected?.sources ?? []).map(({ serviceAccountToken: token }) => ({
      audience: token.audience,
      file: path.join(mountPath, token.path),
    })),
  );
  // The shell has an empty folder of its own.
  const empty = mounted.filter(({ emptyDir }) => emptyDir).map(({ mountPath }) => mountPath);
  const variables = env.filter(({ value }) => !empty.includes(value)).map(({ name, value }) => [name, value]);
  return { script: args.join("\n"), variables: Object.fromEntries(variables), tokens };
}

/** Returns the job of a pod whose containers run the image of the server, one after another: their arguments are those of `gatehouse`. */
function cronJob(spec: Pod): Job {
  const commands = [...(spec.initContainers ?? []), ...spec.containers].map(
    ({ args }) => `gatehouse ${args.map((arg) => `'${arg}'`).join(" ")}`,
  );
  return { ...pod(spec), script: commands.join("\n") };
}
