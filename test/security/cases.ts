// The security cases: a sentence for each code that names of tests and comments in src cite. coverage.test.ts lists their tests.

/** The rule of each security case, by its code. The letter is the topic, as the headings below say. */
export const securityCases = {
  // Verification of access tokens. Every invalid token is UNAUTHENTICATED.
  T1: "An unsigned token is rejected, whether its algorithm is `none` in any spelling or its signature is empty.",
  T2: "A public key of the server does not work as an HMAC secret.",
  T3: "Keys and key addresses in a token's header are ignored, and nothing is fetched from them.",
  T4: "A token is valid only for an audience of this server, and a server without issuer and audiences does not start.",
  T5: "The issuer of a token is compared byte by byte with that of the server.",
  T6: "A token is valid only between its times, which must be present, numbers and in a sensible range.",
  T7: "A refresh token, an invite code or a provider's ID token is not accepted as an access token.",
  T8: "A token that was cut, extended or encoded in another way is rejected.",
  T9: "An oversized token is rejected before the server spends time or memory on it.",
  T10: "Encrypted and compressed tokens (JWE) are not supported.",
  T11: "Claims that repeat a member, or hold NUL or half a surrogate pair, are rejected or ignored.",
  T12: "A flood of unknown key ids causes at most one read of the keys per cool-down.",
  T13: "After a key rotation the old key verifies until the overlap ends, and a key id is bound to one algorithm.",
  T14: "A credential is read from one Authorization header with the expected scheme only, never from the query.",
  T15: "A token loses its access when its binding or identity is deleted: at once on this server, within a second on others.",

  // Discovery of issuers and their keys.
  J1: "An issuer's URL cannot lead to another host than the one that its pattern names.",
  J2: "Only issuers that an identity or provider names are contacted, and private addresses only if the operator allows them.",
  J3: "Redirects are not followed, and the address of the keys is checked like that of the issuer.",
  J4: "A connection goes to the address that was checked, and one bad address of a host rejects them all.",
  J5: "The time, size, encoding and number of keys of an issuer's response are limited.",
  J6: "A discovery document must name the issuer that was asked for.",
  J7: "An issuer's URL has no query, no fragment, no user information and only one spelling.",
  J8: "Weak, invalid or unsuitable keys in a key set are ignored.",
  J9: "Cached keys serve while their issuer is down; each issuer has one request in flight, with back-off after failures.",

  // Token exchange.
  X1: "A token is exchanged only for an identity, and within an organization, that trusts its issuer.",
  X2: "An exchange needs exactly one credential, and never falls back to another identity than the named or the only matching one.",
  X3: "An exchanged token never gives more than the identity's grants and the limits of the request and of the token exchanged.",
  X4: "A subject token that has expired, or no longer matches the changed identity, is not exchanged.",
  X5: "A refresh checks everything again that allowed the sign-in.",
  X6: "A narrowed token limits writes as well as reads, and reaches nothing outside of groups.",
  X7: "Invites, device codes and authorization codes can be used once.",
  X8: "Authorization codes and refresh tokens work only for the client that they were issued to.",
  X9: "Only configured audiences are issued, and an exchange must name one.",
  X10: "Without an audience of its own, an identity accepts only tokens that were issued for this server.",
  X11: "Email addresses count only if they are verified by a trusted issuer, and are compared exactly.",
  X12: "A secret of one kind, such as an invite code, is unknown wherever another kind is expected.",
  X13: "A static key of one identity signs nothing for another, even of the same issuer.",
  X14: "Responses with tokens are not cached, and credentials are read from the header alone.",

  // Patterns and claims of identities.
  M1: "The anchors of a pattern apply to each of its alternatives.",
  M2: "A pattern matches whole values, including a line feed at the end.",
  M3: "An issuer pattern that can match hosts other than those written is rejected.",
  M4: "Matching takes linear time, and patterns are limited in size, steps and syntax.",
  M5: "Subjects are compared byte by byte: case, Unicode form and spaces count.",
  M6: "An identity has either a value or a pattern for each claim, and neither may be empty.",
  M7: "Numbers and booleans are compared by their JSON text, and an absent claim never matches.",
  M8: "Pattern characters in the claims of a token have no meaning.",

  // Roles, bindings, invites and imports.
  R1: "Nobody adds a capability to a role that they do not hold themselves.",
  R2: "A caller gives away only capabilities held at that group, whether by a binding, an invite or a trusted issuer.",
  R3: "A batch with one denied item writes nothing.",
  R4: "An invite gives no more than its maker holds, to the address that it names, and until it expires.",
  R5: "The update of a binding cannot reach another organization's role, a missing identity or another group.",
  R6: "A role of another organization, or the uid of another kind of resource, cannot be bound or imported.",
  R7: "Built-in roles are known by uid: a similar name gives nothing.",
  R8: "An import of bundles gives nobody more than the importer holds.",
  R9: "Nobody changes or deletes built-in roles.",
  R10: "An organization keeps its last owner, and the deletion of an identity leaves no binding behind.",
  R11: "The change of an identity to another kind is checked like a creation, and no outside token assumes a service principal.",
  R12: "Uids are never used again, so old tokens and bindings stay invalid.",

  // Tenancy and hierarchy.
  I1: "Foreign resources are denied with the same bytes whether or not they exist.",
  I2: "Only whole segments make an ancestor: a uid that merely begins like another is not below it.",
  I3: "A uid has one form, and every other spelling is invalid.",
  I4: "A grant reaches its group and the groups below, but not its ancestors and siblings.",
  I5: "Filters never show or count foreign rows.",
  I6: "A role or identity that the caller may not read is shown by uid only, also in errors and in the order of lists.",
  I7: "Errors, sizes and times do not reveal whether a hidden resource exists.",
  I8: "Batch, apply and import decide like the single call.",
  I9: "Every method has an access rule, or the server does not start.",
  I10: "Access is decided by the resolved method, and unknown paths are rejected.",

  // Lists: pages, order and filters.
  P1: "A page token's MAC is checked before its content is read.",
  P2: "A changed or cut page token is an invalid argument.",
  P3: "A page token works only for its caller, method, filter and order.",
  P4: "Only an intact page token that has expired restarts a list.",
  P5: "Totals count visible rows only.",
  P6: "Lists are ordered by allowed fields only, and the error names them.",
  P7: "Page sizes and skips outside of their range are rejected or limited as documented.",
  P8: "Pages lose and repeat no row that stays, while others come and go.",
  P9: "Large skips and long filters take limited time.",

  // Bodies, masks and JSON.
  F1: "Fields that only the server or its operators set are ignored or rejected in requests.",
  F2: "An update mask has known paths, `*` or nothing, and a limited number of paths.",
  F3: "The path names the resource to update, regardless of the body.",
  F4: "Deep, long and oversized JSON is rejected within limited memory, and only after the token was checked.",
  F5: "Invalid JSON, numbers, types and encodings are rejected alike every time.",
  F6: "Member names such as `__proto__` do not touch any prototype.",
  F7: "Names and descriptions obey their rules, without control or invisible characters.",
  F8: "A body without a JSON content type changes nothing.",
  F9: "A body above the limit is rejected, never shortened.",
  F10: "Markup and links in texts cannot run anything in a page.",

  // HTTP and routing.
  H1: "A path is decoded once, and dot segments and double slashes are rejected.",
  H2: "Routes are resolved by their templates alone, with literals before wildcards.",
  H3: "Override headers and bodies of GET are ignored, and TRACE and CONNECT are rejected.",
  H4: "Addresses in responses come from the configuration, and forwarding headers count from trusted proxies only.",
  H5: "Ambiguous or malformed HTTP messages are rejected, and over HTTP/1 the connection closes.",
  H6: "Metadata of a request never identifies its caller, and malformed metadata is rejected.",
  H7: "Other origins get no CORS headers unless they are allowed.",
  H8: "No cache may store responses of the API.",

  // Denial of service.
  D1: "A client that resets HTTP/2 streams rapidly loses its connection and harms no other.",
  D2: "Endless, oversized or expanding headers are rejected within limited memory.",
  D3: "Floods of HTTP/2 control frames close their connection.",
  D4: "Bodies in tiny pieces are taken within limited memory, or cut off.",
  D5: "Compressed and malformed messages cannot exceed the memory limit.",
  D6: "Slow and idle clients are disconnected after their time-out.",
  D7: "Keep-alive pings of an idle client do not close its connection.",
  D8: "Invalid credentials, expensive keys and watches are limited for each client, without harm to others.",
  D9: "The work for one client is limited and linear: in bindings, depth, pipelined requests and unread responses.",
  D10: "No handler blocks the event loop for long.",
  D11: "While storage is locked or full, writes fail with a retryable error, reads go on and nothing is lost.",

  // Logs, errors and secrets.
  L1: "No secret is in a log, a metric, the change log or an error.",
  L2: "Values from requests cannot forge lines of the log.",
  L3: "Errors show no internals, only the id of the request.",
  L4: "An explanation of access reveals nothing that the caller may not read.",
  L5: "Metrics and probes show neither arguments nor environment, and are closed to strangers.",
  L6: "Every call has one line in the log, with its caller, transport and result.",
  L7: "A client secret can be written, but never read.",

  // Delivery of events.
  W1: "Events go to public addresses only, unless the operator allows others.",
  W2: "A slow, failing or hostile sink is retried with back-off and delays no other.",
  W3: "Each delivery is signed for its receiver, group and content.",
  W4: "A subscription receives the events of its subtree, and none after its deletion.",
  W5: "Events are delivered at least once and in order, also after a crash.",

  // Keys and entropy.
  C1: "Secrets are compared in constant time.",
  C2: "Files with secrets belong to their owner alone, and a key that others can read is rejected.",
  C3: "Codes and secrets have at least 128 random bits.",
  C4: "TLS below 1.2 and weak cipher suites are rejected.",
  C5: "There is no default password or owner in production.",

  // Concurrency.
  Q1: "A deletion and a concurrent creation leave no orphan.",
  Q2: "No check that starts after a revocation returned is allowed.",
  Q3: "Of many concurrent acceptances of one invite, one succeeds.",
  Q4: "Equal requests at the same time create one resource.",
  Q5: "Keys of the authorization cache cannot collide.",
  Q6: "After a crash, a batch is there as a whole or not at all.",

  // Configuration and operation.
  O1: "An unknown flag stops the start and suggests the nearest one.",
  O2: "The development mode listens on loopback only.",
  O3: "The start states enforcement, listener, storage and issuer.",
  O4: "A restored backup gives the same lists, and its tokens stay valid.",
  O5: "A private key that is published somewhere is not accepted.",
  O6: "A server does not start under another issuer than that of its data, unless a setting accepts it.",
} as const;
