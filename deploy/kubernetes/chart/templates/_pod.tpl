{{/* The parts of a pod that all workloads share. */}}

{{/* A JSON list: the arguments of the server. They have the form `--flag=value`, so that no flag takes the next argument as its value. */}}
{{- define "ingle.serverArgs" -}}
{{- $args := list "serve" "--variant=serverless" (printf "--host=%s" .Values.server.host) (printf "--port=%v" .Values.server.port) }}
{{- $args = append $args (printf "--model=%s" (.Values.model.file | default .Values.model.name)) }}
{{- $args = append $args "--offline" }}
{{- $args = append $args (printf "--parallel=%v" .Values.server.parallel) }}
{{- $args = append $args (printf "--waiting-max=%v" .Values.server.waitingMax) }}
{{- with include "ingle.threads" (dict "threads" .Values.server.threads "resources" .Values.resources) }}{{ $args = append $args (printf "--threads=%s" .) }}{{ end }}
{{- if gt (int .Values.server.contextTokens) 0 }}{{ $args = append $args (printf "--ctx=%v" .Values.server.contextTokens) }}{{ end }}
{{- if ne (int .Values.server.kvBits) 16 }}{{ $args = append $args (printf "--kv-bits=%v" .Values.server.kvBits) }}{{ end }}
{{- $args = append $args (printf "--rate-limit=%v" .Values.server.rateLimit) }}
{{- $args = append $args (printf "--drain-timeout=%vs" .Values.drain.timeoutSeconds) }}
{{- if .Values.auth.enabled }}
{{- $args = append $args (printf "--api-key-file=%s/%s" (include "ingle.keysFolder" .) .Values.auth.apiKeysEntry) }}
{{- if .Values.auth.adminKeysEntry }}{{ $args = append $args (printf "--admin-key-file=%s/%s" (include "ingle.keysFolder" .) .Values.auth.adminKeysEntry) }}{{ end }}
{{- if .Values.auth.sharePrefixes }}{{ $args = append $args "--share-prefixes" }}{{ end }}
{{- if .Values.metrics.public }}{{ $args = append $args "--metrics-public" }}{{ end }}
{{- else }}
{{- $args = append $args "--no-auth" }}
{{- end }}
{{- if .Values.metrics.vllmNames }}{{ $args = append $args "--metrics-compat=vllm" }}{{ end }}
{{- if .Values.kvEvents.enabled }}{{ $args = append $args (printf "--kv-events=tcp://*:%s" (include "ingle.kvEventsPort" .)) }}{{ end }}
{{- range include "ingle.hostNames" . | fromJsonArray }}{{ $args = append $args (printf "--allow-host=%s" .) }}{{ end }}
{{- range .Values.server.trustProxies }}{{ $args = append $args (printf "--trust-proxy=%s" .) }}{{ end }}
{{- if not .Values.server.ui }}{{ $args = append $args "--no-ui" }}{{ end }}
{{- /* KServe mounts its certificates here. */}}
{{- if eq (include "ingle.scheme" .) "HTTPS" }}{{ $args = concat $args (list "--tls-cert=/var/run/kserve/tls/tls.crt" "--tls-key=/var/run/kserve/tls/tls.key") }}{{ end }}
{{- if eq .Values.workload "leaderworkerset" }}{{ $args = concat $args (list (printf "--rpc=%s" (include "ingle.workerAddresses" .)) (printf "--rpc-key-file=%s/worker.key" (include "ingle.pairFolder" .))) }}{{ end }}
{{- concat $args .Values.server.extraArgs | toJson }}
{{- end }}

{{/* One thread for each requested CPU: with one per core of the node, threads would wait for each other. Empty leaves the choice to the server. */}}
{{- define "ingle.threads" -}}
{{- $cpu := (.resources.requests | default dict).cpu | default "" | toString }}
{{- if gt (int .threads) 0 }}{{ .threads }}
{{- else if hasSuffix "m" $cpu }}{{ divf (trimSuffix "m" $cpu) 1000 | ceil }}
{{- else if $cpu }}{{ ceil $cpu }}
{{- end }}
{{- end }}

{{- define "ingle.keysFolder" -}}/var/run/secrets/ingle{{- end }}
{{- define "ingle.pairFolder" -}}/var/run/secrets/ingle-pair{{- end }}
{{/* The port that the picker connects to. */}}
{{- define "ingle.kvEventsPort" -}}5557{{- end }}
{{- define "ingle.home" -}}/models{{- end }}

{{- define "ingle.scheme" -}}
{{- if and (eq .Values.workload "llminferenceservice") .Values.kserve.tls }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{- define "ingle.probe" -}}
httpGet:
  path: {{ .path }}
  port: {{ .root.Values.server.port }}
  scheme: {{ include "ingle.scheme" .root }}
periodSeconds: {{ .root.Values.probes.periodSeconds }}
timeoutSeconds: 5
failureThreshold: {{ .failures }}
{{- end }}

