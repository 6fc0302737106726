// What the wizard asks for each kind of workload, and what becomes of it. The claims are those that the providers document.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { dayMs } from "../../api/durations.ts";
import type { TextId } from "../../texts/catalogues.ts";

type Relationship = NonNullable<MessageInitShape<typeof IdentitySchema>["relationship"]>;

/** A field of the second step. */
export interface WizardField {
  readonly name: string;
  readonly text: TextId;
  readonly placeholder: string;
  /** The field of the API that violations name; absent if the value is a part of several. */
  readonly api?: string;
  /** Whether it may stay empty. */
  readonly isOptional?: boolean;
  /** The value at the beginning. */
  readonly initial?: string;
}

/** The values of the fields. */
export type Values = Readonly<Record<string, string>>;

/** A kind of workload. */
export interface WizardKind {
  readonly id: string;
  /** A proper name, which is not translated; absent for static keys. */
  readonly name?: string;
  readonly fields: readonly WizardField[];
  readonly relationshipOf: (values: Values) => Relationship;
  /** The file or the commands to copy. */
  readonly guideOf: (about: { readonly uid: string; readonly url: string; readonly values: Values }) => string;
}

/** Escapes a text for RE2, in which patterns are written. */
function literal(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

function claims(
  issuer: string,
  subject: { readonly literal: string } | { readonly pattern: string },
  { audience = "", further = {} }: { readonly audience?: string; readonly further?: Values } = {},
): Relationship {
  return {
    case: "claimMatch",
    value: {
      iss: { case: "issuer", value: issuer },
      sub:
        "literal" in subject
          ? { case: "subject", value: subject.literal }
          : { case: "subjectPattern", value: subject.pattern },
      ...(audience !== "" && { aud: { case: "audience" as const, value: audience } }),
      claims: further,
    },
  };
}

/** The commands that exchange a token in a file, and use the result. */
function loginCommands(file: string, { uid, url }: { readonly uid: string; readonly url: string }): string[] {
  return [
    `gatehouse auth login --url ${url} --identity-token ${file} --identity ${uid}`,
    `gatehouse iam groups list --url ${url}`,
  ];
}

const github: WizardKind = {
  id: "github",
  name: "GitHub Actions",
  fields: [
    { name: "repo", text: "wizard.githubRepo", placeholder: "acme/app" },
    { name: "branch", text: "wizard.branch", placeholder: "main", isOptional: true },
    { name: "environment", text: "wizard.environment", placeholder: "production", isOptional: true },
  ],
  relationshipOf({ repo = "", branch = "", environment = "" }) {
    const issuer = "https://token.actions.githubusercontent.com";
    // Subjects of newer repositories have numbers of the owner and the repository, as in repo:acme@12/app@34. Both forms match.
    const start = `repo:${repo.split("/").map(literal).join("(@[0-9]+)?/")}(@[0-9]+)?`;
    const further = { repository: repo, ...(branch !== "" && { ref: `refs/heads/${branch}` }) };
    // A job with an environment has it in the subject in place of the branch, with its colons escaped.
    const name = literal(environment.replaceAll(":", "%3A"));
    if (environment !== "") return claims(issuer, { pattern: `${start}:environment:${name}` }, { further });
    const ref = branch === "" ? ".*" : `ref:refs/heads/${literal(branch)}`;
    return claims(issuer, { pattern: `${start}:${ref}` }, { further });
  },
  guideOf: (about) =>
    [
      "permissions:",
      "  id-token: write",
      "jobs:",
      "  deploy:",
      "    runs-on: ubuntu-latest",
      ...(about.values.environment ? [`    environment: ${about.values.environment}`] : []),
      "    steps:",
      "      - run: |",
      '          curl -sS -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\',
      `            "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${about.url}" | jq -r .value > id-token`,
      ...loginCommands("id-token", about).map((line) => `          ${line}`),
    ].join("\n"),
};

const gitlab: WizardKind = {
  id: "gitlab",
  name: "GitLab CI",
  fields: [
    {
      name: "issuer",
      text: "wizard.gitlabUrl",
      placeholder: "https://gitlab.com",
      initial: "https://gitlab.com",
      api: "issuer",
    },
    { name: "project", text: "wizard.gitlabProject", placeholder: "acme/app" },
    { name: "branch", text: "wizard.branch", placeholder: "main", isOptional: true },
    { name: "environment", text: "wizard.environment", placeholder: "production", isOptional: true },
  ],
  relationshipOf({ issuer = "", project = "", branch = "", environment = "" }) {
    return claims(
      issuer,
      branch === ""
        ? { pattern: `project_path:${literal(project)}:ref_type:.*` }
        : { literal: `project_path:${project}:ref_type:branch:ref:${branch}` },
      { further: environment === "" ? {} : { environment } },
    );
  },
  guideOf: (about) =>
    [
      "deploy:",
      ...(about.values.environment ? [`  environment: ${about.values.environment}`] : []),
      "  id_tokens:",
      "    GATEHOUSE_ID_TOKEN:",
      `      aud: ${about.url}`,
      "  script:",
      '    - printf %s "$GATEHOUSE_ID_TOKEN" > id-token',
      ...loginCommands("id-token", about).map((line) => `    - ${line}`),
    ].join("\n"),
};

const kubernetes: WizardKind = {
  id: "kubernetes",
  name: "Kubernetes",
  fields: [
    { name: "issuer", text: "wizard.clusterIssuer", placeholder: "https://oidc.cluster.example.com", api: "issuer" },
    { name: "namespace", text: "wizard.namespace", placeholder: "default" },
    { name: "account", text: "wizard.serviceAccount", placeholder: "app" },
  ],
  relationshipOf: ({ issuer = "", namespace = "", account = "" }) =>
    claims(issuer, { literal: `system:serviceaccount:${namespace}:${account}` }),
  guideOf: (about) =>
    [
      "# of the pod",
      `serviceAccountName: ${about.values.account}`,
      "containers:",
      "  - name: app",
      "    volumeMounts:",
      "      - {name: gatehouse, mountPath: /var/run/gatehouse}",
      "volumes:",
      "  - name: gatehouse",
      "    projected:",
      "      sources:",
      `        - serviceAccountToken: {path: id-token, audience: "${about.url}", expirationSeconds: 3600}`,
      "# in the container",
      ...loginCommands("/var/run/gatehouse/id-token", about).map((line) => `# ${line}`),
    ].join("\n"),
};

const aws: WizardKind = {
  id: "aws",
  name: "AWS",
  fields: [
    { name: "account", text: "wizard.awsAccount", placeholder: "123456789012", api: "aws_account" },
    { name: "role", text: "wizard.awsRole", placeholder: "build" },
  ],
  relationshipOf: ({ account = "", role = "" }) => ({
    case: "awsIdentity",
    value: {
      awsAccount: account,
      awsArn: { case: "arnPattern", value: `arn:aws:sts::${literal(account)}:assumed-role/${literal(role)}/.*` },
      // The id of a role, which begins with AROA, and the name of the session.
      awsUserId: { case: "userIdPattern", value: "AROA[A-Z0-9]+:.*" },
    },
  }),
  guideOf: (about) =>
    [
      "python3 - <<'SCRIPT' > signed-request",
      "# With the credentials of the role. Needs boto3.",
      "import base64, boto3",
      "from botocore.auth import SigV4Auth",
      "from botocore.awsrequest import AWSRequest",
      'target = "/?Action=GetCallerIdentity&Version=2011-06-15"',
      "headers = {",
      '    "Host": "sts.amazonaws.com",',
      '    "Accept": "application/json",',
      `    "Chainguard-Audience": "${about.url}",`,
      `    "Chainguard-Identity": "${about.uid}",`,
      "}",
      'request = AWSRequest("POST", "https://sts.amazonaws.com" + target, headers=headers)',
      'SigV4Auth(boto3.Session().get_credentials(), "sts", "us-east-1").add_auth(request)',
      'lines = [f"POST {target} HTTP/1.1"] + [f"{name}: {value}" for name, value in request.headers.items()]',
      'text = "\\r\\n".join(lines + ["", ""])',
      "print(base64.urlsafe_b64encode(text.encode()).decode())",
      "SCRIPT",
      ...loginCommands("signed-request", about),
    ].join("\n"),
};

const google: WizardKind = {
  id: "google",
  name: "Google Cloud",
  fields: [{ name: "account", text: "wizard.googleAccount", placeholder: "112233445566778899000", api: "subject" }],
  relationshipOf: ({ account = "" }) => claims("https://accounts.google.com", { literal: account }),
  guideOf: (about) =>
    [
      'curl -sS -H "Metadata-Flavor: Google" \\',
      `  "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity?audience=${about.url}" > id-token`,
      ...loginCommands("id-token", about),
    ].join("\n"),
};

const azure: WizardKind = {
  id: "azure",
  name: "Azure",
  fields: [
    { name: "tenant", text: "wizard.azureTenant", placeholder: "00000000-0000-0000-0000-000000000000", api: "issuer" },
    { name: "object", text: "wizard.azureObject", placeholder: "00000000-0000-0000-0000-000000000000", api: "subject" },
    { name: "audience", text: "wizard.azureAudience", placeholder: "api://gatehouse", api: "audience" },
  ],
  relationshipOf: ({ tenant = "", object = "", audience = "" }) =>
    claims(`https://sts.windows.net/${tenant}/`, { literal: object }, { audience }),
  guideOf: (about) =>
    [
      "curl -sS -H Metadata:true \\",
      `  "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${encodeURIComponent(about.values.audience ?? "")}" | jq -r .access_token > id-token`,
      ...loginCommands("id-token", about),
    ].join("\n"),
};

const buildkite: WizardKind = {
  id: "buildkite",
  name: "Buildkite",
  fields: [
    { name: "organization", text: "wizard.buildkiteOrganization", placeholder: "acme" },
    { name: "pipeline", text: "wizard.buildkitePipeline", placeholder: "app" },
    { name: "branch", text: "wizard.branch", placeholder: "main", isOptional: true },
  ],
  relationshipOf({ organization = "", pipeline = "", branch = "" }) {
    const ref = branch === "" ? ".*" : `refs/heads/${literal(branch)}`;
    const start = `organization:${literal(organization)}:pipeline:${literal(pipeline)}`;
    return claims("https://agent.buildkite.com", { pattern: `${start}:ref:${ref}:commit:.*` });
  },
  guideOf: (about) =>
    [
      "steps:",
      "  - command: |",
      `      buildkite-agent oidc request-token --audience ${about.url} > id-token`,
      ...loginCommands("id-token", about).map((line) => `      ${line}`),
    ].join("\n"),
};

const staticKey: WizardKind = {
  id: "key",
  fields: [
    { name: "issuer", text: "wizard.keyIssuer", placeholder: "https://keys.example.com", api: "issuer" },
    { name: "subject", text: "wizard.keySubject", placeholder: "build", api: "subject" },
    { name: "days", text: "wizard.keyDays", placeholder: "90", initial: "90", api: "expiration_time" },
  ],
  relationshipOf: ({ issuer = "", subject = "", days = "", issuerKeys = "" }) => {
    const endMs = Date.now() + Number(days) * dayMs;
    return {
      case: "staticKeys",
      value: {
        issuer,
        subject,
        issuerKeys,
        ...(Number.isFinite(endMs) && { expirationTime: { seconds: BigInt(Math.floor(endMs / 1000)), nanos: 0 } }),
      },
    };
  },
  guideOf: (about) =>
    [
      "# Sign a JSON Web Token with the key that you have downloaded:",
      `# ${JSON.stringify({ iss: about.values.issuer, sub: about.values.subject, aud: about.url })} and iat, exp`,
      ...loginCommands("token.jwt", about),
    ].join("\n"),
};

/** The kinds, in the order in which the wizard offers them. */
export const wizardKinds: readonly WizardKind[] = [
  github,
  gitlab,
  kubernetes,
  aws,
  google,
  azure,
  buildkite,
  staticKey,
];
