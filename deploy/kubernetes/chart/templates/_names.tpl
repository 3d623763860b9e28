{{/* Names, labels and host names of a release. */}}

{{- define "ingle.name" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- if contains $name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "ingle.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "ingle.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "ingle.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Pods that serve requests. Those of an LLMInferenceService have KServe's labels, by which KServe's own pool finds them. */}}
{{- define "ingle.serverSelector" -}}
{{- if eq .Values.workload "llminferenceservice" -}}
app.kubernetes.io/name: {{ include "ingle.name" . }}
kserve.io/component: workload
{{- else -}}
{{ include "ingle.selector" . }}
app.kubernetes.io/component: server
{{- end }}
{{- end }}

{{- define "ingle.podLabels" -}}
{{- if ne .Values.workload "llminferenceservice" }}{{ include "ingle.serverSelector" . }}{{ end }}
llm-d.ai/engine-type: ingle
{{- with .Values.podLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "ingle.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The model's id in requests, if the values give all of it. */}}
{{- define "ingle.modelId" -}}
{{- if .Values.model.file }}{{ base .Values.model.file | trimSuffix ".gguf" }}
{{- else }}{{ .Values.model.name }}
{{- end }}
{{- end }}

{{- define "ingle.keysSecret" -}}
{{ .Values.auth.secretName | default (printf "%s-keys" (include "ingle.name" .)) }}
{{- end }}

{{/* The workers of a leaderworkerset. */}}
{{- define "ingle.workerSelector" -}}
{{ include "ingle.selector" . }}
app.kubernetes.io/component: worker
{{- end }}

{{/* Differs from the release's name, because the LeaderWorkerSet creates a headless Service of its own name. */}}
{{- define "ingle.hostsName" -}}
{{ include "ingle.name" . }}-hosts
{{- end }}

{{- define "ingle.pairSecret" -}}
{{ .Values.hosts.pairSecretName | default (printf "%s-pair" (include "ingle.name" .)) }}
{{- end }}

{{- define "ingle.claim" -}}
{{ .Values.cache.existingClaim | default (printf "%s-models" (include "ingle.name" .)) }}
{{- end }}

{{- define "ingle.picker" -}}
{{- if .Values.inferencePool.picker.enabled }}{{ include "ingle.name" . }}-picker
{{- else }}{{ required "inferencePool.picker.pickerName: name the Service of your picker, or set inferencePool.picker.enabled" .Values.inferencePool.picker.pickerName }}
{{- end }}
{{- end }}

{{/* The Service that clients in the cluster use; its name depends on the workload. */}}
{{- define "ingle.serviceName" -}}
{{- if eq .Values.workload "inferenceservice" }}{{ include "ingle.name" . }}-predictor
{{- else if eq .Values.workload "llminferenceservice" }}{{ include "ingle.name" . }}-kserve-workload-svc
{{- else }}{{ include "ingle.name" . }}
{{- end }}
{{- end }}

{{/* A JSON list. Besides these, the server accepts only loopback and its own address as Host. */}}
{{- define "ingle.hostNames" -}}
{{- $service := include "ingle.serviceName" . }}
{{- $inNamespace := printf "%s.%s" $service .Release.Namespace }}
{{- $names := list $service $inNamespace (printf "%s.svc" $inNamespace) (printf "%s.svc.cluster.local" $inNamespace) }}
{{- $names = concat $names .Values.server.allowHosts }}
{{- if and .Values.ingress.enabled .Values.ingress.host }}{{ $names = append $names .Values.ingress.host }}{{ end }}
{{- if .Values.httpRoute.enabled }}{{ $names = concat $names .Values.httpRoute.hostnames }}{{ end }}
{{- $names | uniq | toJson }}
{{- end }}

{{/* A pattern for queries that matches the pods of this release, but not those of a release with a longer name. */}}
{{- define "ingle.podPattern" -}}
{{- $name := include "ingle.name" . }}
{{- if eq .Values.workload "leaderworkerset" }}{{ include "ingle.hostsName" . }}-[0-9]+
{{- else if eq .Values.workload "inferenceservice" }}{{ $name }}-predictor-[a-z0-9]+-[a-z0-9]+
{{- else }}{{ $name }}-[a-z0-9]+-[a-z0-9]+
{{- end }}
{{- end }}

{{- /* The name of the server's port. Knative reads the protocol from it. */}}
{{- define "ingle.portName" -}}
{{ ternary "http1" "http" (has .Values.workload (list "knative" "inferenceservice")) }}
{{- end }}
