// The sentences about changes in German. Names stand where they are nominative or accusative: "ein früheres Mitglied" fits both.
import type { en } from "./en.ts";

const more = "{count, plural, one {} other {: {resource} und {more} weitere}}";

/** Returns the texts of a kind of resources that are in groups. */
function inGroup<K extends string>(kind: K, one: string, several: string) {
  const what = `{count, plural, one {${one} {resource} in {group}} other {# ${several}}}`;
  return {
    [`${kind}.created`]: `{actor} hat ${what} angelegt${more}`,
    [`${kind}.updated`]: `{actor} hat ${what} geändert${more}`,
    [`${kind}.deleted`]: `{actor} hat ${what} gelöscht${more}`,
  } as Record<`${K}.${"created" | "updated" | "deleted"}`, string>;
}

export const de: Readonly<Record<keyof typeof en, string>> = {
  ...inGroup("identities", "den Workload", "Workloads"),
  ...inGroup("roles", "die Rolle", "Rollen"),
  ...inGroup("identity_providers", "den Identity-Provider", "Identity-Provider"),
  ...inGroup("repos", "das Repo", "Repos"),
  ...inGroup("tags", "den Tag", "Tags"),
  ...inGroup("advisories", "das Advisory", "Advisories"),
  ...inGroup("subscriptions", "den Webhook", "Webhooks"),
  ...inGroup("access_request_rules", "die Anfrageregel", "Anfrageregeln"),
  "groups.created": `{actor} hat {count, plural, one {die Gruppe {resource}} other {# Gruppen}} angelegt${more}`,
  "groups.updated": `{actor} hat {count, plural, one {die Gruppe {resource}} other {# Gruppen}} geändert${more}`,
  "groups.deleted": `{actor} hat {count, plural, one {die Gruppe {resource}} other {# Gruppen}} gelöscht${more}`,
  "access_requests.requested":
    "{actor} hat {count, plural, one {die Rolle {role} in {group}} other {# Rollen}} angefragt{count, plural, one {} other {: {role} und {more} weitere}}",
  "access_requests.obtained":
    "{actor} hat {count, plural, one {die Rolle {role} in {group}} other {# Rollen}} auf Anfrage bekommen{count, plural, one {} other {: {role} und {more} weitere}}",
  "access_requests.taken":
    "{actor} hat {count, plural, one {die Rolle {role} in {group}} other {# Rollen}} als Notfallzugriff genommen{count, plural, one {} other {: {role} und {more} weitere}}",
  "access_requests.acknowledged":
    "{actor} hat {count, plural, one {den Notfallzugriff von {identity} auf die Rolle {role} in {group}} other {# Notfallzugriffe}} bestätigt{count, plural, one {} other {: den von {identity} auf {role} und {more} weitere}}",
  "access_requests.approved":
    "{actor} hat {count, plural, one {die Anfrage von {identity} nach der Rolle {role} in {group}} other {# Anfragen}} befürwortet{count, plural, one {} other {: die von {identity} nach {role} und {more} weitere}}",
  "access_requests.given":
    "{actor} hat {count, plural, one {die Anfrage von {identity} nach der Rolle {role} in {group}} other {# Anfragen}} genehmigt{count, plural, one {} other {: die von {identity} nach {role} und {more} weitere}}",
  "access_requests.denied":
    "{actor} hat {count, plural, one {die Anfrage von {identity} nach der Rolle {role} in {group}} other {# Anfragen}} abgelehnt{count, plural, one {} other {: die von {identity} nach {role} und {more} weitere}}",
  "access_requests.cancelled":
    "{actor} hat {count, plural, one {die Anfrage von {identity} nach der Rolle {role} in {group}} other {# Anfragen}} zurückgezogen{count, plural, one {} other {: die von {identity} nach {role} und {more} weitere}}",
  "access_requests.ended":
    "{actor} hat {count, plural, one {die Anfrage von {identity} nach der Rolle {role} in {group}} other {# Anfragen}} beendet{count, plural, one {} other {: die von {identity} nach {role} und {more} weitere}}",
  "access_requests.deleted":
    "{actor} hat {count, plural, one {die Anfrage von {identity} nach der Rolle {role} in {group}} other {# Anfragen}} gelöscht{count, plural, one {} other {: die von {identity} nach {role} und {more} weitere}}",
  "access_requests.expired":
    "{count, plural, one {Die Anfrage von {identity} nach der Rolle {role} in {group} ist} other {# Anfragen sind}} abgelaufen{count, plural, one {} other {: die von {identity} nach {role} und {more} weitere}}",
  "access_reviews.started":
    "{actor} hat {count, plural, one {die Überprüfung {review} von {group}} other {# Überprüfungen}} begonnen{count, plural, one {} other {: {review} und {more} weitere}}",
  "access_reviews.ended":
    "{actor} hat {count, plural, one {die Überprüfung {review} von {group}} other {# Überprüfungen}} vor der Frist beendet{count, plural, one {} other {: {review} und {more} weitere}}",
  "access_reviews.closed":
    "{count, plural, one {Die Überprüfung {review} von {group} ist} other {# Überprüfungen sind}} abgeschlossen{count, plural, one {} other {: {review} und {more} weitere}}",
  "access_reviews.changed":
    "{actor} hat {count, plural, one {die Überprüfung {review} von {group}} other {# Überprüfungen}} geändert{count, plural, one {} other {: {review} und {more} weitere}}",
  "access_reviews.deleted":
    "{count, plural, one {Die Überprüfung {review} von {group} wurde} other {# Überprüfungen wurden}} gelöscht{count, plural, one {} other {: {review} und {more} weitere}}",
  "access_review_items.confirmed":
    "{actor} hat {count, plural, one {die Rolle {role} von {identity} in {place}} other {# Rollen}} bestätigt{count, plural, one {} other {: {role} von {identity} in {place} und {more} weitere}}",
  "access_review_items.revoked":
    "{actor} hat {count, plural, one {die Rolle {role} von {identity} in {place}} other {# Rollen}} entzogen{count, plural, one {} other {: {role} von {identity} in {place} und {more} weitere}}",
  "access_review_items.missed":
    "{actor} hat über {count, plural, one {die Rolle {role} von {identity} in {place}} other {# Rollen}} entschieden, die nicht mehr so {count, plural, one {ist} other {sind}} wie in der Überprüfung{count, plural, one {} other {: {role} von {identity} und {more} weitere}}",
  "role_bindings.created":
    "{actor} hat {count, plural, one {die Rolle {role} in {group} an {identity}} other {# Rollen}} vergeben{count, plural, one {} other {: {role} an {identity} und {more} weitere}}",
  "role_bindings.updated":
    "{actor} hat {count, plural, one {für {identity} die Rolle in {group} auf {role}} other {# Rollen}} geändert{count, plural, one {} other {: für {identity} auf {role} und {more} weitere}}",
  "role_bindings.deleted":
    "{actor} hat {count, plural, one {die Rolle {role} in {group} für {identity}} other {# Rollen}} entzogen{count, plural, one {} other {: {role} für {identity} und {more} weitere}}",
  "group_invites.created":
    "{actor} hat {count, plural, one {eine Einladung in {group}} other {# Einladungen}} angelegt{count, plural, one {} other {: eine in {group} und {more} weitere}}",
  "group_invites.updated":
    "{actor} hat {count, plural, one {eine Einladung in {group}} other {# Einladungen}} geändert{count, plural, one {} other {: eine in {group} und {more} weitere}}",
  "group_invites.deleted":
    "{actor} hat {count, plural, one {eine Einladung in {group}} other {# Einladungen}} gelöscht{count, plural, one {} other {: eine in {group} und {more} weitere}}",
  "external_group_role_mappings.created":
    "{actor} hat {count, plural, one {die Rolle {role} an die Gruppe {externalGroup}} other {Rollen an # Gruppen}} aus {provider} vergeben{count, plural, one {} other {: {externalGroup} und {more} weitere}}",
  "external_group_role_mappings.updated":
    "{actor} hat {count, plural, one {für die Gruppe {externalGroup} aus {provider} die Rolle auf {role}} other {die Rollen von # Gruppen aus {provider}}} geändert{count, plural, one {} other {: {externalGroup} und {more} weitere}}",
  "external_group_role_mappings.deleted":
    "{actor} hat {count, plural, one {die Rolle {role} für die Gruppe {externalGroup}} other {die Rollen von # Gruppen}} aus {provider} entzogen{count, plural, one {} other {: {externalGroup} und {more} weitere}}",
  "account_associations.created":
    "{actor} hat Cloud-Konten mit {count, plural, one {{group}} other {# Gruppen}} verbunden{count, plural, one {} other {: {group} und {more} weitere}}",
  "account_associations.updated":
    "{actor} hat die Cloud-Konten von {count, plural, one {{group}} other {# Gruppen}} geändert{count, plural, one {} other {: {group} und {more} weitere}}",
  "account_associations.deleted":
    "{actor} hat die Cloud-Konten von {count, plural, one {{group}} other {# Gruppen}} getrennt{count, plural, one {} other {: {group} und {more} weitere}}",
  "terms_acceptances.created":
    "{actor} hat {count, plural, one {Bedingungen für {group}} other {# Mal Bedingungen}} angenommen{count, plural, one {} other {: für {group} und {more} weitere}}",
  "terms_acceptances.updated":
    "{actor} hat {count, plural, one {angenommene Bedingungen für {group}} other {# Mal angenommene Bedingungen}} geändert{count, plural, one {} other {: für {group} und {more} weitere}}",
  "terms_acceptances.deleted":
    "{actor} hat {count, plural, one {angenommene Bedingungen für {group}} other {# Mal angenommene Bedingungen}} gelöscht{count, plural, one {} other {: für {group} und {more} weitere}}",
  "memberships.joined":
    "{resource} {count, plural, one {ist {group} beigetreten} other {und {more} weitere sind {group} beigetreten}}",
  "memberships.left":
    "{resource} {count, plural, one {hat {group} verlassen} other {und {more} weitere haben {group} verlassen}}",
  "memberships.removed":
    "{actor} hat {count, plural, one {{resource}} other {# Personen}} aus {group} entfernt{count, plural, one {} other {: {resource} und {more} weitere}}",
  "scim_users.created": `{actor} hat {count, plural, one {{resource}} other {# Personen}} hinzugefügt${more}`,
  "scim_users.updated": `{actor} hat {count, plural, one {{resource}} other {# Personen}} geändert${more}`,
  "scim_users.deleted": `{actor} hat {count, plural, one {{resource}} other {# Personen}} gelöscht${more}`,
  "scim_groups.created": `{actor} hat {count, plural, one {die Gruppe {resource}} other {# Gruppen}} des Verzeichnisses hinzugefügt${more}`,
  "scim_groups.updated": `{actor} hat {count, plural, one {die Gruppe {resource}} other {# Gruppen}} des Verzeichnisses geändert${more}`,
  "scim_groups.deleted": `{actor} hat {count, plural, one {die Gruppe {resource}} other {# Gruppen}} des Verzeichnisses gelöscht${more}`,
  "repo_readmes.created": `{actor} hat {count, plural, one {das Readme von {resource}} other {das Readme von # Repos}} geschrieben${more}`,
  "repo_readmes.updated": `{actor} hat {count, plural, one {das Readme von {resource}} other {das Readme von # Repos}} geändert${more}`,
  "repo_readmes.deleted": `{actor} hat {count, plural, one {das Readme von {resource}} other {das Readme von # Repos}} gelöscht${more}`,
  "image_sboms.created": `{actor} hat {count, plural, one {einem Image von {resource}} other {# Images}} eine SBOM hinzugefügt${more}`,
  "image_sboms.updated": `{actor} hat {count, plural, one {die SBOM eines Images von {resource}} other {# SBOMs von Images}} ersetzt${more}`,
  "image_sboms.deleted": `{actor} hat {count, plural, one {die SBOM eines Images von {resource}} other {# SBOMs von Images}} gelöscht${more}`,
  "image_findings.changed": `{actor} hat {count, plural, one {geänderte Befunde in Images von {resource}} other {#-mal geänderte Befunde in Images}} gefunden${more}`,
  "registry_pushes.pushed":
    "{actor} hat {count, plural, one {einen Push in {resource}} other {# Pushes}} gemeldet{count, plural, one {} other {: in {resource} und {more} weitere}}",
  "identity_trust.changed": `{actor} hat die angehefteten Namen {count, plural, one {der Identität {resource}} other {von # Identitäten}} geändert${more}`,
  "subscription_settings.changed": `{actor} hat die Einstellungen {count, plural, one {für den Webhook {resource}} other {von # Webhooks}} geändert${more}`,
  "test_events.sent":
    "{actor} hat {count, plural, one {ein Testereignis an {resource}} other {# Testereignisse}} gesendet{count, plural, one {} other {: an {resource} und {more} weitere}}",
  "redeliveries.sent":
    "{actor} hat {count, plural, one {Ereignisse an {resource}} other {# Mal Ereignisse}} erneut gesendet{count, plural, one {} other {: an {resource} und {more} weitere}}",
  "delegations.confirmed":
    "{actor} hat {count, plural, one {die Delegation {resource}} other {# Delegationen}} bestätigt{count, plural, one {} other {: {resource} und {more} weitere}}",
  "group_access_requests.asked":
    "{actor} hat Zugang zu {count, plural, one {{group}} other {# Gruppen}} beantragt{count, plural, one {} other {: {group} und {more} weitere}}",
  "sign_ins.allowed": "{actor} hat sich {count, plural, one {} other {# Mal }}angemeldet",
  "sign_ins.several": "{actor} und {more} weitere haben sich angemeldet, zusammen {count} Mal",
  "sign_ins.denied":
    "{count, plural, one {Eine Anmeldung über {resource} ist} other {# Anmeldungen über {resource} sind}} gescheitert",
  "sign_ins.omitted": "{count, plural, one {# Anmeldung ist} other {# Anmeldungen sind}} nicht aufgeführt",
  "session_ends.allowed":
    "{count, plural, one {Eine Sitzung von {resource} ist} other {# Sitzungen von {resource} sind}} beendet",
  "session_ends.denied":
    "{count, plural, one {Eine Sitzung von {resource} ist} other {# Sitzungen von {resource} sind}} beendet: Ein verbrauchtes Token wurde erneut vorgelegt",
  "session_ends.omitted":
    "{count, plural, one {Das Ende von # Sitzung ist} other {Das Ende von # Sitzungen ist}} nicht aufgeführt",
  "token_exchanges.allowed": "{actor} hat {count, plural, one {ein Token} other {# Tokens}} erhalten",
  "token_exchanges.several": "{actor} und {more} weitere haben zusammen {count} Tokens erhalten",
  "token_exchanges.denied":
    "{count, plural, one {Ein Token für {resource} wurde} other {# Tokens für {resource} wurden}} verweigert",
  "token_exchanges.omitted":
    "{count, plural, one {# Token-Austausch ist} other {# Token-Austausche sind}} nicht aufgeführt",
  "denials.allowed": "{actor} hat {method} {count, plural, one {} other {# Mal }}aufgerufen",
  "denials.denied": "{actor} durfte {method} nicht aufrufen{count, plural, one {} other {; Ablehnungen insgesamt: #}}",
  "denials.omitted":
    "{count, plural, one {# abgelehnter Aufruf ist} other {# abgelehnte Aufrufe sind}} nicht aufgeführt",
  "signing_keys.rotated": "{actor} hat den Signaturschlüssel {count, plural, one {} other {# Mal }}gewechselt",
  "signing_key_retirements.retired":
    "{actor} hat {count, plural, one {einen Signaturschlüssel} other {# Signaturschlüssel}} außer Betrieb genommen",
  "ended_sessions.ended": "{actor} hat {count, plural, one {eine Sitzung} other {# Sitzungen}} von {resource} beendet",
  "resource_exports.exported":
    "{actor} hat die Ressourcen von {resource} {count, plural, one {} other {# Mal }}exportiert",
  "seen_token_clearings.cleared":
    "{actor} hat die gesehenen Token {count, plural, one {von {resource}} other {von # Identitäten}} gelöscht",
  "client_secret_exports.exported": `{actor} hat {count, plural, one {das Client-Secret von {resource}} other {die Client-Secrets von # Identity-Providern}} exportiert${more}`,
  "other.created": "{actor} hat {count, plural, one {etwas} other {# Mal etwas}} der Art {kind} angelegt",
  "other.updated": "{actor} hat {count, plural, one {etwas} other {# Mal etwas}} der Art {kind} geändert",
  "other.deleted": "{actor} hat {count, plural, one {etwas} other {# Mal etwas}} der Art {kind} gelöscht",
  "name.server": "der Server",
  "name.notJoined": "Noch nicht beigetreten ({uid})",
  "name.formerMember": "ein früheres Mitglied",
  "name.deleted": "(gelöscht)",
  "name.deletedAs": "{name} (gelöscht)",
  "name.deletedWorkload": "(gelöschter Workload)",
  "name.deletedWorkloadAs": "{name} (gelöschter Workload)",
  "name.hidden": "(verborgen)",
};
