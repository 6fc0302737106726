// The words that people type, and those of the API.

/** Words that say nothing about what somebody looks for. */
export const stopWords: ReadonlySet<string> = new Set(
  (
    "a an and are as at be by can do does for from has have how i in is it may me my of on or that the their this to somebody someone anybody anyone what when which who with " +
    "alle darf das dem den der die ein eine einen für ich ist kann man mein mit und von was welche wer wie wo zu"
  ).split(" "),
);

/** Words and phrases that find the same. */
export const synonyms: readonly (readonly string[])[] = [
  ["delete", "remove", "revoke", "destroy", "drop", "löschen", "entfernen", "entziehen"],
  ["create", "add", "new", "make", "anlegen", "erstellen", "neu", "hinzufügen"],
  ["list", "find", "show", "get", "search", "read", "suchen", "finden", "zeigen", "anzeigen", "lesen"],
  ["update", "change", "edit", "modify", "rename", "set", "ändern", "bearbeiten", "umbenennen"],
  ["role binding", "grant", "assignment"],
  ["create role binding", "give a role", "rolle geben"],
  ["capability", "capabilities", "permission", "right", "privilege", "recht"],
  ["person", "people", "user", "member", "leute", "personen", "mitglied", "benutzer"],
  ["identity", "identities", "workload", "service account", "robot", "machine", "identität"],
  ["group", "folder", "organization", "organisation", "team", "tenant", "gruppe"],
  ["repo", "repository", "repositories", "image"],
  ["tag", "image version"],
  ["subscription", "webhook", "hook", "callback", "sink", "abonnement"],
  ["list changes", "audit", "audit log", "who changed", "history", "protokoll"],
  ["advisory", "advisories", "vulnerability", "vulnerabilities", "cve", "osv", "schwachstelle"],
  ["exchange", "sts", "get a token", "assume"],
  ["invite", "invitation", "einladen", "einladung"],
  ["identity provider", "idp", "sso", "oidc", "sign in provider", "anmeldung"],
  ["account association", "aws", "azure", "gcp", "google cloud", "cloud account"],
  ["off board", "remove member", "has left"],
  ["redeliver", "resend", "send again", "replay"],
  ["statistics", "metrics", "chart", "counts per day", "statistik"],
  ["export", "backup", "back up", "sichern"],
  ["apply", "declare", "terraform", "infrastructure as code"],
];

/** Questions that a method answers whatever they are about, as it is called in its service. */
export const questions: readonly { readonly phrases: readonly string[]; readonly method: string }[] = [
  { phrases: ["who can", "who may", "who has", "who is allowed", "wer kann", "wer darf"], method: "WhoCan" },
  { phrases: ["what can", "what may", "where can", "was kann", "was darf"], method: "WhatCan" },
  { phrases: ["why", "am i allowed", "can i", "may i", "denied", "warum", "darf ich"], method: "ExplainAccess" },
];
