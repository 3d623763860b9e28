{{/* The configuration of llm-d's endpoint picker: which metrics it reads, and how it chooses. If KServe runs the picker, KServe configures the scraping. */}}
{{- define "ingle.pickerConfig" -}}
{{- $isPrecise := and .Values.inferencePool.enabled (eq .Values.inferencePool.picker.prefix "precise") -}}
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
  - type: metrics-data-source
  - type: core-metrics-extractor
    parameters:
      defaultEngine: ingle
      engineConfigs:
        - name: ingle
          queuedRequestsSpec: ingle_requests_waiting
          runningRequestsSpec: ingle_requests_running
          kvUsageSpec: ingle_kv_usage_ratio
{{- if .Values.metrics.vllmNames }}
          cacheInfoSpec: vllm:cache_config_info
{{- end }}
  - type: queue-scorer
  - type: kv-cache-utilization-scorer
{{- if $isPrecise }}
  {{- /* Any pod can render a prompt, because all have the same model. */}}
  - type: token-producer
    parameters:
      modelName: {{ include "ingle.modelId" . | quote }}
      vllm:
        url: http://{{ include "ingle.serviceName" . }}.{{ .Release.Namespace }}.svc:{{ .Values.service.port }}
  - type: endpoint-notification-source
  - type: precise-prefix-cache-producer
    parameters:
      tokenProcessorConfig:
        blockSize: 64
  - type: prefix-cache-scorer
    parameters:
      prefixMatchInfoProducerName: precise-prefix-cache-producer
{{- else }}
  - type: prefix-cache-scorer
{{- end }}
  - type: session-affinity-scorer
    parameters:
      strategy: session_id
      sessionIdConfig:
        sources:
          - header: x-session-id
  - type: max-score-picker
{{- if $isPrecise }}
dataLayer:
  sources:
    - pluginRef: metrics-data-source
      extractors:
        - pluginRef: core-metrics-extractor
    - pluginRef: endpoint-notification-source
      extractors:
        - pluginRef: precise-prefix-cache-producer
{{- end }}
schedulingProfiles:
  - name: default
    plugins:
{{- with .Values.inferencePool.picker.weights }}
      - pluginRef: queue-scorer
        weight: {{ .queue }}
      - pluginRef: kv-cache-utilization-scorer
        weight: {{ .kvUsage }}
      - pluginRef: prefix-cache-scorer
        weight: {{ .prefix }}
      - pluginRef: session-affinity-scorer
        weight: {{ .session }}
{{- end }}
      - pluginRef: max-score-picker
{{- end }}
