// The catalogue is split by view: a view's texts are loaded with it.

/** A file in `en/` and in `de/` for each view. `shell` has what the frame and several views use. */
interface Catalogues {
  readonly access: typeof import("./en/access.ts");
  readonly advisories: typeof import("./en/advisories.ts");
  readonly audit: typeof import("./en/audit.ts");
  readonly bulk: typeof import("./en/bulk.ts");
  readonly capabilities: typeof import("./en/capabilities.ts");
  readonly delegations: typeof import("./en/delegations.ts");
  readonly errors: typeof import("./en/errors.ts");
  readonly events: typeof import("./en/events.ts");
  readonly frame: typeof import("./en/frame.ts");
  readonly groups: typeof import("./en/groups.ts");
  readonly identities: typeof import("./en/identities.ts");
  readonly images: typeof import("./en/images.ts");
  readonly me: typeof import("./en/me.ts");
  readonly operate: typeof import("./en/operate.ts");
  readonly overview: typeof import("./en/overview.ts");
  readonly people: typeof import("./en/people.ts");
  readonly profile: typeof import("./en/profile.ts");
  readonly reference: typeof import("./en/reference.ts");
  readonly registry: typeof import("./en/registry.ts");
  readonly requests: typeof import("./en/requests.ts");
  readonly reviews: typeof import("./en/reviews.ts");
  readonly roles: typeof import("./en/roles.ts");
  readonly shell: typeof import("./en/shell.ts");
  readonly trust: typeof import("./en/trust.ts");
}

/** The name of a part of the catalogue. */
export type Catalogue = keyof Catalogues;

/** The id of a text. */
export type TextId = { [C in Catalogue]: keyof Catalogues[C]["texts"] }[Catalogue];

/** ICU messages (https://unicode-org.github.io/icu/userguide/format_parse/messages/) by id. */
export type Messages = Readonly<Record<string, string>>;
