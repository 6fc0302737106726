// Forms for the standard token endpoint, each with one thing that makes it malformed.

const grantPrefix = "urn:ietf:params:oauth:grant-type:";
const typePrefix = "urn:ietf:params:oauth:token-type:";

/** A request that must be rejected. */
export interface MalformedForm {
  /** The fault, as a part of a sentence. */
  readonly what: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
}

/** The values with which well-formed requests are made. */
export interface WellFormed {
  /** The base URL. */
  readonly audience: string;
  /** A token that is accepted. */
  readonly token: string;
  /** The uid of the identity that accepts it. */
  readonly identity: string;
}

type Fields = Readonly<Record<string, string>>;

const formType = { "content-type": "application/x-www-form-urlencoded" };

/** Returns the required fields of a well-formed request with each grant. */
export function wellFormed({ token, identity }: WellFormed): readonly Fields[] {
  const client = { client_id: identity };
  return [
    {
      grant_type: `${grantPrefix}token-exchange`,
      subject_token: token,
      subject_token_type: `${typePrefix}jwt`,
      ...client,
    },
    { grant_type: `${grantPrefix}jwt-bearer`, assertion: token, ...client },
    {
      grant_type: "client_credentials",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: token,
      ...client,
    },
  ];
}

/** Escapes of percent-encoding that stand for no text. */
const brokenEscapes = ["%", "%z", "%zz", "%ff", "%c3%28", "%ed%a0%80"];

/** Values that a required field must not have. */
const wrongValues: Fields = {
  "an empty value": "",
  "a space": " ",
  "a NUL": "\0",
  "a line break": "a\r\nb",
  "a quotation mark": '"',
  "an invisible character": "\u202e",
  "another word": "constructor",
  "5,000 characters": "x".repeat(5_000),
};

/** Values that optional fields must not have. */
const wrongOptions: Readonly<Record<string, Fields>> = {
  client_id: {
    "a name": "ci",
    "a path": "../../etc/passwd",
    "a NUL": "\0",
    "a line break at its end": "IDENTITY\n",
    "upper case": "A".repeat(40),
    "41 digits": "0".repeat(41),
    "5,000 characters": "0".repeat(5_000),
    "the uid of no identity": "0".repeat(40),
  },
  client_secret: { "a secret": "s3cret" },
  audience: {
    "another server": "https://elsewhere.example",
    "a space": " ",
    "a NUL": "\0",
    "its own with a fragment": "AUDIENCE#a",
    "no address": "%%%",
  },
  resource: { "another server": "https://elsewhere.example", "no address": "../", "a NUL": "\0" },
  scope: {
    "a scope of OpenID": "openid",
    "a word of an object": "__proto__",
    "an invisible character": "groups.list \u202e",
    "a quotation mark": 'groups.list"',
    "a NUL": "groups.list\0",
    "a uid that is too long": `${"0".repeat(41)}`,
    "1,000 scopes": Array.from({ length: 1_000 }, (_, i) => `s${i}`).join(" "),
  },
};

/** Values that only fields of the token exchange must not have. */
const wrongExchanges: Readonly<Record<string, readonly string[]>> = {
  subject_token_type: [
    `${typePrefix}saml1`,
    `${typePrefix}saml2`,
    `${typePrefix}refresh_token`,
    `${typePrefix}access_token`,
    `${typePrefix}JWT`,
    "jwt",
  ],
  requested_token_type: [`${typePrefix}id_token`, `${typePrefix}refresh_token`, `${typePrefix}saml2`, "jwt"],
  actor_token: ["a.b.c", "a"],
};

const grantTypes = [
  "password",
  "authorization_code",
  "refresh_token",
  "implicit",
  "token-exchange",
  "CLIENT_CREDENTIALS",
];

const authorizations: Fields = {
  "another scheme": "Bearer a.b.c",
  "a scheme alone": "Basic",
  "no base64": "Basic !!!",
  "no colon": `Basic ${btoa("client")}`,
  "a client secret": `Basic ${btoa("client:s3cret")}`,
  "a broken escape": `Basic ${btoa("%zz:")}`,
  "another client": `Basic ${btoa(`${"1".repeat(40)}:`)}`,
  "a digest": 'Digest username="a"',
};

const contentTypes = [
  "application/json",
  "text/plain",
  "multipart/form-data; boundary=x",
  "application/xml",
  "application/x-www-form-urlencoded-data",
];

/** Bodies that have nothing of a form. */
const otherBodies: Fields = {
  nothing: "",
  "an array": "[]",
  "2,000 parameters without a grant": Array.from({ length: 2_000 }, (_, i) => `a${i}=b`).join("&"),
  "only separators": "&&&&",
  "only a NUL": "\0",
};

/** Returns the text of a form, with each value escaped once. */
function textOf(fields: Fields | readonly (readonly [string, string])[]): string {
  const entries = Array.isArray(fields) ? fields : Object.entries(fields as Fields);
  return entries.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
}

