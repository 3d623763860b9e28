{{/* What llm-d's endpoint picker reads, and how it chooses. Where KServe runs the picker, KServe says how to scrape. */}}
{{- define "ingle.pickerConfig" -}}
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
  - type: prefix-cache-scorer
  - type: session-affinity-scorer
    parameters:
      strategy: session_id
      sessionIdConfig:
        sources:
          - header: x-session-id
  - type: max-score-picker
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
