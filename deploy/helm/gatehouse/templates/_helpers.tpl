{{- define "gatehouse.name" -}}
{{- if contains "gatehouse" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-gatehouse" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: gatehouse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gatehouse.testSelector" -}}
app.kubernetes.io/name: gatehouse-ready
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gatehouse.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "gatehouse.name" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "gatehouse.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Settings that the chart itself decides come first; those of the values win. */ -}}
{{- define "gatehouse.settings" -}}
{{- $own := dict
  "listen" "[::]:8080"
  "metrics-listen" (printf "[::]:%v" .Values.metrics.port)
  "data-dir" "/var/lib/gatehouse"
  "shutdown-delay" .Values.shutdownDelaySeconds
  "drain-timeout" .Values.drainTimeoutSeconds
-}}
{{- if .Values.migrationJob.enabled }}{{ $own = set $own "migrate" (ternary "auto" "off" .Values.persistence.enabled) }}{{ end -}}
{{- if .Values.tls.secretName }}{{ $own = merge $own (dict "tls-cert" "/etc/gatehouse/tls/tls.crt" "tls-key" "/etc/gatehouse/tls/tls.key") }}{{ end -}}
{{- toJson (mergeOverwrite $own .Values.settings) }}
{{- end }}

{{- define "gatehouse.env" -}}
{{- range $name, $value := include "gatehouse.settings" . | fromJson }}
- name: GATEHOUSE_{{ $name | upper | replace "-" "_" }}
  {{- if kindIs "slice" $value }}
  value: {{ join "," $value | quote }}
  {{- else }}
  value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
  {{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "gatehouse.envFrom" -}}
{{- with .Values.existingSecret }}
envFrom:
  - secretRef:
      name: {{ . }}
{{- end }}
{{- end }}

