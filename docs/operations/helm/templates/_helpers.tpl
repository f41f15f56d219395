{{- define "gluepot.name" -}}
{{- $name := .Release.Name }}
{{- if not (contains "gluepot" $name) }}{{ $name = printf "%s-gluepot" $name }}{{ end }}
{{- $name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "gluepot.replicas" -}}
{{- .Values.replicas | default (ternary 3 1 (ne .Values.postgresql.secret "")) }}
{{- end }}

{{- define "gluepot.selector" -}}
app.kubernetes.io/name: gluepot
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: node
{{- end }}

{{- define "gluepot.labels" -}}
app.kubernetes.io/name: gluepot
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "gluepot.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "gluepot.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "gluepot.dataClaim" -}}
{{- .Values.store.existingClaim | default (printf "%s-data" (include "gluepot.name" .)) }}
{{- end }}

{{- define "gluepot.database.env" -}}
{{- if .Values.postgresql.secret -}}
- {name: GLUEPOT_DATABASE_URL_FILE, value: /secrets/database/url} # read again when the secret changes
{{- else -}}
- {name: GLUEPOT_DATABASE_URL, value: "sqlite:///data/gluepot.db"}
{{- end }}
{{- end }}

{{- define "gluepot.database.mount" -}}
{{- if .Values.postgresql.secret -}}
- {name: database, mountPath: /secrets/database, readOnly: true}
{{- else -}}
- {name: data, mountPath: /data}
{{- end }}
{{- end }}

{{- define "gluepot.database.volume" -}}
{{- if .Values.postgresql.secret -}}
- name: database
  secret:
    secretName: {{ .Values.postgresql.secret }}
    defaultMode: 0440
    items: [{key: {{ .Values.postgresql.key | quote }}, path: url}]
{{- else -}}
- name: data
  persistentVolumeClaim: {claimName: {{ include "gluepot.dataClaim" . }}}
{{- end }}
{{- end }}