/** Returns all malformed forms, the same at each run but for the token. */
export function malformedForms(values: WellFormed): MalformedForm[] {
  const others = Object.entries(otherBodies).map(([what, body]) => ({ what, body, headers: formType, query: "" }));
  const formsOfGrants = wellFormed(values).flatMap((fields) => {
    const grant = fields.grant_type!.replace(grantPrefix, "");
    const form = (what: string, body: MalformedForm["body"], headers: Fields = formType, query = "") => ({
      what: `${grant}: ${what}`,
      body,
      headers,
      query,
    });
    const changed = (name: string, what: string, value: string) =>
      form(`${name} is ${what}`, textOf({ ...fields, [name]: filled(value, values) }));
    const text = textOf(fields);
    return [
      ...Object.keys(fields).flatMap((name) => withField(name, fields, form)),
      ...requiredOf(fields).flatMap((name) =>
        Object.entries(wrongValues).map(([what, value]) => changed(name, what, value)),
      ),
      ...Object.entries(wrongOptions).flatMap(([name, wrong]) =>
        Object.entries(wrong).map(([what, value]) => changed(name, what, value)),
      ),
      ...(grant === "token-exchange" ? Object.entries(wrongExchanges) : []).flatMap(([name, wrong]) =>
        wrong.map((value) => changed(name, value, value)),
      ),
      ...grantTypes.map((value) => changed("grant_type", value, value)),
      ...Object.entries(authorizations).map(([what, authorization]) =>
        form(`the credentials are ${what}`, text, { ...formType, authorization }),
      ),
      ...contentTypes.map((type) => form(`its content type is ${type}`, text, { "content-type": type })),
      ...queriesOf(fields).map(([what, query]) => form(what, text, formType, query)),
      ...bodiesOf(fields).map(([what, body]) => form(what, body)),
    ];
  });
  return [...others, ...formsOfGrants];
}

function requiredOf(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => name !== "client_id");
}

/** Returns a value with the real audience and uid in it. */
function filled(value: string, { audience, identity }: WellFormed): string {
  return value.replace("AUDIENCE", audience).replace("IDENTITY", identity);
}

/** Returns forms in which one field is left out, misspelt, repeated, or has broken escapes. */
function withField(
  name: string,
  fields: Fields,
  form: (what: string, body: string) => MalformedForm,
): readonly MalformedForm[] {
  const { [name]: value = "", ...others } = fields;
  const isRequired = name !== "client_id";
  const misspelt = { ...others, [name.toUpperCase()]: value };
  return [
    ...(isRequired
      ? [form(`${name} is left out`, textOf(others)), form(`${name} is in capitals`, textOf(misspelt))]
      : []),
    form(`${name} is given twice`, `${textOf(fields)}&${textOf({ [name]: value })}`),
    form(`${name} is given twice, first empty`, `${name}=&${textOf(fields)}`),
    ...brokenEscapes.map((broken) => form(`${name} has ${broken}`, `${textOf(others)}&${name}=${value}${broken}`)),
  ];
}

/** Returns queries that an otherwise well-formed request must not have. */
function queriesOf(fields: Fields): readonly (readonly [what: string, query: string])[] {
  const secrets = ["subject_token", "assertion", "client_assertion", "access_token"];
  const token = fields.subject_token ?? fields.assertion ?? fields.client_assertion ?? "";
  return [
    ...secrets.map((name) => [`a token is in the query as ${name}`, `?${textOf({ [name]: token })}`] as const),
    ["the whole form is in the query", `?${textOf(fields)}`],
    ["the query has an unknown parameter", "?a=b"],
    ["the identity is twice in the query", `?identity=${fields.client_id}&identity=${fields.client_id}`],
    ["the query has another identity", `?identity=${"1".repeat(40)}`],
    ["the query has a broken escape", "?identity=%zz"],
  ];
}

/** Returns bodies that are not a form, or more than one. */
function bodiesOf(fields: Fields): readonly (readonly [what: string, body: MalformedForm["body"]])[] {
  const text = textOf(fields);
  return [
    ["it is JSON", JSON.stringify(fields)],
    ["it is separated by semicolons", text.replaceAll("&", ";")],
    ["it is there twice", `${text}&${text}`],
    ["it begins with a byte order mark", `\ufeff${text}`],
    ["its names are escaped twice", text.replaceAll("_", "%255f")],
    ["it is not UTF-8", Buffer.concat([Buffer.from(`${text}&a=`), Buffer.from([0xff, 0xfe])])],
    ["it is UTF-16", Buffer.from(text, "utf16le")],
    ["it is XML", `<?xml version="1.0"?><form>${text.replaceAll("&", "&amp;")}</form>`],
    ["it has 70,000 characters", `${text}&a=${"x".repeat(70_000)}`],
  ];
}