{{/* The container that serves requests. Takes root, the container's name, and whether the platform drains pods itself. */}}
{{- define "ingle.container" -}}
{{- $root := .root }}
{{- with $root.Values }}
name: {{ $.name }}
image: {{ include "ingle.image" $root }}
imagePullPolicy: {{ .image.pullPolicy }}
command: [ingle]
args: {{- include "ingle.serverArgs" $root | fromJsonArray | toYaml | nindent 2 }}
ports:
  - name: {{ include "ingle.portName" $root }}
    containerPort: {{ .server.port }}
    protocol: TCP
{{- if .kvEvents.enabled }}
  - name: kv-events
    containerPort: {{ include "ingle.kvEventsPort" $root }}
    protocol: TCP
{{- end }}
env: {{- include "ingle.env" $root | nindent 2 }}
{{- /* Loading takes minutes. Liveness and readiness are probed only after this probe has succeeded. */}}
startupProbe: {{- include "ingle.probe" (dict "root" $root "path" "/readyz" "failures" (max 1 (div .probes.startupSeconds .probes.periodSeconds))) | nindent 2 }}
readinessProbe: {{- include "ingle.probe" (dict "root" $root "path" "/readyz" "failures" 3) | nindent 2 }}
livenessProbe: {{- include "ingle.probe" (dict "root" $root "path" "/livez" "failures" 6) | nindent 2 }}
{{- if not $.platformDrains }}
lifecycle:
  preStop:
    exec:
      command: [sleep, {{ .drain.preStopSeconds | quote }}]
{{- end }}
resources: {{- include "ingle.resources" (dict "root" $root "resources" .resources) | nindent 2 }}
securityContext: {{- include "ingle.containerSecurity" $root | nindent 2 }}
volumeMounts:
{{- include "ingle.cacheMounts" $root | nindent 2 }}
{{- if .auth.enabled }}
  - name: keys
    mountPath: {{ include "ingle.keysFolder" $root }}
    readOnly: true
{{- end }}
{{- if eq .workload "leaderworkerset" }}
  - name: pair
    mountPath: {{ include "ingle.pairFolder" $root }}
    readOnly: true
{{- end }}
{{- end }}
{{- end }}

{{- define "ingle.resources" -}}
{{- $resources := deepCopy .resources }}
{{- with .root.Values.gpu }}
{{- if .enabled }}
{{- $limits := merge (dict .resource .count) ($resources.limits | default dict) }}
{{- $_ := set $resources "limits" $limits }}
{{- end }}
{{- end }}
{{- toYaml $resources }}
{{- end }}

{{- define "ingle.env" -}}
- name: INGLE_HOME
  value: {{ include "ingle.home" . }}
{{- if eq .Values.workload "leaderworkerset" }}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end }}
{{- /* The address by which the picker assigns events to this pod. */}}
{{- if .Values.kvEvents.enabled }}
- name: POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
{{- end }}
{{- with .Values.server.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "ingle.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* run/ has one file for each running server, named by its process id, so replicas that share a cache must not share this folder. */}}
{{- define "ingle.cacheMounts" -}}
- name: models
  mountPath: {{ include "ingle.home" . }}
- name: scratch
  mountPath: {{ include "ingle.home" . }}/run
  subPath: run
- name: scratch
  mountPath: /tmp
  subPath: tmp
{{- end }}

{{/* Downloads the model into the cache, unless it is already there. */}}
{{- define "ingle.initContainers" -}}
{{- if not .Values.model.file }}
- name: pull
  image: {{ include "ingle.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [ingle]
  args: [pull, {{ .Values.model.name | quote }}]
  env: {{- include "ingle.env" . | nindent 4 }}
{{- with .Values.model.hubToken }}
{{- if .secretName }}
    - name: HF_TOKEN
      valueFrom:
        secretKeyRef:
          name: {{ .secretName }}
          key: {{ .key }}
{{- end }}
{{- end }}
  resources: {{- toYaml .Values.resources | nindent 4 }}
  securityContext: {{- include "ingle.containerSecurity" . | nindent 4 }}
  volumeMounts: {{- include "ingle.cacheMounts" . | nindent 4 }}
{{- end }}
{{- end }}

{{- define "ingle.volumes" -}}
- name: models
{{- if or .Values.cache.existingClaim (eq .Values.cache.kind "shared") }}
  persistentVolumeClaim:
    claimName: {{ include "ingle.claim" . }}
{{- else if eq .Values.cache.kind "per-pod" }}
  ephemeral:
    volumeClaimTemplate:
      spec: {{- include "ingle.claimSpec" . | nindent 8 }}
{{- else }}
  emptyDir:
    sizeLimit: {{ .Values.cache.size }}
{{- end }}
- name: scratch
  emptyDir: {}
{{- if .Values.auth.enabled }}
- name: keys
  secret:
    secretName: {{ include "ingle.keysSecret" . }}
    defaultMode: 288 # 0440
{{- end }}
{{- if eq .Values.workload "leaderworkerset" }}
- name: pair
  secret:
    secretName: {{ include "ingle.pairSecret" . }}
    defaultMode: 288 # 0440
{{- end }}
{{- end }}

{{- define "ingle.claimSpec" -}}
accessModes: [{{ .Values.cache.accessMode }}]
{{- with .Values.cache.storageClass }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .Values.cache.size }}
{{- end }}

{{/* The other fields of a pod, besides containers and volumes. Takes root, and the pod's labels if affinity refers to them. */}}
{{- define "ingle.podFields" -}}
{{- /* Otherwise a Service named ingle would set INGLE_PORT to an address. */ -}}
enableServiceLinks: false
automountServiceAccountToken: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* Longer than draining can take, so that the kubelet cuts off no response. */}}
{{- define "ingle.gracePeriod" -}}
{{ add .Values.drain.preStopSeconds .Values.drain.timeoutSeconds 15 }}
{{- end }}

{{/* The template of a pod that serves requests, for Kubernetes' own workloads. */}}
{{- define "ingle.podSpec" -}}
terminationGracePeriodSeconds: {{ include "ingle.gracePeriod" . }}
{{ include "ingle.podFields" . }}
{{- with include "ingle.initContainers" . }}
initContainers: {{- . | nindent 2 }}
{{- end }}
containers:
  - {{- include "ingle.container" (dict "root" . "name" "ingle") | nindent 4 }}
volumes: {{- include "ingle.volumes" . | nindent 2 }}
{{- end }}

{{- define "ingle.podMetadata" -}}
labels: {{- include "ingle.podLabels" . | nindent 2 }}
{{- with .Values.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
